import EspalierConfinement
import EspalierLMDB
package import EspalierRecords

/// One snapshot of a cache as records instead of models: what tools walk, show and compare.
///
/// ```swift
/// let names = try cache.inspect { inspection in
///     var names: [String] = []
///     try inspection.forEachEntry(of: .node, startingWith: "User:") { entry in
///         names.append(entry.identifier)
///         return names.count < 20
///     }
///     return names
/// }
/// ```
///
/// Changes nothing and counts as no access. While one is open no page of its snapshot can be used
/// again, which in a full cache stops a writer: copy what is needed, and print it afterwards.
/// Confined to the thread and the call that lent it.
package final class Inspection {
    let snapshot: Snapshot
    let generation: Generation
    let keyspaces: Keyspaces
    private let source: SnapshotSource
    let decompressor: RecordDecompressor

    init(_ snapshot: Snapshot, of generation: Generation) throws {
        self.snapshot = snapshot
        self.generation = generation
        keyspaces = generation.keyspaces
        source = try SnapshotSource(snapshot, of: generation)
        decompressor = RecordDecompressor(generation, snapshot)
    }

    /// The number of the last commit: what stamps count in.
    package var commit: Stamp {
        get throws { Stamp(try snapshot.counters(keyspaces).stamp) }
    }

    // MARK: One record

    /// The handle an identifier, a key or a collection's key has; nil when there is none, or damage
    /// in its place.
    package func handle(of identifier: String, in nameSpace: NameSpace) throws -> Handle? {
        guard !identifier.isEmpty else { return nil }
        do {
            return try snapshot.handle(keyspaces, nameSpace, identifier)
        } catch is FormatError {
            return nil
        }
    }

    /// The entry of the index that `handle(of:in:)` tells the handle of.
    package func entry(of identifier: String, in nameSpace: NameSpace) throws -> IndexEntry? {
        try handle(of: identifier, in: nameSpace).map {
            IndexEntry(nameSpace: nameSpace, identifier: identifier, handle: $0, isWhole: true)
        }
    }

    /// What stands under a handle.
    package func record(_ handle: Handle) throws -> StoredRecord {
        // A long record that was deleted is taken away in steps.
        if let flags = try state(of: handle)?.flags, flags.contains(.pendingRemoval),
            !flags.contains(.blocked)
        {
            return .deleted
        }
        do {
            if let record = try snapshot.record(
                keyspaces, handle, by: decompressor, shapes: { try source.shape($0) })
            {
                return .record(record)
            }
        } catch let error as FormatError {
            return .damaged(ReadFailure.detail(of: error))
        }
        // Readers take a damaged entry for none, too.
        let flags = try state(of: handle)?.flags ?? []
        if flags.contains(.tombstone) { return .deleted }
        return flags.contains(.lost) ? .lost : .nothing
    }

    /// What stands under a name of the index. A record of another name there is damage: to a reader
    /// it is a miss.
    package func record(of entry: IndexEntry) throws -> StoredRecord {
        let stored = try record(entry.handle)
        guard case .record(let record) = stored else { return stored }
        guard record.nameSpace == entry.nameSpace,
            Identifier(record.identifier) == Identifier(entry.identifier)
        else {
            return .damaged("the index leads to another record")
        }
        return stored
    }

    /// References, stamp and flags of a record; nil where the entry is damaged.
    package func state(of handle: Handle) throws -> StateEntry? {
        do {
            return try snapshot.state(keyspaces, of: handle) ?? .default
        } catch is FormatError {
            return nil
        }
    }

    /// The bytes of a record, joined from its chunks; nil if there is none. Throws a `FormatError`
    /// when they can't be joined.
    package func bytes(of handle: Handle) throws -> [UInt8]? {
        guard let first = try snapshot.value(keyspaces.nodes, handle.rawValue) else { return nil }
        // What is too damaged to tell is no chunk.
        guard let count = try? ByteReader.reading(first, { try Chunks.count(&$0) }) else {
            return first
        }
        return try snapshot.joinedRecord(keyspaces.nodes, handle, chunkCount: count)
    }

    /// How many bytes a record takes as stored, all its chunks together, readable or not; nil if
    /// there is none.
    package func storedByteCount(of handle: Handle) throws -> Int? {
        let first = try snapshot.withValue(keyspaces.nodes, handle.rawValue) { span in
            (bytes: span.byteCount, chunks: (try? Chunks.count(span)) ?? 1)
        }
        guard let first else { return nil }
        var bytes = first.bytes
        for number in 1..<first.chunks {
            let chunk = ChunkKey(handle.rawValue, UInt32(number))
            guard let more = try snapshot.withValue(keyspaces.nodes, chunk, { $0.byteCount }) else {
                break
            }
            bytes += more
        }
        return bytes
    }
}
