import EspalierLMDB
package import EspalierRecords
package import EspalierStore

/// One snapshot of a cache as records instead of models. Tools use it to walk, show and compare
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
/// An inspection changes nothing and counts as no access. While it is open, the cache can't reuse
/// the pages of its snapshot, and writes to a full cache fail. Copy the values that you need, and
/// print them afterwards. An inspection is valid only during the call of `NormalizedCache.inspect`,
/// on the thread of that call.
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

    /// The latest stamp that a commit of the snapshot has given out.
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

    /// Returns the record under a handle, or the reason why there is none.
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
        // A damaged state counts as no state, as in reads.
        let flags = try state(of: handle)?.flags ?? []
        if flags.contains(.tombstone) { return .deleted }
        return flags.contains(.lost) ? .lost : .nothing
    }

    /// Returns the record to which an index entry leads, or the reason why there is none.
    ///
    /// A record with another identifier than the entry's is damage, as in reads.
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
        // If damage hides whether the value is a chunk, the value counts as a whole record.
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

    /// Returns a dictionary, and what is wrong with it; nil for an intact one.
    func dictionary(_ number: UInt64) throws -> (
        stored: StoredDictionary?, usable: RecordDictionary?, problem: String?
    ) {
        do {
            guard let stored = try snapshot.storedDictionary(keyspaces, number) else {
                return (nil, nil, "it is not there")
            }
            let usable = RecordDictionary(stored.bytes)
            return (stored, usable, usable == nil ? "zstd refuses it" : nil)
        } catch let error as FormatError {
            return (nil, nil, ReadFailure.detail(of: error))
        }
    }

    /// Returns the shape of a number; nil if there is none.
    package func shape(_ number: UInt64) throws -> Shape? {
        try snapshot.storedShape(keyspaces, number)?.shape
    }

    // MARK: - Walks

    /// Visits the entries of a name space in the order of their bytes until `body` returns `false`.
    /// Entries whose identifiers are too long for a key come last.
    ///
    /// Visits damaged entries and entries of damaged records, too; `record(of:)` distinguishes
    /// them. In an encrypted cache only the records hold names. Entries of damaged records, and
    /// entries that lead to another record, are then visited first among the nodes, without names.
    ///
    /// - Complexity: O(*n*) in the entries that start with `prefix`. O(*n* log *n*) in the records
    ///   of an encrypted cache.
    package func forEachEntry(
        of nameSpace: NameSpace, startingWith prefix: String = "",
        _ body: (IndexEntry) throws -> Bool
    ) throws {
        guard !keyspaces.hidesNames else {
            return try forEachNamedRecord(of: nameSpace, startingWith: prefix, body)
        }
        for start in IndexKey.ranges(nameSpace, startingWith: prefix) {
            var continues = true
            try snapshot.forEach(in: keyspaces.index, from: start) { key, value in
                let bytes = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
                guard bytes.starts(with: start) else { return false }
                let entry = try entry(key: bytes, nameSpace, value)
                // Where the identifier is cut off, the rest of the prefix may match or not.
                guard !entry.isWhole || entry.identifier.utf8.starts(with: prefix.utf8) else {
                    return true
                }
                continues = try body(entry)
                return continues
            }
            guard continues else { return }
        }
    }

    /// Visits the entries of an encrypted cache in the order of their identifiers. It reads these
    /// from the records, because the keys of the index are hashes.
    private func forEachNamedRecord(
        of nameSpace: NameSpace, startingWith prefix: String,
        _ body: (IndexEntry) throws -> Bool
    ) throws {
        var entries: [(key: [UInt8], entry: IndexEntry)] = []
        try snapshot.forEach(in: keyspaces.index) { key, value in
            let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
            let handle = (try? Handle(stored: value)) ?? Handle(0)
            guard let entry = try namedEntry(key, handle) else {
                guard nameSpace == .node, prefix.isEmpty else { return true }
                entries.append(([], Self.namelessEntry(handle)))
                return true
            }
            guard entry.nameSpace == nameSpace, entry.identifier.utf8.starts(with: prefix.utf8)
            else { return true }
            // The order and the form of the keys that a cache without encryption has.
            entries.append((IndexKey.bytes(nameSpace, entry.identifier), entry))
            return true
        }
        entries.sort { $0.key.lexicographicallyPrecedes($1.key) }
        for (_, entry) in entries {
            guard try body(entry) else { return }
        }
    }

    /// Returns an entry without a name, for a record that can't be read.
    static func namelessEntry(_ handle: Handle) -> IndexEntry {
        IndexEntry(
            nameSpace: .node, identifier: "record \(handle.rawValue)", handle: handle,
            isWhole: false)
    }

    /// Returns the entry under a hashed key; nil if its record can't be read or has another name.
    func namedEntry(_ key: [UInt8], _ handle: Handle) throws -> IndexEntry? {
        guard case .record(let record) = try record(handle),
            keyspaces.indexKey(record.nameSpace, record.identifier) == key
        else { return nil }
        let plain = IndexKey.bytes(record.nameSpace, record.identifier)
        return IndexEntry(
            nameSpace: record.nameSpace, identifier: record.identifier, handle: handle,
            isWhole: true, longKey: plain[0] == IndexKey.longMark ? plain : nil)
    }

    /// Returns the entry under a key of the index or of the pins.
    func entry(key: [UInt8], _ nameSpace: NameSpace, _ value: RawSpan) throws -> IndexEntry {
        let handle = value.byteCount == 8 ? try Handle(stored: value) : Handle(0)
        if key[0] != IndexKey.longMark {
            let identifier = String(decoding: key.dropFirst(), as: UTF8.self)
            return IndexEntry(
                nameSpace: nameSpace, identifier: identifier, handle: handle, isWhole: true)
        }
        // Only the record has the whole identifier, if the entry leads to the right one.
        if case .record(let record) = try record(handle),
            keyspaces.indexKey(nameSpace, record.identifier) == key
        {
            return IndexEntry(
                nameSpace: nameSpace, identifier: record.identifier, handle: handle, isWhole: true,
                longKey: key)
        }
        return IndexEntry(
            nameSpace: nameSpace, identifier: IndexKey.beginning(ofLong: key), handle: handle,
            isWhole: false,
            longKey: key)
    }

    /// Visits every record, segments included, in the order of handles until `body` returns
    /// `false`.
    package func forEachRecord(_ body: (Handle, StoredRecord) throws -> Bool) throws {
        try snapshot.forEachKey(in: keyspaces.nodes, from: [UInt8]()) { key in
            // The keys of a record's further chunks are longer.
            guard key.byteCount == 8 else { return true }
            let handle = try Handle(stored: key)
            // A record with a pending removal may have lost chunks, and no name leads to it.
            if (try? state(of: handle))??.flags.contains(.pendingRemoval) == true { return true }
            return try body(handle, try record(handle))
        }
    }

    /// Visits the roots and the records on cycles, least recently accessed first, until `body`
    /// returns `false`.
    package func forEachRoot(_ body: (Handle, Stamp) throws -> Bool) throws {
        try snapshot.forEach(in: keyspaces.recency) { key, _ in
            guard let pair = KeyPair(key) else { return true }
            if pair.first == 0,
                (try? state(of: Handle(pair.second)))??.flags.contains(.pendingRemoval) == true
            {
                return true
            }
            return try body(Handle(pair.second), Stamp(pair.first))
        }
    }

    /// Returns the bytes of the nodes of each type.
    ///
    /// A node that several types have written counts for each of them, as in the statistics.
    /// Records that can't be read have no type and do not count.
    ///
    /// - Complexity: O(*n*) in the records of the cache.
    package func bytesByType() throws -> [String: TypeBytes] {
        var bytes: [Identifier: TypeBytes] = [:]
        try forEachRecord { handle, stored in
            guard case .record(let record) = stored, record.nameSpace == .node else { return true }
            let storedBytes = try storedByteCount(of: handle) ?? 0
            for type in record.shape.types {
                bytes[Identifier(type), default: .init()].raw += record.rawByteCount
                bytes[Identifier(type), default: .init()].stored += storedBytes
            }
            return true
        }
        return Dictionary(
            bytes.map { ($0.key.string, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: - Reads

    /// Reads an entry from this snapshot as `NormalizedCache` does: a key without an entry stands
    /// for the node of that identifier. The read is no access, and statistics do not count it.
    package func outcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ nameSpace: NameSpace, _ identifier: String, limits: TreeLimits
    ) throws -> ReadOutcome<[Model]> {
        let reader = SnapshotReader(generation: generation, snapshot: snapshot, limits: limits)
        do {
            return try ReadScope.run {
                switch nameSpace {
                case .collection: return try reader.collection(type, forKey: identifier)
                case .key: return try reader.model(type, forKey: identifier).asArray
                case .node, .segment: return try reader.node(type, identifier).asArray
                }
            }
        } catch let reason as MissReason {
            return .miss(reason)
        }
    }
}

extension NormalizedCache {
    /// Calls `body` with an inspection of a snapshot that contains the writes submitted before, for
    /// which it waits.
    ///
    /// - Throws: A ``CacheError``, or an error that `body` throws.
    package func inspect<R>(_ body: (Inspection) throws -> R) throws -> R {
        try withTransaction(.latest) { try body(Inspection($0.snapshot, of: $1)) }
    }
}

extension ReadOutcome {
    fileprivate var asArray: ReadOutcome<[Value]> {
        switch self {
        case .hit(let hit):
            .hit(Hit(value: [hit.value], isCut: hit.isCut, recordCount: hit.recordCount))
        case .miss(let reason): .miss(reason)
        }
    }
}

/// The bytes of the records of a type, before compression and as stored.
package struct TypeBytes: Sendable, Hashable {
    package fileprivate(set) var raw = 0
    package fileprivate(set) var stored = 0
}
