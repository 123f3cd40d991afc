// The containers' bytes are those of their `FieldValue` conformances, so that both kinds of models
// read each other's.

final class OptionalEncoding<Wrapped>: EncodingStrategy<Wrapped?> {
    private let wrapped = EncodingStrategy<Wrapped>.of()
    override var needsPath: Bool { wrapped.needsPath }

    override func encode(_ value: Wrapped?, into encoder: ValueEncoder) throws {
        guard let value else { return encoder.encodeNull() }
        try wrapped.encode(value, into: encoder)
    }
}

final class ListEncoding<List: Collection>: EncodingStrategy<List> {
    private let element = EncodingStrategy<List.Element>.of()
    override var needsPath: Bool { element.needsPath }

    override func encode(_ value: List, into encoder: ValueEncoder) throws {
        try encoder.encodeArray(count: value.count) {
            for item in value { try element.encode(item, into: encoder) }
        }
    }
}

final class SetEncoding<Element: Hashable>: EncodingStrategy<Set<Element>> {
    private let element = EncodingStrategy<Element>.of()
    override var needsPath: Bool { element.needsPath }

    override func encode(_ value: Set<Element>, into encoder: ValueEncoder) throws {
        try encoder.encodeSorted(value) { try element.encode($1, into: $0) }
    }
}

final class DictionaryEncoding<Key: Hashable, Value>: EncodingStrategy<[Key: Value]> {
    private let key = EncodingStrategy<Key>.of()
    private let value = EncodingStrategy<Value>.of()
    override var needsPath: Bool { key.needsPath || value.needsPath }

    override func encode(_ entries: [Key: Value], into encoder: ValueEncoder) throws {
        try encoder.encodeSorted(
            entries, key: { try key.encode($1, into: $0) },
            value: { try value.encode($1, into: $0) })
    }
}
