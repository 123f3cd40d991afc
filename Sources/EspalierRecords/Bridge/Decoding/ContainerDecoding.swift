// The containers by the same functions as their `FieldValue` conformances: elements and entries
// whose records are deleted are left out.

final class OptionalDecoding<Wrapped>: DecodingStrategy<Wrapped?> {
    private let wrapped = DecodingStrategy<Wrapped>.of()
    override var needsPath: Bool { wrapped.needsPath }
    override var valueWhenMissing: Wrapped?? { .some(nil) }

    override func decode(from decoder: inout ValueDecoder) throws -> Wrapped? {
        try decoder.decodeOptional { try wrapped.decode(from: &$0) }
    }
}

/// Apart from other lists, because their element types cost a look-up of a witness each time they
/// are mentioned.
final class ArrayDecoding<Element>: DecodingStrategy<[Element]> {
    private let element = DecodingStrategy<Element>.of()
    override var needsPath: Bool { element.needsPath }

    override func decode(from decoder: inout ValueDecoder) throws -> [Element] {
        var result: [Element] = []
        result.reserveCapacity(decoder.expectedCount())
        try decoder.decodeElements { result.append(try element.decode(from: &$0)) }
        return result
    }
}

final class ListDecoding<List: RangeReplaceableCollection>: DecodingStrategy<List> {
    private let element = DecodingStrategy<List.Element>.of()
    override var needsPath: Bool { element.needsPath }

    override func decode(from decoder: inout ValueDecoder) throws -> List {
        var result = List()
        try decoder.decodeElements { result.append(try element.decode(from: &$0)) }
        return result
    }
}

final class SetDecoding<Element: Hashable>: DecodingStrategy<Set<Element>> {
    private let element = DecodingStrategy<Element>.of()
    override var needsPath: Bool { element.needsPath }

    override func decode(from decoder: inout ValueDecoder) throws -> Set<Element> {
        var result: Set<Element> = []
        try decoder.decodeElements { result.insert(try element.decode(from: &$0)) }
        return result
    }
}

final class DictionaryDecoding<Key: Hashable, Value>: DecodingStrategy<[Key: Value]> {
    private let key = DecodingStrategy<Key>.of()
    private let value = DecodingStrategy<Value>.of()
    override var needsPath: Bool { key.needsPath || value.needsPath }

    override func decode(from decoder: inout ValueDecoder) throws -> [Key: Value] {
        var result: [Key: Value] = [:]
        try decoder.decodeEntries(
            key: { try key.decode(from: &$0) }, value: { result[$1] = try value.decode(from: &$0) })
        return result
    }
}
