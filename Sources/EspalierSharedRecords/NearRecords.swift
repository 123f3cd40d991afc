import EspalierModels
public import EspalierRecords
public import EspalierStore
public import Foundation

// A cache that keeps copies of shared records: the near cache of a host.
extension NormalizedCache {
    /// Looks up the tree of the node `identifier` in memory. Finds it as `read` does, and counts
    /// the hit; does not read records.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - identifier: The node's identifier.
    /// - Returns: The tree; nil if memory does not have it.
    public func nearHit<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String
    ) -> NearHit? {
        memoryHit(type, identifier).map(NearHit.init)
    }

    /// The time of a clock that goes on while the process or the machine stands still, in
    /// nanoseconds.
    public static var monotonicTime: Int { Int(Moment.now.nanoseconds) }

    /// Puts shared records in place of those under their names, exactly as they are, in one commit.
    ///
    /// - Parameters:
    ///   - records: The records, each name once. Records that follow each other are stored near
    ///     each other: a tree in pre-order is read fastest. A tombstone of a node makes it read as
    ///     deleted. Tombstones of keys and collections are left out; delete their names instead.
    ///   - isOutdated: Whether the records count as expired, as after `outdate(shared:)`.
    /// - Returns: A ticket.
    @discardableResult
    public func restore(
        shared records: some Sequence<(name: SharedName, record: SharedRecord)>,
        isOutdated: Bool = false
    ) -> WriteTicket {
        let now = Date()
        return restore(
            records.compactMap {
                RestoredRecord($0.name, $0.record, isOutdated: isOutdated, now: now)
            })
    }

    /// Makes records count as expired, because servers have newer ones. All reads that accept fresh
    /// records only miss from now on.
    ///
    /// - Parameter names: The names of the records. Those that the cache does not have are skipped.
    /// - Returns: A ticket.
    @discardableResult
    public func outdate(shared names: some Sequence<SharedName>) -> WriteTicket {
        outdate(names.map { ($0.kind, $0.identifier) })
    }

    /// Makes all records count as expired whose names satisfy a condition: this host has missed
    /// their server's changes. Blocks the calling thread until that is committed.
    ///
    /// - Parameter isOutdated: The condition.
    /// - Throws: A `CacheError` if some records can't be read. They may still count as fresh.
    /// - Complexity: O(*n*) in the records of the cache.
    public func outdateShared(where isOutdated: (SharedName) -> Bool) throws(CacheError) {
        try outdateAll { isOutdated(SharedName($0, $1)) }
    }

    /// Reads a node or a key, and tells the names of the records of the tree.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - name: The name of a node or a key.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model, or the reason of the miss. Its names are those of all nodes that the
    ///   read has met, of the key, and of the node that has the key as its identifier.
    public func namedShared<Model: IdentifiedModel>(
        _ type: Model.Type, _ name: SharedName, accepting freshness: Freshness
    ) -> ReadOutcome<NamedShared<Model>> {
        named(name, namedOutcome(of: type, name.kind, name.identifier, accepting: freshness)) { $0 }
    }

    /// Reads a collection, and tells the names of the records of its trees.
    ///
    /// - Parameters:
    ///   - key: The collection's key.
    ///   - type: The type of the elements.
    ///   - freshness: Whether the read accepts records that have expired.
    public func namedShared<Model: IdentifiedModel>(
        collection key: String, of type: Model.Type, accepting freshness: Freshness
    ) -> ReadOutcome<NamedShared<[Model]>> {
        named(
            SharedName(.collection, key),
            namedOutcome(ofCollection: key, of: type, accepting: freshness)
        ) { $0 }
    }

    /// Returns a node or a collection as JSON, and the names of the records of the tree.
    ///
    /// - Parameters:
    ///   - name: The name of the node or the collection.
    ///   - form: What the JSON contains.
    ///   - freshness: Whether the read accepts records that have expired.
    public func namedSharedJSON(
        of name: SharedName, _ form: SharedJSON, accepting freshness: Freshness
    ) -> ReadOutcome<NamedShared<Data>> {
        let outcome = namedJSON(name.kind, name.identifier, form.options, accepting: freshness)
        return named(name, outcome) { Data($0) }
    }

    private func named<Value, Result: Sendable>(
        _ root: SharedName, _ outcome: ReadOutcome<NamedValue<Value>>,
        _ result: (Value) -> Result
    ) -> ReadOutcome<NamedShared<Result>> {
        outcome.map { named in
            // A segment of a collection has no name of its own.
            let nodes = named.nodes.filter { !$0.isEmpty }.map { SharedName(.node, $0) }
            let roots = root.kind == .key ? [root, SharedName(.node, root.identifier)] : [root]
            return NamedShared(value: result(named.value), names: roots + nodes)
        }
    }

    /// Returns the names of the expired records in a tree: what is to be fetched so that the cache
    /// can read the tree again.
    ///
    /// - Parameters:
    ///   - type: The type of the model, or of the elements of a collection.
    ///   - name: The name of the tree's root.
    /// - Returns: Nil if the cache does not have the tree as a whole.
    public func expiredShared<Model: IdentifiedModel>(
        in type: Model.Type, _ name: SharedName
    ) -> [SharedName]? {
        expiredNames(in: type, name.kind, name.identifier).value?.map { SharedName($0, $1) }
    }

    /// Returns a node or a collection as JSON, and whether a record of it has expired.
    ///
    /// - Parameters:
    ///   - name: The name of the node or the collection.
    ///   - form: What the JSON contains.
    ///   - freshness: Whether the read accepts records that have expired.
    public func sharedJSON(
        of name: SharedName, _ form: SharedJSON, accepting freshness: Freshness
    ) -> ReadOutcome<Data> {
        jsonOutcome(name.kind, name.identifier, form.options, accepting: freshness).map { Data($0) }
    }

    /// Returns the names of the expired records that the JSON of a tree needs.
    ///
    /// - Parameters:
    ///   - name: The name of the node or the collection.
    ///   - form: What the JSON contains.
    /// - Returns: Nil if the cache does not have the tree as a whole.
    public func expiredShared(inJSON form: SharedJSON, of name: SharedName) -> [SharedName]? {
        expiredNames(inJSON: form.options, name.kind, name.identifier).value?
            .map { SharedName($0, $1) }
    }
}

