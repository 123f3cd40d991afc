/// How values of one type are encoded. The base class serves types that can't be stored.
package class EncodingStrategy<Value>: Strategy {
    package func encode(_ value: Value, into encoder: ValueEncoder) throws {
        throw FlattenError.notStorable(type: TypeName.of(Value.self))
    }

    /// Returns the strategy of the type, which the process keeps.
    package static func of(_ type: Value.Type = Value.self) -> EncodingStrategy<Value> {
        let strategy = StrategyTable.encoding.strategy(for: type) {
            EncodingResolution.resolve(type)
        }
        // Made for this very type by `resolve`.
        return strategy as! EncodingStrategy<Value>
    }
}

/// Finds the encoding strategy of a type.
enum EncodingResolution {
    static func resolve<Value>(_ type: Value.Type) -> Strategy {
        if let type = type as? any FieldValue.Type { return fieldValue(type) }
        if let type = type as? any BridgedContainer.Type { return type.encodingStrategy }
        if let type = type as? any (IdentifiedModel & Encodable).Type { return node(type) }
        if let type = type as? any Encodable.Type { return inline(type) }
        return EncodingStrategy<Value>()
    }

    private static func fieldValue<Value: FieldValue>(_ type: Value.Type) -> Strategy {
        FieldValueEncoding<Value>()
    }
    private static func node<Value: IdentifiedModel & Encodable>(_ type: Value.Type) -> Strategy {
        NodeEncoding<Value>()
    }
    private static func inline<Value: Encodable>(_ type: Value.Type) -> Strategy {
        InlineEncoding<Value>()
    }
}

private final class FieldValueEncoding<Value: FieldValue>: EncodingStrategy<Value> {
    override func encode(_ value: Value, into encoder: ValueEncoder) throws {
        try value.encodeValue(into: encoder)
    }
}

private final class NodeEncoding<Value: IdentifiedModel & Encodable>: EncodingStrategy<Value> {
    override func encode(_ value: Value, into encoder: ValueEncoder) throws {
        try encoder.encodeModel(
            identifier: value.modelIdentifier, projection: value.projectionIdentifier,
            object: Value.self is AnyObject.Type ? value as AnyObject : nil,
            traits: TypeTraits(of: Value.self)
        ) {
            try $0.encodeFields(of: value)
        }
    }
}

private final class InlineEncoding<Value: Encodable>: EncodingStrategy<Value> {
    override var needsPath: Bool { true }

    override func encode(_ value: Value, into encoder: ValueEncoder) throws {
        try encoder.flattener.nested(behind: encoder.writer.count) {
            let frame = EncodingFrame(streaming: encoder)
            defer { frame.close() }
            try value.encode(to: frame)
            try frame.finish()
        }
    }
}

// MARK: - Containers

// The bytes are those of the containers' `FieldValue` conformances, so that each kind of model
// reads what the other wrote.

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
