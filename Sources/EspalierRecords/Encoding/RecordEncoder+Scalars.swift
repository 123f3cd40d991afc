// The commonest fields in one call, where the general one looks up how a type is stored.
extension RecordEncoder {
    /// Encodes one field of text.
    public mutating func encode(_ value: String, forKey key: String) throws {
        startField(key)
        values.writer.append(value: value)
    }

    /// Encodes one field of text that may be nil.
    public mutating func encode(_ value: String?, forKey key: String) throws {
        startField(key)
        if let value { values.writer.append(value: value) } else { values.writer.append(null: ()) }
    }

    /// Encodes one integer field.
    public mutating func encode(_ value: Int, forKey key: String) throws {
        startField(key)
        values.writer.append(value: Int64(value))
    }

    /// Encodes one floating-point field.
    public mutating func encode(_ value: Double, forKey key: String) throws {
        startField(key)
        values.writer.append(value: value)
    }

    /// Encodes one field that is true or false.
    public mutating func encode(_ value: Bool, forKey key: String) throws {
        startField(key)
        values.writer.append(value: value)
    }
}
