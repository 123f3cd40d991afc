/// The keyed container of a value: its fields.
struct KeyedFieldEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let frame: EncodingFrame

    var codingPath: [any CodingKey] { frame.codingPath }

    func encodeNil(forKey key: Key) throws { try frame.field(key.stringValue) { $0.encodeNull() } }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let name = key.stringValue
        try frame.field(name) { _ in try frame.encode(value, at: BridgeKey(name)) }
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
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
}
