extension RecordDecoder {
    /// Decodes a model by its own `Decodable` conformance, from the fields that `RecordEncoder.encodeFields` wrote.
    ///
    /// Decoders and containers that `init(from:)` keeps throw once it has returned.
    public mutating func decodeFields<Model: Decodable>(as type: Model.Type) throws -> Model {
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
        let strategy = values.assembly.bridge.strategy(for: type)
        guard try seek(key) else {
            if let value = strategy.valueWhenMissing { return value }
            throw AssemblyFailure(.missing).inside(field: key)
        }
        let place = place
        do {
            let value = try strategy.decode(from: &values)
            self.place = place.passed(to: values.reader.position)
            return value
        } catch {
            try restore(place.position)
            throw AssemblyFailure(error).inside(field: key)
        }
    }
}