/// A value that was read from shared records, and the names of these records.
public struct NamedShared<Value: Sendable>: Sendable {
    /// The model, the elements or the JSON text.
    public let value: Value
    /// The names. A name may occur twice.
    public let names: [SharedName]
}

extension ReadOutcome {
    /// Returns the same outcome with another value.
    ///
    /// - Parameter transform: Makes the value of a hit.
    public func map<Other: Sendable>(_ transform: (Value) -> Other) -> ReadOutcome<Other> {
        switch self {
        case .hit(let hit): .hit(hit.map(transform))
        case .miss(let reason): .miss(reason)
        }
    }

    /// Makes the hit of a read that servers have answered.
    ///
    /// - Parameters:
    ///   - value: The model or the elements.
    ///   - recordCount: The number of records that were read.
    ///   - oldestAge: How old the oldest record that may expire is; nil if none may.
    ///   - isExpired: Whether a record is older than it may be.
    public static func shared(
        _ value: Value, recordCount: Int, oldestAge: Duration?, isExpired: Bool
    ) -> ReadOutcome {
        .hit(
            Hit(
                value: value, isCut: false, recordCount: recordCount, oldestAge: oldestAge,
                isExpired: isExpired))
    }

    /// Returns the same outcome; a hit then counts as expired.
    public var markedStale: ReadOutcome {
        guard case .hit(let hit) = self else { return self }
        return .hit(
            Hit(
                value: hit.value, isCut: hit.isCut, recordCount: hit.recordCount,
                writtenAt: hit.writtenAt, age: hit.age, oldestAge: hit.oldestAge, isExpired: true))
    }
}

extension RestoredRecord {
    /// Makes what restores a shared record; nil for a tombstone of a key or a collection, and for
    /// bytes that are not those of a collection.
    ///
    /// A record from a host whose clock is ahead counts as written now. A copy with a date in the
    /// future would count as fresh until then, even after it has become outdated.
    fileprivate init?(
        _ name: SharedName, _ record: SharedRecord, isOutdated: Bool, now: Date
    ) {
        guard !record.isTombstone || name.kind == .node else { return nil }
        let written = Date(timeIntervalSince1970: Double(record.version.milliseconds) / 1_000)
        let age = Age(
            writtenAt: min(written, now), maximum: isOutdated ? 0 : record.maxAge)
        let value = RestoredValue(
            bytes: Array(record.values), references: record.children.map { .node($0) })
        switch name.kind {
        case .node:
            let shape = record.isTombstone ? .deletion : record.shape
            self.init(name.identifier, .node(shape, value, isOnCycle: record.isOnCycle), age: age)
        case .key: self.init(name.identifier, .key(value), age: age)
        case .collection, .segment:
            guard let elements = try? record.elements else { return nil }
            self.init(name.identifier, .collection(elements), age: age)
        }
    }
}

extension SharedRecord {
    /// The elements of a collection, each by itself.
    fileprivate var elements: [RestoredValue] {
        get throws {
            let handles = children.indices.map { Handle(UInt64($0)) }
            return try SegmentContent.decode(Array(values), children: handles).map { element in
                let (targets, bytes) = try SegmentContent.encoded(element)
                return RestoredValue(
                    bytes: bytes, references: targets.map { .node(children[Int($0.rawValue)]) })
            }
        }
    }
}

/// A tree that the near cache has in memory.
///
/// A host compares the end of the look-up with the time at which it last knew the servers' commits,
/// and so need not ask the clock again. The type is not generic: to look up the metadata of generic
/// types takes longer than the rest of the read.
public struct NearHit {
    private let hit: MemoryHit

    init(_ hit: MemoryHit) { self.hit = hit }

    /// When the look-up ended, see ``NormalizedCache/monotonicTime``.
    public var end: Int { Int(hit.endedAt.nanoseconds) }

    /// Returns the model; nil if the look-up was for another type.
    public func model<Model: IdentifiedModel>(as type: Model.Type) -> Model? {
        hit.value(as: type)
    }
}
