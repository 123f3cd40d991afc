extension RecordEncoder {
    /// Encodes the fields of `model` by its own `Encodable` conformance.
    ///
    /// Its keyed container writes the fields. A model that encodes itself as a whole, in a
    /// single-value or an unkeyed container, gets one field named `$value`.
    public mutating func encodeFields<Model: Encodable>(of model: Model) throws {
        let frame = EncodingFrame(fields: self)
        defer { frame.close() }
        try model.encode(to: frame)
        self = try frame.finishFields()
    }

    /// Encodes one field of a type that is `Encodable` but no `FieldValue`.
    @_disfavoredOverload
    public mutating func encode<Value: Encodable>(_ value: Value, forKey key: String) throws {
        let strategy = values.flattener.bridge.strategy(for: Value.self)
        startField(key)
        try strategy.encode(value, into: values)
    }
}
