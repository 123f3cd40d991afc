/// How values of one type are decoded. This class itself stands for a type that can't be.
package class DecodingStrategy<Value>: Strategy {
    package func decode(from decoder: inout ValueDecoder) throws -> Value {
        throw ReadFailure(.notStorable(TypeName.of(Value.self)))
    }

    /// What a field is that the record lacks, as `FieldValue.valueWhenMissing`.
    package var valueWhenMissing: Value? { nil }

    /// The strategy of the type, remembered by process.
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
        try decoder.decodeModel(Value.self) { try $0.decodeFields(as: Value.self) }
    }
}

private final class InlineDecoding<Value: Decodable>: DecodingStrategy<Value> {
    override var needsPath: Bool { true }

    override func decode(from decoder: inout ValueDecoder) throws -> Value {
        // What was written as a model with an identifier may be read as a plain value.
        if try decoder.reader.kind() == .child {
            return try decoder.decodeModel(Value.self) { try $0.decodeFields(as: Value.self) }
        }
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
