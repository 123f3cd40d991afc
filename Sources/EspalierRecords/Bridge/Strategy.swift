import Synchronization

/// How values of a type are stored, found out once per type and process: the casts that decide it
/// cost about 100 ns each.
///
/// In this order: a `FieldValue` by its own witnesses; optionals, lists, sets and dictionaries by
/// the strategies of what they hold, because their own `Codable` conformances can't leave a deleted
/// record out; a `Codable` model with an identifier as a node; any other `Codable` type inline.
/// Nothing else is storable.
package class Strategy {
    /// Whether decoders made for a value below need to know under which keys it stands.
    var needsPath: Bool { false }
}

/// The strategies of a process.
final class StrategyTable: Sendable {
    static let encoding = StrategyTable()
    static let decoding = StrategyTable()

    // Unchecked, because a class that is not final can't be checked: strategies consist of
    // constants.
    private struct Shared: @unchecked Sendable {
        let strategy: Strategy
    }

    private let known = Mutex<[ObjectIdentifier: Shared]>([:])

    /// Two threads may resolve a type at once; what they find is the same.
    func strategy(for type: Any.Type, resolve: () -> Strategy) -> Strategy {
        let key = ObjectIdentifier(type)
        if let shared = known.withLock({ $0[key] }) { return shared.strategy }
        let shared = Shared(strategy: resolve())
        known.withLock { $0[key] = shared }
        return shared.strategy
    }
}
