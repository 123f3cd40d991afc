package import EspalierLMDB
import EspalierModels
public import EspalierRecords

/// Reads that see no optimistic changes: what is confirmed, as if no change were pending.
///
/// ```swift
/// let shown = cache.read(Post.self, "Post:7")                  // with the like that is under way
/// let confirmed = cache.confirmed.read(Post.self, "Post:7")    // as the server has it
/// ```
///
/// Such reads do not come from the memory for trees. While no change is pending they return what
/// every read returns.
public struct ConfirmedReads: Sendable {
    private let cache: NormalizedCache

    fileprivate init(_ cache: NormalizedCache) { self.cache = cache }

    /// Reads the tree of the node `identifier`. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - identifier: The node's identifier.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    /// - Returns: The model with everything below it; nil for a miss.
    /// - Complexity: O(*n*) in the records of the tree and in the bytes of all pending changes.
    public func read<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest
    ) -> Model? {
        readOutcome(type, identifier, consistency: consistency).value
    }

    /// Reads the tree of the node `identifier`, and says why it is a miss. Blocks the calling
    /// thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - identifier: The node's identifier.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    /// - Returns: The model with everything below it, or the reason of the miss.
    public func readOutcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest
    ) -> ReadOutcome<Model> {
        cache.outcome(.node(type, identifier).accepting(.stale), consistency, .touch) {
            reader, value in
            try reader.hideLayers()
            return try reader.node(type, identifier, into: &value)
        }
    }

    /// Reads what `key` names: its own entry, or else the node of that identifier. Blocks the
    /// calling thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the model is read.
    ///   - key: The key.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    /// - Returns: The model with everything below it, or the reason of the miss.
    public func modelOutcome<Model: IdentifiedModel>(
        _ type: Model.Type, forKey key: String, consistency: Consistency = .latest
    ) -> ReadOutcome<Model> {
        cache.outcome(.key(type, key).accepting(.stale), consistency, .touch) { reader, value in
            try reader.hideLayers()
            return try reader.model(type, forKey: key, into: &value)
        }
    }

    /// Reads the collection under `key`. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - key: The collection's key.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    /// - Returns: The elements in order, without those whose node was deleted; nil for a miss.
    public func collection<Model: IdentifiedModel>(
        of type: Model.Type, forKey key: String, consistency: Consistency = .latest
    ) -> [Model]? {
        cache.outcome(.collection(type, key).accepting(.stale), consistency, .touch) {
            reader, value in
            try reader.hideLayers()
            return try reader.collection(type, forKey: key, into: &value)
        }.value
    }
}

extension NormalizedCache {
    /// Reads of what is confirmed, without the optimistic changes that are pending.
    public var confirmed: ConfirmedReads { ConfirmedReads(self) }
}

extension LayerTable {
    /// Reads the table of a snapshot.
    init(
        of generation: Generation, _ transaction: borrowing some ReadableTransaction & ~Copyable,
        from first: EntryKey.Kind = .layer
    ) throws {
        try self.init(
            generation.keyspaces, transaction,
            valueLimit: generation.environment.maximumValueSize, from: first)
    }
}

extension SnapshotReader {
    /// Returns the identifiers of records, as far as they have one. A record that an optimistic
    /// change has deleted has one, too: it comes back when the change is rolled back.
    func identifiers(of handles: Set<Handle>, _ treeReader: TreeReader) -> [String] {
        var identifiers: [String] = []
        var nameless: Set<Handle> = []
        for handle in handles {
            if let identifier = treeReader.identifier(of: handle) {
                identifiers.append(identifier)
            } else {
                nameless.insert(handle)
            }
        }
        let layers = generation.keyspaces.layers
        guard !nameless.isEmpty, let entries = try? snapshot.statistics(of: layers).entries,
            entries > 0
        else { return identifiers }
        for handle in nameless {
            guard let name = try? layeredName(at: handle) else { continue }
            identifiers.append(name.identifier.string)
        }
        return identifiers
    }

