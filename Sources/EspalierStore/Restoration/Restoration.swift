package import EspalierRecords
package import Foundation
import Synchronization

/// A record that an export describes, to be stored in a cache whatever the cache has under its
/// identifier.
package struct RestoredRecord: Sendable {
    package enum Content: Sendable {
        /// A node with the values of the shape's fields, one after the other.
        case node(Shape, RestoredValue, isOnCycle: Bool)
        /// The entry of a key.
        case key(RestoredValue)
        /// A collection with all its elements, or with its first ones.
        case collection([RestoredValue])
        /// Elements to append to a collection that is too large for one write. Fails if the
        /// collection does not have the number of elements that precede them.
        case moreElements([RestoredValue], behind: Int)
    }

    /// The node's identifier, the key, or the collection's key.
    package let identifier: String
    package let content: Content
    /// When the record was written, and how old it may be; nil to keep what the cache has.
    package let age: Age?

    /// Whether the record is a part of a collection whose first elements stand in another one.
    package var isFurtherPart: Bool {
        if case .moreElements = content { true } else { false }
    }

    /// The age of a record that another store has dated.
    package struct Age: Sendable, Hashable {
        package let writtenAt: Date
        /// In seconds; nil if the record does not expire.
        package let maximum: UInt64?

        package init(writtenAt: Date, maximum: UInt64?) {
            self.writtenAt = writtenAt
            self.maximum = maximum
        }
    }

    package init(_ identifier: String, _ content: Content, age: Age? = nil) {
        self.identifier = identifier
        self.content = content
        self.age = age
    }
}

/// Encoded values and the names of their children: the ordinal 2 in the bytes is `references[2]`.
package struct RestoredValue: Sendable, Equatable {
    package let bytes: [UInt8]
    package let references: [RecordReference]

    package init(bytes: [UInt8], references: [RecordReference]) {
        self.bytes = bytes
        self.references = references
    }
}

extension RestoredRecord {
    package var nameSpace: NameSpace {
        switch content {
        case .node: .node
        case .key: .key
        case .collection, .moreElements: .collection
        }
    }

    /// The approximate bytes of the stored record.
    package var byteCount: Int {
        let own = identifier.utf8.count + 24
        return switch content {
        case .node(_, let values, _): own + values.byteCount
        case .key(let value): own + value.byteCount
        case .collection(let elements), .moreElements(let elements, _):
            elements.reduce(own) { $0 + $1.byteCount }
        }
    }
}

extension RestoredValue {
    /// The approximate bytes as stored, where a reference takes a few bytes instead of a name.
    package var byteCount: Int { bytes.count + references.count * 4 }
}

/// The record to which a stored reference leads, named in a way that is valid outside of its cache,
/// unlike a handle.
package enum RecordReference: Sendable, Hashable {
    /// The node of this identifier.
    case node(String)
    /// A deleted record. The number identifies it within an export.
    case deleted(Int)
    /// A damaged or missing record. The number identifies it within an export.
    case lost(Int)

    // Identifiers are compared by their bytes.
    package static func == (a: RecordReference, b: RecordReference) -> Bool {
        switch (a, b) {
        case (.node(let a), .node(let b)): Identifier(a) == Identifier(b)
        case (.deleted(let a), .deleted(let b)), (.lost(let a), .lost(let b)): a == b
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .node(let identifier): hasher.combine(Identifier(identifier))
        case .deleted(let number), .lost(let number): hasher.combine(number)
        }
    }
}

