/// How values of one type are encoded. This class itself stands for a type that can't be.
package class EncodingStrategy<Value>: Strategy {
    package func encode(_ value: Value, into encoder: ValueEncoder) throws {
        throw FlattenError.notStorable(type: TypeName.of(Value.self))
    }

    /// The strategy of the type, remembered by process.
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
            identifier: value.modelIdentifier, projection: value.projectionIdentifier
        ) {
            try $0.encodeFields(of: value)
        }
    }
}

private final class InlineEncoding<Value: Encodable>: EncodingStrategy<Value> {
    override var needsPath: Bool { true }

    override func encode(_ value: Value, into encoder: ValueEncoder) throws {
        try encoder.flattener.nested {
            let frame = EncodingFrame(streaming: encoder)
            defer { frame.close() }
            try value.encode(to: frame)
            try frame.finish()
        }
    }
}