    /// Returns the name of a record that has layers; nil if it has none.
    private func layeredName(at handle: Handle) throws -> RecordName? {
        let key = EntryKey(.record, handle.rawValue)
        var bytes: [UInt8] = []
        try snapshot.forEach(in: generation.keyspaces.layers, from: key.bytes(part: 0)) {
            guard EntryKey($0) == key else { return false }
            bytes += try ByteReader.reading($1) { try $0.bytes(count: $0.end) }
            return true
        }
        guard !bytes.isEmpty else { return nil }
        return try ByteReader.reading(bytes) { reader in
            reader = reader.limited(to: try reader.verifiedEnd(seed: key.number))
            return try RecordName(reading: &reader)
        }
    }
}

/// How much of a snapshot is not confirmed.
package struct PendingCounts: Sendable, Hashable {
    /// Optimistic changes, those of operations included.
    package let changes: Int
    /// The operations of all outboxes, dead letters included.
    package let operations: Int

    package init(
        in generation: Generation, _ snapshot: borrowing some ReadableTransaction & ~Copyable
    ) throws {
        let table = try LayerTable(of: generation, snapshot)
        (changes, operations) = (table.layers.count, table.operations.count)
    }
}

/// The records of a snapshot without optimistic changes.
///
/// A collection is confirmed as one list of elements, so its record refers to one segment, which
/// has a handle that no record has.
///
/// Confined to the thread of the read.
final class ConfirmedSource: RecordSource {
    private let stored: any RecordSource
    private let records: [Handle: (name: RecordName, confirmed: ConfirmedRecord)]
    private let handles: [RecordName: Handle]

    /// Handles are given out in ascending order, and never come that far.
    private static let segments: UInt64 = 1 << 62

    init(_ stored: any RecordSource, _ layers: LayerTable) {
        self.stored = stored
        handles = layers.records.mapValues(\.handle)
        records = Dictionary(
            layers.records.map { ($1.handle, ($0, $1.confirmed)) }, uniquingKeysWith: { $1 })
    }

    /// Returns the handle that a name has without optimistic changes, nil if it has none; or nil as
    /// a whole if no optimistic change applies to the record.
    func handle(_ name: RecordName) -> Handle?? {
        guard let handle = handles[name] else { return nil }
        return .some(records[handle]?.confirmed.content == nil ? nil : handle)
    }

    func record(_ handle: Handle) throws -> RecordLookup {
        let owner = Handle(handle.rawValue & ~Self.segments)
        guard let (name, confirmed) = records[owner] else { return try stored.record(handle) }
        guard let content = confirmed.content else { return .tombstone }
        guard name.nameSpace == .collection else {
            return Self.found(
                handle, name.nameSpace, name.identifier.string, content.shape, content.children,
                content.values)
        }
        guard owner == handle else {
            return Self.found(handle, .segment, "", .none, content.children, content.values)
        }
        var list = SegmentList()
        let count = try SegmentContent.decode(content.values, children: content.children).count
        if count > 0 {
            list.segments = [.init(handle: Handle(handle.rawValue | Self.segments), count: count)]
        }
        return Self.found(
            handle, .collection, name.identifier.string, .none, list.segments.map(\.handle),
            list.values)
    }

    private static func found(
        _ handle: Handle, _ nameSpace: NameSpace, _ identifier: String, _ shape: Shape,
        _ children: [Handle], _ values: [UInt8]
    ) -> RecordLookup {
        let buffer = RecordBuffer(
            RecordLayout.build(
                handle: handle, nameSpace: nameSpace,
                shape: nameSpace == .node ? .own(shape) : .none,
                children: children, identifier: identifier, values: values))
        return .found(buffer.reader, owner: buffer)
    }

    func shape(_ number: UInt64) throws -> Shape? { try stored.shape(number) }

    func times(of handle: Handle) throws -> RecordTimes? { try stored.times(of: handle) }
}