/// The state that the writes that restore one export share: the handles of deleted and lost
/// records, and the number of records written.
///
/// A number of a `RecordReference` means the same record in all of these writes. Only commits
/// change the state.
package final class Restoration: Sendable {
    // protected by itself
    private struct Known {
        /// The generation of the handles; they are not valid in another one.
        var generation = ""
        var handles: [RecordReference: Handle] = [:]
        var assigned: Set<Handle> = []
        var written = 0
    }
    private let known = Mutex(Known())

    package init() {}

    /// Returns the handle that stands for a reference, if a write has assigned one.
    func handle(of reference: RecordReference, in generation: Generation) -> Handle? {
        known.withLock { $0.generation == generation.name ? $0.handles[reference] : nil }
    }

    /// Returns whether a handle stands for a reference already.
    func knows(_ handle: Handle, in generation: Generation) -> Bool {
        known.withLock { $0.generation == generation.name && $0.assigned.contains(handle) }
    }

    /// How many records the commits have written, because they were new or had other contents. A
    /// collection in several parts counts once.
    package var written: Int { known.withLock { $0.written } }

    /// Adds the handles that a committed transaction has assigned, and the records that it has
    /// written.
    func add(_ handles: [RecordReference: Handle], written: Int, in generation: Generation) {
        known.withLock { known in
            known.written += written
            if known.generation != generation.name {
                known = Known(generation: generation.name, written: known.written)
            }
            known.handles.merge(handles) { $1 }
            known.assigned.formUnion(handles.values)
        }
    }
}

extension NormalizedCache {
    /// Replaces the records under the identifiers of `records` by these, exactly as they are:
    /// types, declarers, values and children. Stores all of them in one commit, or none.
    ///
    /// A node to which a record refers and that does not exist counts as lost, and reads of trees
    /// that contain it miss, until it is restored or written, too. The records have the stamp of
    /// the commit.
    ///
    /// - Returns: A ticket. It fails with `outOfRange` if two records have the same identifier.
    @discardableResult
    package func restore(_ records: [RestoredRecord], as restoration: Restoration = Restoration())
        -> WriteTicket
    {
        let names = Set(records.map { RecordName($0.nameSpace, $0.identifier) })
        guard names.count == records.count else { return reject(.restoredTwice) }
        guard records.allSatisfy({ !$0.identifier.isEmpty }) else {
            return reject(.noIdentifier)
        }
        let limit = engine.writeLimits.maximumBytes
        return submit(isDroppable: false) { _ in
            let operation = WriteOperation.restore(records, restoration)
            guard operation.byteCount <= limit else {
                throw FlattenError.treeTooLarge(limit: limit)
            }
            return operation
        }
    }
}

extension NormalizedCache {
    /// Makes records count as expired, because the store from which they come has newer ones.
    ///
    /// A read that accepts fresh records only then misses, until the records are restored or
    /// written again. A read that accepts stale records still finds them. Names that the cache does
    /// not have are skipped. All reads from now on see the change.
    ///
    /// - Returns: A ticket. It succeeds also where the cache has none of the records.
    @discardableResult
    package func outdate(_ names: [(nameSpace: NameSpace, identifier: String)]) -> WriteTicket {
        let named = names.lazy.filter { !$0.identifier.isEmpty }.map {
            RecordName($0.nameSpace, $0.identifier)
        }
        let operation = WriteOperation.outdate(Array(named))
        return submit(isDroppable: false) { _ in operation }
    }

    /// Returns the names of the expired records in the tree that a read of `type` decodes.
    ///
    /// - Parameters:
    ///   - nameSpace: What `identifier` names: a node, a key or a collection.
    /// - Returns: A miss if the tree is not there as a whole, or can't be read.
    package func expiredNames<Model: IdentifiedModel>(
        in type: Model.Type, _ nameSpace: NameSpace, _ identifier: String
    ) -> ReadOutcome<[(nameSpace: NameSpace, identifier: String)]> {
        let target = ReadTarget(type: type, nameSpace: nameSpace, identifier: identifier)
        return outcome(target.accepting(.stale), .latest, .peek) { reader, names in
            try reader.noteExpired(into: &names) {
                switch nameSpace {
                case .node: try reader.node(type, identifier).reason
                case .key: try reader.model(type, forKey: identifier).reason
                default: try reader.collection(type, forKey: identifier).reason
                }
            }
        }
    }

    /// Makes all records count as expired whose names satisfy a condition. Blocks the calling
    /// thread until that is committed. Other reads and writes go on meanwhile.
    ///
    /// - Throws: A ``CacheError``: `damaged` if a record can't be read, and so has no name. Then
    ///   some of the records count as expired, and others do not.
    /// - Complexity: O(*n*) in the records of the cache. Holds the names of 4,096 in memory.
    package func outdateAll(
        where isOutdated: (NameSpace, String) -> Bool
    ) throws(CacheError) {
        var position: [UInt8]? = []
        while let start = position {
            let (names, next) = try list { try $0.names(from: start, limit: 4_096) }
            try outdate(names.filter(isOutdated)).wait()
            position = next
        }
    }
}

