import Synchronization

/// How values of a type are stored. It is found once for each type and process, because the casts
/// that decide it cost about 100 ns each.
///
/// The first rule that fits decides:
///
/// 1. A `FieldValue` is stored by its own witnesses.
/// 2. Optionals, lists, sets and dictionaries are stored by the strategies of their elements: their
///    own `Codable` conformances can't leave a deleted record out.
/// 3. A `Codable` model with an identifier is stored as a node.
/// 4. Any other `Codable` type is stored inline.
/// 5. All other types can't be stored.
package class Strategy {
    /// Whether the `codingPath` of a value below has to be known.
    var needsPath: Bool { false }
}

/// The strategies of a process.
final class StrategyTable: Sendable {
    static let encoding = StrategyTable()
    static let decoding = StrategyTable()

    // Unchecked, because the compiler can't check a class that is not final. Strategies consist of
    // constants.
    private struct Shared: @unchecked Sendable {
        let strategy: Strategy
    }

    private let known = Mutex<[ObjectIdentifier: Shared]>([:])

    /// Returns the strategy of a type. Two threads may resolve a type at once, with equal results.
    func strategy(for type: Any.Type, resolve: () -> Strategy) -> Strategy {
        let key = ObjectIdentifier(type)
        if let shared = known.withLock({ $0[key] }) { return shared.strategy }
        let shared = Shared(strategy: resolve())
        known.withLock { $0[key] = shared }
        return shared.strategy
    }
}

/// The standard containers, which the bridge stores by their elements.
protocol BridgedContainer {
    static var encodingStrategy: Strategy { get }
    static var decodingStrategy: Strategy { get }
}

extension Optional: BridgedContainer {
    static var encodingStrategy: Strategy { OptionalEncoding<Wrapped>() }
    static var decodingStrategy: Strategy { OptionalDecoding<Wrapped>() }
}

extension Array: BridgedContainer {
    static var encodingStrategy: Strategy { ListEncoding<Self>() }
    static var decodingStrategy: Strategy { ArrayDecoding<Element>() }
}

extension ContiguousArray: BridgedContainer {
    static var encodingStrategy: Strategy { ListEncoding<Self>() }
    static var decodingStrategy: Strategy { ListDecoding<Self>() }
}

extension Set: BridgedContainer {
    static var encodingStrategy: Strategy { SetEncoding<Element>() }
    static var decodingStrategy: Strategy { SetDecoding<Element>() }
}

extension Dictionary: BridgedContainer {
    static var encodingStrategy: Strategy { DictionaryEncoding<Key, Value>() }
    static var decodingStrategy: Strategy { DictionaryDecoding<Key, Value>() }
}

/// Stores and reads models of any conformance, for callers that know only ``IdentifiedModel``.
///
/// ```swift
/// // `model` may be an opened `any ConsistencyManagerModel`.
/// try ModelStorage.encode(model, into: encoder)
/// ```
package enum ModelStorage {
    /// Writes `model`: a reference and its record when it has an identifier, inline when not.
    ///
    /// Throws `FlattenError.notStorable` for a type that is neither a `FieldValue` nor `Encodable`,
    /// `.modelFailed` when the model's own `encode` throws.
    package static func encode<Model: IdentifiedModel>(_ model: Model, into encoder: ValueEncoder)
        throws
    {
        do {
            try encoder.flattener.bridge.strategy(for: Model.self).encode(model, into: encoder)
        } catch let error as FlattenError {
            throw error
        } catch {
            throw FlattenError.modelFailed(type: TypeName.of(Model.self), reason: "\(error)")
        }
    }

    /// Returns whether ``encode(_:into:)`` certainly writes the same for both models.
    package static func haveSameEncoding<Model>(_ model: Model, _ other: Model) -> Bool {
        func hasSame<Value: FieldValue>(_ value: Value) -> Bool {
            (other as? Value).map { value.hasSameEncoding(as: $0) } ?? false
        }
        guard let value = model as? any FieldValue else { return false }
        return type(of: value) == type(of: other as Any) && hasSame(value)
    }

    /// Returns whether values of the type can be read.
    package static func isReadable<Model>(_ type: Model.Type) -> Bool {
        let strategy = DecodingStrategy<Model>.of()
        return Swift.type(of: strategy) != DecodingStrategy<Model>.self
    }

    /// Reads a value. Throws `ReadFailure(.notStorable)` for a type that is neither a `FieldValue`
    /// nor `Decodable`.
    package static func decode<Model>(_ type: Model.Type, from decoder: inout ValueDecoder) throws
        -> Model
    {
        try decoder.treeReader.bridge.strategy(for: type).decode(from: &decoder)
    }

    /// Reads the tree of the entry `identifier`. The record has to have that identifier.
    package static func decode<Model>(
        _ type: Model.Type, entry handle: Handle, identifier: String, of treeReader: TreeReader
    ) throws -> Model {
        try treeReader.entry(handle, identifier: identifier) { try decode(type, from: &$0) }
    }
}
