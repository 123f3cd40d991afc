extension RecordDecoder {
    /// Decodes one field; `value` if the record lacks it or has it as *absent*. A field that is nil
    /// is there.
    ///
    /// ```swift
    /// likes = try decoder.decode(forKey: "likes", default: 0)      // records of earlier versions have none
    /// ```
    @inlinable
    public mutating func decode<Value: FieldValue>(
        _ type: Value.Type = Value.self, forKey key: String,
        default value: @autoclosure () throws -> Value
    ) throws -> Value {
        guard let start = try start(key) else { return try value() }
        do {
            return try Value.decodeValue(from: &values)
        } catch {
            throw try failed(error, key, start)
        }
    }

    /// The same for a type that is `Decodable` but no `FieldValue`.
    @_disfavoredOverload
    public mutating func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, forKey key: String,
        default value: @autoclosure () throws -> Value
    ) throws -> Value {
        try decodeBridged(type, forKey: key, whenMissing: value)
    }
}