// MARK: - Trees with names

/// A value that was read, and the identifiers of the nodes that the read has met.
package struct NamedValue<Value: Sendable>: Sendable {
    package let value: Value
    package let nodes: Set<String>
}

extension NormalizedCache {
    /// Reads a node or a key, and tells the nodes of the tree. Does not use decoded trees in
    /// memory, which have no names.
    ///
    /// - Parameter nameSpace: `.node` or `.key`.
    package func namedOutcome<Model: IdentifiedModel>(
        of type: Model.Type, _ nameSpace: NameSpace, _ identifier: String,
        accepting freshness: Freshness
    ) -> ReadOutcome<NamedValue<Model>> {
        let target = ReadTarget(type: type, nameSpace: nameSpace, identifier: identifier)
        return namedOutcome(target.accepting(freshness)) { reader, model in
            nameSpace == .key
                ? try reader.model(type, forKey: identifier, into: &model)
                : try reader.node(type, identifier, into: &model)
        }
    }

    /// Reads a collection, and tells the nodes of its trees. Does not use decoded trees in memory.
    package func namedOutcome<Model: IdentifiedModel>(
        ofCollection key: String, of type: Model.Type, accepting freshness: Freshness
    ) -> ReadOutcome<NamedValue<[Model]>> {
        let target = ReadTarget(type: type, nameSpace: .collection, identifier: key)
        return namedOutcome(target.accepting(freshness)) { reader, models in
            try reader.collection(type, forKey: key, into: &models)
        }
    }

    func namedOutcome<Value>(
        _ target: ReadTarget,
        _ read: (SnapshotReader, inout Value?) throws -> ReadOutcome<Void>
    ) -> ReadOutcome<NamedValue<Value>> {
        outcome(target, .latest, .touch) { reader, named in
            reader.notesNames = true
            var value: Value?
            let outcome = try read(reader, &value)
            named = value.map { NamedValue(value: $0, nodes: reader.names) }
            return outcome
        }
    }
}

extension SnapshotReader {
    /// Returns the names of records in the order of the index, and where the next ones begin; nil
    /// at the end.
    ///
    /// - Throws: An error if a part of the index or a record can't be read.
    fileprivate func names(
        from start: [UInt8], limit: Int
    ) throws -> (names: [(nameSpace: NameSpace, identifier: String)], next: [UInt8]?) {
        let stored = try StoredRecords(snapshot, generation, keepsBlocks: true)
        var names: [(nameSpace: NameSpace, identifier: String)] = []
        var (next, isDamaged) = ([UInt8]?.none, false)
        let noteDamage = { (_: [UInt8]) in isDamaged = true }
        try snapshot.forEachIndexEntry(generation.keyspaces, from: start, damaged: noteDamage) {
            // The first group may begin before `start`.
            guard !$0.bytes.lexicographicallyPrecedes(start) else { return true }
            guard names.count < limit else {
                next = $0.bytes
                return false
            }
            if let record = try stored.record($0.handle) {
                names.append((record.nameSpace, record.identifier))
            }
            return true
        }
        guard !isDamaged else {
            throw CacheError(.damaged, "A part of the index can't be read. It will be repaired.")
        }
        return (names, next)
    }

    /// Runs a read, and notes the names of the expired records. `read` returns why it has missed.
    func noteExpired(
        into names: inout [(nameSpace: NameSpace, identifier: String)]?,
        _ read: () throws -> MissReason?
    ) rethrows -> ReadOutcome<Void> {
        notesExpired = true
        if let reason = try read() { return .miss(reason) }
        names = expired
        return .hit(Hit(value: (), isCut: false, recordCount: expired.count))
    }
}

extension CacheError {
    fileprivate static let restoredTwice = CacheError(
        .outOfRange, "A record is restored twice in one write. Leave one out.")

    /// Another write changed a collection between two of its parts.
    static let partsChanged = CacheError(
        .outOfRange, "The collection was changed while its parts were restored. Restore it again.")

    /// Whether another write changed a collection between two of its parts.
    package var isChangeBetweenParts: Bool { message == Self.partsChanged.message }
}
