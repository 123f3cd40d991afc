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
