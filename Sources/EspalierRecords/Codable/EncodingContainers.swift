// The containers that a value's `encode(to:)` receives. They hold a frame and nothing else, and a
// container kept beyond the value throws.

/// The keyed container of a value: its fields.
///
/// It writes nil instead of leaving the field out, so that all values of a type have the same
/// fields and share a shape.
struct KeyedFieldEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let frame: EncodingFrame

    var codingPath: [any CodingKey] { frame.codingPath }

    func encodeNil(forKey key: Key) throws { try frame.field(key.stringValue) { $0.encodeNull() } }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let name = key.stringValue
        try frame.field(name) { _ in try frame.encode(value, at: BridgeKey(name)) }
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { return try encode(value, forKey: key) }
        guard Value.self == AbsentField.self else { return try encodeNil(forKey: key) }
        try frame.field(key.stringValue) { $0.encodeAbsent() }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(
            KeyedFieldEncoding<NestedKey>(
                frame: frame.nestedOrRefusing(field: key.stringValue, form: .fields)))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        ElementEncoding(frame: frame.nestedOrRefusing(field: key.stringValue, form: .elements))
    }

    func superEncoder() -> any Encoder {
        frame.nestedOrRefusing(field: BridgeKey.superKey, form: .undecided)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        frame.nestedOrRefusing(field: key.stringValue, form: .undecided)
    }

    // MARK: Scalars

    @inline(__always)
    private func write<Value: FieldValue>(_ value: Value, _ key: Key) throws {
        try frame.field(key.stringValue) { try value.encodeValue(into: $0) }
    }

    @inline(__always)
    private func write<Value: FieldValue>(_ value: Value?, _ key: Key) throws {
        if let value { try write(value, key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: Bool, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: String, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Double, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Float, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Int, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Int8, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Int16, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Int32, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Int64, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Int128, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt128, forKey key: Key) throws { try write(value, key) }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try write(value, key) }
}

/// The unkeyed container of a value: its elements.
struct ElementEncoding: UnkeyedEncodingContainer {
    let frame: EncodingFrame

    var codingPath: [any CodingKey] { frame.codingPath }
    var count: Int { frame.count }

    func encodeNil() throws { try frame.element { $0.encodeNull() } }

    func encode<Value: Encodable>(_ value: Value) throws {
        let key = BridgeKey(index: frame.count)
        try frame.element { _ in try frame.encode(value, at: key) }
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type)
        -> KeyedEncodingContainer<NestedKey>
    {
        KeyedEncodingContainer(
            KeyedFieldEncoding<NestedKey>(frame: frame.nestedElementOrRefusing(form: .fields)))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        ElementEncoding(frame: frame.nestedElementOrRefusing(form: .elements))
    }

    func superEncoder() -> any Encoder { frame.nestedElementOrRefusing(form: .undecided) }

    func encode(_ value: Bool) throws { try frame.element { $0.encode(value) } }
    func encode(_ value: String) throws { try frame.element { $0.encode(value) } }
    func encode(_ value: Double) throws { try frame.element { $0.encode(value) } }
    func encode(_ value: Float) throws { try frame.element { $0.encode(value) } }
    func encode(_ value: Int) throws { try frame.element { $0.encode(Int64(value)) } }
    func encode(_ value: Int8) throws { try frame.element { $0.encode(Int64(value)) } }
    func encode(_ value: Int16) throws { try frame.element { $0.encode(Int64(value)) } }
    func encode(_ value: Int32) throws { try frame.element { $0.encode(Int64(value)) } }
    func encode(_ value: Int64) throws { try frame.element { $0.encode(Int64(value)) } }
    func encode(_ value: UInt) throws { try frame.element { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt8) throws { try frame.element { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt16) throws { try frame.element { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt32) throws { try frame.element { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt64) throws { try frame.element { $0.encode(UInt64(value)) } }
    func encode(_ value: Int128) throws { try frame.element { value.encodeValue(into: $0) } }
    func encode(_ value: UInt128) throws { try frame.element { value.encodeValue(into: $0) } }
}
