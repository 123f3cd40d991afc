public import EspalierRecords

/// A record that was evicted, or a cycle of records. Of a tree each record is told of by itself,
/// the root first: what other trees refer to, too, stays.
///
/// ```swift
/// for await case .evicted(let eviction) in cache.events() where eviction.reason == .budget {
///     log("\(eviction.identifier) went after \(eviction.age ?? .zero)")
/// }
/// ```
///
/// Threading: a value. Cost: a string and some words.
/// Errors: none.
public struct Eviction: Sendable, Hashable, Codable {
    /// Why a tree was evicted.
    public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
        /// It was the one not accessed for longest when room was needed.
        case budget
        /// The caller said so.
        case explicit
        /// A sweep found that nothing leads to it.
        case collectCycles
        /// The budget was made smaller.
        case shrink
    }

    /// Of records on a cycle, that of one of them.
    public var identifier: String
    /// Whether it was a node, a key's entry or a collection.
    public var nameSpace: NameSpace
    public var reason: Reason
    /// How many records went.
    public var records: Int
    /// What they took, as stored.
    public var bytes: ByteCount
    /// How long it had not been accessed; nil when that is not known.
    public var age: Duration?

    public init(
        identifier: String, nameSpace: NameSpace, reason: Reason, records: Int, bytes: ByteCount,
        age: Duration? = nil
    ) {
        self.identifier = identifier
        self.nameSpace = nameSpace
        self.reason = reason
        self.records = records
        self.bytes = bytes
        self.age = age
    }
}
