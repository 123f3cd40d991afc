/// How values of one type are decoded. The base class serves types that can't be stored.
package class DecodingStrategy<Value>: Strategy {
    package func decode(from decoder: inout ValueDecoder) throws -> Value {
        throw ReadFailure(.notStorable(TypeName.of(Value.self)))
    }

    /// The value of a field that the record lacks, as `FieldValue.valueWhenMissing`.
    package var valueWhenMissing: Value? { nil }

    /// Returns the strategy of the type, which the process keeps.
    package static func of(_ type: Value.Type = Value.self) -> DecodingStrategy<Value> {
        let strategy = StrategyTable.decoding.strategy(for: type) {
            DecodingResolution.resolve(type)
        }
        // Made for this very type by `resolve`.
        return strategy as! DecodingStrategy<Value>
    }
}

/// Finds the decoding strategy of a type.
enum DecodingResolution {
    static func resolve<Value>(_ type: Value.Type) -> Strategy {
        if let type = type as? any FieldValue.Type { return fieldValue(type) }
        if let type = type as? any BridgedContainer.Type { return type.decodingStrategy }
        if let type = type as? any (IdentifiedModel & Decodable).Type { return node(type) }
        if let type = type as? any Decodable.Type { return inline(type) }
        return DecodingStrategy<Value>()
    }

    private static func fieldValue<Value: FieldValue>(_ type: Value.Type) -> Strategy {
        FieldValueDecoding<Value>()
    }
    private static func node<Value: IdentifiedModel & Decodable>(_ type: Value.Type) -> Strategy {
        NodeDecoding<Value>()
    }
    private static func inline<Value: Decodable>(_ type: Value.Type) -> Strategy {
        InlineDecoding<Value>()
    }
}

private final class FieldValueDecoding<Value: FieldValue>: DecodingStrategy<Value> {
    override func decode(from decoder: inout ValueDecoder) throws -> Value {
        try Value.decodeValue(from: &decoder)
    }
    override var valueWhenMissing: Value? { Value.valueWhenMissing }
}

private final class NodeDecoding<Value: IdentifiedModel & Decodable>: DecodingStrategy<Value> {
    override func decode(from decoder: inout ValueDecoder) throws -> Value {
        try decoder.decodeModel(
            Value.self, isCacheable: Value.isCacheable, maxAge: Value.maxAge
        ) {
            try $0.decodeFields(as: Value.self)
        }
    }
}

private final class InlineDecoding<Value: Decodable>: DecodingStrategy<Value> {
    /// Objects must not be shared by reads.
    private let isObject = Value.self is AnyObject.Type

    override var needsPath: Bool { true }

    override func decode(from decoder: inout ValueDecoder) throws -> Value {
        // A value that was written as a model with an identifier may be read as a plain value.
        if try decoder.reader.kind() == .child {
            return try decoder.decodeModel(Value.self, isCacheable: !isObject) {
                try $0.decodeFields(as: Value.self)
            }
        }
        if isObject { decoder.treeReader.recorder?.noteUncacheable() }
        let frame = DecodingFrame(value: decoder.fork())
        defer { frame.close() }
        do {
            let value = try decoder.treeReader.nested { try Value(from: frame) }
            decoder.reader.position = try frame.endOfValue()
            return value
        } catch {
            throw frame.located(error)
        }
    }
}

// MARK: - Containers

// As in the containers' `FieldValue` conformances, elements and entries whose records are deleted
// are left out.

final class OptionalDecoding<Wrapped>: DecodingStrategy<Wrapped?> {
    private let wrapped = DecodingStrategy<Wrapped>.of()
    override var needsPath: Bool { wrapped.needsPath }
    override var valueWhenMissing: Wrapped?? { .some(nil) }

    override func decode(from decoder: inout ValueDecoder) throws -> Wrapped? {
        try decoder.decodeOptional { try wrapped.decode(from: &$0) }
    }
}

/// Apart from other lists, whose element type costs a look-up of a witness at each mention.
final class ArrayDecoding<Element>: DecodingStrategy<[Element]> {
    private let element = DecodingStrategy<Element>.of()
    override var needsPath: Bool { element.needsPath }

    override func decode(from decoder: inout ValueDecoder) throws -> [Element] {
        var result: [Element] = []
        result.reserveCapacity(decoder.expectedCount())
        let start = decoder.position
        try decoder.decodeElements { result.append(try element.decode(from: &$0)) }
        decoder.noteMemory(of: result.count, stride: MemoryLayout<Element>.stride, from: start)
        return result
    }
}

final class ListDecoding<List: RangeReplaceableCollection>: DecodingStrategy<List> {
    private let element = DecodingStrategy<List.Element>.of()
    override var needsPath: Bool { element.needsPath }

    override func decode(from decoder: inout ValueDecoder) throws -> List {
        var result = List()
        let start = decoder.position
        try decoder.decodeElements { result.append(try element.decode(from: &$0)) }
        decoder.noteMemory(of: result.count, stride: MemoryLayout<List.Element>.stride, from: start)
        return result
    }
}

final class SetDecoding<Element: Hashable>: DecodingStrategy<Set<Element>> {
    private let element = DecodingStrategy<Element>.of()
    override var needsPath: Bool { element.needsPath }

    override func decode(from decoder: inout ValueDecoder) throws -> Set<Element> {
        var result: Set<Element> = []
        let start = decoder.position
        try decoder.decodeElements { result.insert(try element.decode(from: &$0)) }
        decoder.noteMemory(of: result.count, stride: 2 * MemoryLayout<Element>.stride, from: start)
        return result
    }
}

final class DictionaryDecoding<Key: Hashable, Value>: DecodingStrategy<[Key: Value]> {
    private let key = DecodingStrategy<Key>.of()
    private let value = DecodingStrategy<Value>.of()
    override var needsPath: Bool { key.needsPath || value.needsPath }

    override func decode(from decoder: inout ValueDecoder) throws -> [Key: Value] {
        try decoder.decodeDictionary(
            key: { try key.decode(from: &$0) }, value: { try value.decode(from: &$0) })
    }
}
