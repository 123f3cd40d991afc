import EspalierConfinement
import EspalierLMDB
package import EspalierRecords

/// One snapshot of a cache as records instead of models. For tools that walk, show and compare
/// records.
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
/// An inspection changes nothing and counts as no access. While it is open, the cache can use no
/// page of its snapshot again, so that writes to a full cache fail: copy the needed values, and
/// print them afterwards. Valid only during the call of `NormalizedCache.inspect`, on its thread.
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

    /// The number of the last commit, in which stamps count.
    package var commit: Stamp {
        get throws { Stamp(try snapshot.counters(keyspaces).stamp) }
    }

    /// Checks the snapshot as `NormalizedCache.verify()` does.
    package func verify() throws -> VerifyReport { try Verifier.verify(snapshot, generation) }

    // MARK: - Single records

    /// Returns the handle of an identifier, a key or a collection's key; nil when there is none, or
    /// when the index entry is damaged.
    package func handle(of identifier: String, in nameSpace: NameSpace) throws -> Handle? {
        guard !identifier.isEmpty else { return nil }
        do {
            return try snapshot.handle(keyspaces, nameSpace, identifier)
        } catch is FormatError {
            return nil
        }
    }

    /// Returns the index entry of an identifier, a key or a collection's key; nil when there is
    /// none.
    package func entry(of identifier: String, in nameSpace: NameSpace) throws -> IndexEntry? {
        try handle(of: identifier, in: nameSpace).map {
            IndexEntry(nameSpace: nameSpace, identifier: identifier, handle: $0, isWhole: true)
        }
    }

    /// Returns what the cache has under a handle.
    package func record(_ handle: Handle) throws -> StoredRecord {
        // Commits remove a deleted long record in steps: some of its chunks may be gone.
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
        // Reads treat a damaged state as none, too.
        let flags = try state(of: handle)?.flags ?? []
        if flags.contains(.tombstone) { return .deleted }
        return flags.contains(.lost) ? .lost : .nothing
    }

    /// Returns what the cache has under an index entry. A record with another identifier is damage:
    /// a read of it is a miss.
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

    /// Returns the references, the stamp and the flags of a record; nil where they are damaged.
    package func state(of handle: Handle) throws -> StateEntry? {
        do {
            return try snapshot.state(keyspaces, of: handle) ?? .default
        } catch is FormatError {
            return nil
        }
    }

    /// Returns the bytes of a record, joined from its chunks; nil if there is none.
    ///
    /// - Throws: A `FormatError` when the chunks can't be joined.
    package func bytes(of handle: Handle) throws -> [UInt8]? {
        guard let first = try snapshot.value(keyspaces.nodes, handle.rawValue) else { return nil }
        // A value that is too damaged to tell counts as a whole record.
        guard let count = try? ByteReader.reading(first, { try Chunks.count(&$0) }) else {
            return first
        }
        return try snapshot.joinedRecord(keyspaces.nodes, handle, chunkCount: count)
    }

    /// Returns the stored values under a handle, each with the number of its chunk.
    package func values(of handle: Handle) throws -> [(number: UInt32, bytes: [UInt8])] {
        var values: [(number: UInt32, bytes: [UInt8])] = []
        try snapshot.forEach(in: keyspaces.nodes, from: handle.rawValue) { key, value in
            let found: (handle: UInt64, chunk: UInt32)? = try ByteReader.reading(key) { key in
                guard key.end == 8 || key.end == 12 else { return nil }
                return (
                    try key.integer(UInt64.self), key.isAtEnd ? 0 : try key.integer(UInt32.self)
                )
            }
            guard let found else { return true }
            guard found.handle == handle.rawValue else { return false }
            values.append(
                (found.chunk, try ByteReader.reading(value) { try $0.bytes(count: $0.end) }))
            return true
        }
        return values
    }

    /// Calls `body` with the bytes of a record and the decompressed record, both valid only during
    /// the call.
    package func decompress<R>(
        _ record: [UInt8], _ body: (ByteReader, DecompressedRecord) throws -> R
    ) throws -> R {
        try ByteReader.reading(record) { stored in
            decompressor.arena.removeAll()
            return try body(
                stored,
                RecordLayout.decompress(stored, by: decompressor, in: decompressor.arena))
        }
    }

    /// Returns the stored bytes of a record, all its chunks together, readable or not; nil if there
    /// is none.
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

    // MARK: - Shapes and dictionaries

    /// Returns what is wrong with a dictionary; nil for an intact one.
    package func problem(ofDictionary number: UInt64) throws -> String? {
        do {
            guard let stored = try snapshot.storedDictionary(keyspaces, number) else {
                return "it is not there"
            }
            return RecordDictionary(stored.bytes) == nil ? "zstd refuses it" : nil
        } catch let error as FormatError {
            return ReadFailure.detail(of: error)
        }
    }

    /// Returns the shape of a number; nil if there is none.
    package func shape(_ number: UInt64) throws -> Shape? {
        try snapshot.storedShape(keyspaces, number)?.shape
    }
}

extension NormalizedCache {
    /// Calls `body` with an inspection of a snapshot that contains the writes submitted before, for
    /// which it waits.
    ///
    /// - Throws: A ``CacheError``, or an error that `body` throws.
    package func inspect<R>(_ body: (Inspection) throws -> R) throws -> R {
        guard !isClosed else { throw CacheError.closed }
        try engine.queue.catchUp()
        do {
            return try engine.inspect { try body(Inspection($0.snapshot, of: $1)) }
        } catch let error where error is LMDBError || error is FormatError {
            throw CacheError(error)
        }
    }
}

/// What a cache has under a handle.
package enum StoredRecord {
    case record(Record)
    /// A tombstone: the record was deleted, and others still refer to it.
    case deleted
    /// The record was found damaged earlier, and removed.
    case lost
    /// The record's bytes can't be decoded.
    case damaged(_ detail: String)
    /// There is no record: a reference to the handle dangles.
    case nothing
}

/// An entry of the index: an identifier or key, and the handle to which it leads.
package struct IndexEntry: Sendable, Hashable {
    package let nameSpace: NameSpace
    /// The identifier, or only its beginning: see `isWhole`.
    package let identifier: String
    /// The handle; 0, which no record has, where the entry is damaged.
    package let handle: Handle
    /// Whether `identifier` is complete. False where it is too long for a key of the index and the
    /// record, which has all of it, can't be read.
    package let isWhole: Bool
    /// The key of the index, where that does not contain the whole identifier. It is the same for
    /// the same identifier, whether the record can be read or not.
    package var longKey: [UInt8]?

    package static func == (a: IndexEntry, b: IndexEntry) -> Bool {
        a.handle == b.handle && a.nameSpace == b.nameSpace && a.isWhole == b.isWhole
            && Identifier(a.identifier) == Identifier(b.identifier)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(handle)
        hasher.combine(Identifier(identifier))
    }
}
