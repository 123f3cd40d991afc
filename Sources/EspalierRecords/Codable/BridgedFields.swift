// Fields of any `Codable` type, and models by their own `Codable` conformance.

extension RecordEncoder {
    /// Encodes the fields of `model` by its own `Encodable` conformance.
    ///
    /// The fields are those that the model writes to its keyed container. A model that encodes
    /// itself as a whole, in a single-value or an unkeyed container, gets one field named `$value`.
    ///
    /// - Parameter model: The model, whose `encode(to:)` is called. Encoders and containers that it
    ///   keeps throw once it has returned.
    /// - Throws: What the model throws; an `EncodingError` where it uses containers against the
    ///   rules of `Encodable`.
    public mutating func encodeFields<Model: Encodable>(of model: Model) throws {
        let frame = EncodingFrame(fields: self)
        defer { frame.close() }
        try model.encode(to: frame)
        self = try frame.finishFields()
        // The fields of an enum are those of its case.
        isCase = values.flattener.bridge.isEnum(model)
    }

    /// Encodes one field of a type that is `Encodable` but no ``FieldValue``.
    ///
    /// - Parameters:
    ///   - value: The value of the field.
    ///   - key: The name of the field.
    /// - Throws: What the value throws; ``FlattenError`` where a model below exceeds a limit.
    @_disfavoredOverload
    public mutating func encode<Value: Encodable>(_ value: Value, forKey key: String) throws {
        let strategy = values.flattener.bridge.strategy(for: Value.self)
        startField(key)
        do {
            try strategy.encode(value, into: values)
        } catch {
            values.noteUnfinishedField(error, of: Value.self)
            throw error
        }
    }
}

extension RecordDecoder {
    /// Decodes a model by its own `Decodable` conformance, from the fields that
    /// ``RecordEncoder/encodeFields(of:)`` wrote.
    ///
    /// - Parameter type: The model's type. Decoders and containers that its `init(from:)` keeps
    ///   throw once it has returned.
    /// - Throws: What the model throws, which makes the read a miss.
    public mutating func decodeFields<Model: Decodable>(as type: Model.Type) throws -> Model {
        // The model may ask for any field in any order.
        findByName()
        let frame = DecodingFrame(fields: self)
        do {
            let model = try Model(from: frame)
            self = frame.finish()
            return model
        } catch {
            let located = frame.located(error)
            self = frame.finish()
            throw located
        }
    }

    /// Decodes one field of a type that is `Decodable` but no ``FieldValue``.
    ///
    /// - Parameters:
    ///   - type: The type of the field.
    ///   - key: The name of the field.
    /// - Throws: What the value throws, and a failure if the record lacks the field, which make the
    ///   read a miss.
    @_disfavoredOverload
    public mutating func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, forKey key: String
    ) throws -> Value {
        try decodeBridged(type, forKey: key, in: nil)
    }

    /// Decodes one field of a type that is `Decodable` but no ``FieldValue``, or gives `value` if
    /// the record lacks the field or has it as *absent*.
    ///
    /// - Parameters:
    ///   - type: The type of the field.
    ///   - key: The name of the field.
    ///   - value: Gives the value of a missing field.
    /// - Throws: What the value throws, which makes the read a miss, and what `value` throws.
    @_disfavoredOverload
    public mutating func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, forKey key: String,
        default value: @autoclosure () throws -> Value
    ) throws -> Value {
        let strategy = values.treeReader.bridge.strategy(for: type)
        return try decodeBridged(strategy, forKey: key, in: nil) { _ in try value() }
    }

    /// Decodes one field by the strategy of its type, inside the value that `frame` decodes.
    mutating func decodeBridged<Value>(
        _ type: Value.Type, forKey key: String, in frame: DecodingFrame?
    ) throws -> Value {
        let strategy = values.treeReader.bridge.strategy(for: type)
        return try decodeBridged(strategy, forKey: key, in: frame) { decoder in
            try decoder.missing(key, strategy)
        }
    }

    @inline(__always)
    private mutating func decodeBridged<Value>(
        _ strategy: DecodingStrategy<Value>, forKey key: String, in frame: DecodingFrame?,
        whenMissing value: (inout RecordDecoder) throws -> Value
    ) throws -> Value {
        let before = place
        guard try seek(key) else { return try value(&self) }
        do {
            return try present(strategy, key, frame)
        } catch {
            goBack(to: before)
            guard try isNull(key) else {
                goBack(to: before)
                throw placed(error, key)
            }
            let null = place
            guard values.treeReader.missingFieldRule != .stop else {
                goBack(to: before)
                throw values.treeReader.lackingValue(placed(error, key))
            }
            let stand = try missingValue(key, Value.self)
            place = null.passed(to: null.position + 1)
            return stand
        }
    }

    /// Moves to the field `key` and returns whether it is nil.
    @inline(never)
    private mutating func isNull(_ key: String) throws -> Bool {
        guard try seek(key) else { return false }
        return try values.reader.peek() == Wire.null
    }

    /// Decodes one field by the strategy of its type. Returns nil where the record lacks the field,
    /// has nil there, or has a reference that is left out.
    mutating func decodeBridgedIfPresent<Value>(
        _ type: Value.Type, forKey key: String, in frame: DecodingFrame?
    ) throws -> Value? {
        let before = place
        guard try seek(key) else { return nil }
        let start = place
        if try values.decodeNull() {
            place = start.passed(to: values.reader.position)
            return nil
        }
        do {
            return try present(values.treeReader.bridge.strategy(for: type), key, frame)
        } catch let failure as ReadFailure where failure.leavesOut {
            place = start
            try values.skipValue()
            place = start.passed(to: values.reader.position)
            return nil
        } catch {
            goBack(to: before)
            throw placed(error, key)
        }
    }

    @inline(__always)
    private mutating func present<Value>(
        _ strategy: DecodingStrategy<Value>, _ key: String, _ frame: DecodingFrame?
    ) throws -> Value {
        let start = place
        let value =
            if let frame {
                try frame.decode(strategy, from: &values, at: BridgeKey(key))
            } else {
                try strategy.decode(from: &values)
            }
        place = start.passed(to: values.reader.position)
        return value
    }

    // Out of line: the metadata of an optional of a generic type costs a look-up at each mention.
    @inline(never)
    private mutating func missing<Value>(_ key: String, _ strategy: DecodingStrategy<Value>) throws
        -> Value
    {
        guard let value = strategy.valueWhenMissing else {
            return try missingValue(key, Value.self)
        }
        return value
    }

    // An error of the model's own goes up as it is.
    private func placed(_ error: any Error, _ key: String) -> any Error {
        switch error {
        case let error as DecodingError: error.with(failure: ReadFailure(error).inside(field: key))
        case is ReadFailure, is FormatError: values.treeReader.failure(of: error).inside(field: key)
        default: error
        }
    }
}
