// A nil is written, not left out, so that all values of a type have the same fields and share a
// shape.
extension KeyedFieldEncoding {
    func encode(_ value: Bool, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(value) }
    }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: String, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(value) }
    }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(value) }
    }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(value) }
    }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: Int, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(Int64(value)) }
    }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: Int8, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(Int64(value)) }
    }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: Int16, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(Int64(value)) }
    }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: Int32, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(Int64(value)) }
    }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: Int64, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(Int64(value)) }
    }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: UInt, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(UInt64(value)) }
    }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: UInt8, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(UInt64(value)) }
    }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: UInt16, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(UInt64(value)) }
    }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: UInt32, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(UInt64(value)) }
    }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: UInt64, forKey key: Key) throws {
        try frame.field(key.stringValue) { $0.encode(UInt64(value)) }
    }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: Int128, forKey key: Key) throws {
        try frame.field(key.stringValue) { value.encodeValue(into: $0) }
    }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: UInt128, forKey key: Key) throws {
        try frame.field(key.stringValue) { value.encodeValue(into: $0) }
    }
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }
}
