public import EspalierRecords

/// Something that a cache did of its own accord.
///
/// ```swift
/// for await event in cache.events() {
///     switch event {
///     case .evicted(let eviction): evicted += eviction.records
///     case .generationReplaced(let reason): log("the cache was emptied: \(reason)")
///     case .writeDropped(let reason): log("a write failed: \(reason)")
///     case .accessRestricted(let name): log("others could access \(name)")
///     case .optimisticChangesLost(let changes, let operations):
///         log("\(changes) changes and \(operations) operations are lost")
///     }
/// }
/// ```
///
/// Reasons have the names under which ``CacheStatistics`` counts them.
public enum CacheEvent: Sendable, Hashable, Codable {
    /// The cache evicted a record or a cycle of records.
    case evicted(Eviction)
    /// A new, empty generation replaced the cache's contents. The reason is one of these:
    ///
    /// - `emptied`: the caller emptied the cache.
    /// - `damaged`: the file could not be opened, read or written, or a check found it damaged.
    /// - `emptyFile`: the file was empty or missing.
    /// - `unreadable`: its directory could not be read, or contained only files of others.
    /// - `unnamed`: there were several generations, and no name of the live one.
    /// - `directoryGone`: the directory was removed or renamed.
    /// - `copyFailed`: the budget was lowered or the key changed, the directory had no room for two
    ///   files, and the new file could not be written after the old one was deleted.
    /// - `olderFormat`: the file had a format that this version does not read any more.
    /// - `wrongKey`: the file was encrypted with a key that was not given, and
    ///   ``Encryption/whenKeyIsWrong`` asks to begin anew.
    /// - `budgetDeadlock`: nothing more could be evicted, and a write that fits the budget did not
    ///   fit.
    case generationReplaced(reason: String)
    /// The cache gave up a write; its ticket has failed.
    case writeDropped(reason: String)
    /// Other users could read or write the directory or a file in it. Opening the cache has
    /// restricted the access to this user. The name is relative to the directory, and "." for the
    /// directory itself.
    case accessRestricted(name: String)
    /// A write found the bytes of optimistic changes or of operations of outboxes damaged. These
    /// changes are not applied any more, and these operations will not be sent. All others stay.
    case optimisticChangesLost(changes: Int, operations: Int)
}

/// The eviction of a record, or of the records of a cycle.
///
/// ```swift
/// for await case .evicted(let eviction) in cache.events() where eviction.reason == .budget {
///     log("\(eviction.identifier) was evicted after \(eviction.age ?? .zero)")
/// }
/// ```
///
/// The cache reports each record of an evicted tree, the root first. Records to which other trees
/// refer stay.
public struct Eviction: Sendable, Hashable, Codable {
    /// Why a record was evicted.
    public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
        /// The cache needed room, and the record was the least recently accessed.
        case budget
        /// The caller requested it.
        case explicit
        /// A search for cycles found that nothing leads to the record.
        case collectCycles
        /// The budget was lowered.
        case shrink
    }

    /// The record's identifier or key; for a cycle, that of one of its records.
    public var identifier: String
    /// Whether the record was a node, the entry of a key, or a collection.
    public var nameSpace: NameSpace
    /// Why it was evicted.
    public var reason: Reason
    /// The number of records evicted. It is 0 if the record stays and has lost only its references:
    /// the cache does that to records of a cycle that is too large to be evicted as one.
    public var records: Int
    /// The bytes of these records as stored.
    public var bytes: ByteCount
    /// The time since the last access; nil when it is not known.
    public var age: Duration?

    /// Creates the description of an eviction.
    ///
    /// - Parameters:
    ///   - identifier: The record's identifier or key.
    ///   - nameSpace: Whether the record was a node, the entry of a key, or a collection.
    ///   - reason: Why it was evicted.
    ///   - records: The number of records evicted.
    ///   - bytes: The bytes of these records as stored.
    ///   - age: The time since the last access, if it is known.
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

extension Broadcast where Element == CacheEvent {
    /// Sends an event for what a commit has found damaged, and one for each of its victims, in
    /// order.
    ///
    /// - Parameters:
    ///   - timeline: Turns the victims' stamps into ages.
    ///   - now: The second of the commit.
    func send(_ changes: ChangeSet, _ timeline: Timeline, at now: Int64) {
        let lost = changes.lost
        if lost != LostChanges() {
            keep(.optimisticChangesLost(changes: lost.layers, operations: lost.operations))
        }
        guard hasSubscribers, !changes.victims.isEmpty else { return }
        for victim in changes.victims {
            guard let name = victim.names.first else { continue }
            send(
                .evicted(
                    Eviction(
                        identifier: name.identifier.string, nameSpace: name.nameSpace,
                        reason: victim.reason, records: victim.recordCount,
                        bytes: ByteCount(victim.bytes),
                        age: timeline.age(of: victim.stamp, at: now).map { .seconds($0) })))
        }
    }
}
