/// The keyed container of a value: its fields.
struct KeyedFieldDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let frame: DecodingFrame

    var codingPath: [any CodingKey] { frame.codingPath }
    var allKeys: [Key] { frame.fieldNames().compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool {
        (try? frame.look(at: key.stringValue) { _ in true }) == true
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        // A field that is not there is as good as nil.
        try frame.look(at: key.stringValue) { try $0.decodeNull() } ?? true
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try frame.field(type, key.stringValue)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try frame.fieldIfPresent(type, key.stringValue)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try frame.nested(field: key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try frame.nested(field: key.stringValue).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try frame.nested(field: BridgeKey.superKey) }
    func superDecoder(forKey key: Key) throws -> any Decoder {
        try frame.nested(field: key.stringValue)
    }
}
