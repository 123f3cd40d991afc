extension RecordDecoder {
    /// Decodes a model by its own `Decodable` conformance, from the fields that
    /// `RecordEncoder.encodeFields` wrote.
    ///
    /// Decoders and containers that `init(from:)` keeps throw once it has returned.
    public mutating func decodeFields<Model: Decodable>(as type: Model.Type) throws -> Model {
        // Which fields it asks for is its own affair.
        order = .byName
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

    /// Decodes one field of a type that is `Decodable` but no `FieldValue`.
    @_disfavoredOverload
    public mutating func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, forKey key: String
    ) throws -> Value {
        try decodeBridged(type, forKey: key, in: nil)
    }

    /// Decodes one field by the strategy of its type, inside of the value that `frame` decodes.
    mutating func decodeBridged<Value>(
        _ type: Value.Type, forKey key: String, in frame: DecodingFrame?
    ) throws -> Value {
        let strategy = values.treeReader.bridge.strategy(for: type)
        return try decodeBridged(strategy, forKey: key, in: frame) { decoder in
            try decoder.missing(key, strategy)
        }
    }

    /// The same; `value` where the record lacks the field.
    mutating func decodeBridged<Value>(
        _ type: Value.Type, forKey key: String, whenMissing value: () throws -> Value
    ) throws -> Value {
        let strategy = values.treeReader.bridge.strategy(for: type)
        return try decodeBridged(strategy, forKey: key, in: nil) { _ in try value() }
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
            throw placed(error, key)
        }
    }

    /// The same; nil where the record lacks the field, or has nil there or a reference that is left
    /// out.
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

    // Out of line: the metadata of an optional of a generic type costs a look-up wherever it is
    // mentioned.
    @inline(never)
    private mutating func missing<Value>(_ key: String, _ strategy: DecodingStrategy<Value>) throws
        -> Value
    {
        guard let value = strategy.valueWhenMissing else { throw missing(key) }
        return value
    }

    // An error that is the model's own goes to whoever reads the field as it is.
    private func placed(_ error: any Error, _ key: String) -> any Error {
        switch error {
        case let error as DecodingError: error.with(failure: ReadFailure(error).inside(field: key))
        case is ReadFailure, is FormatError: values.treeReader.failure(of: error).inside(field: key)
        default: error
        }
    }
}
