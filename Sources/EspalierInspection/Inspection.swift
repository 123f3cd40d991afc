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
    let stored: StoredRecords
    /// The time of the cache, by which records expire.
    private let now: WriteTime

    init(_ snapshot: Snapshot, of generation: Generation, at now: WriteTime) throws {
        self.snapshot = snapshot
        self.generation = generation
        self.now = now
        keyspaces = generation.keyspaces
        source = try SnapshotSource(snapshot, of: generation)
        stored = try StoredRecords(snapshot, generation)
    }

    /// The latest stamp that a commit of the snapshot has given out.
    package var commit: Stamp {
        get throws { Stamp(try snapshot.counters(keyspaces).stamp) }
    }

    /// The optimistic changes and the operations of outboxes.
    package var pending: PendingCounts {
        get throws { try PendingCounts(in: generation, snapshot) }
    }

    /// Checks the snapshot as `NormalizedCache.verify()` does.
    package func verify() throws -> VerifyReport { try Verifier.verify(snapshot, generation) }

    // MARK: - Single records

    /// Returns the handle of an identifier, a key or a collection's key; nil when there is none, or
    /// when its part of the index is damaged.
    ///
    /// If the record can't be read, it may be that of another identifier with the same beginning.
    package func handle(of identifier: String, in nameSpace: NameSpace) throws -> Handle? {
        guard !identifier.isEmpty else { return nil }
        do {
            guard let handle = try snapshot.handle(keyspaces, nameSpace, identifier) else {
                return nil
            }
            guard case .record(let record) = try record(handle) else { return handle }
            let isSame =
                record.nameSpace == nameSpace
                && Identifier(record.identifier) == Identifier(identifier)
            return isSame ? handle : nil
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
        // Commits remove a long record in steps: some of its chunks may be gone.
        if let flags = try state(of: handle)?.flags, flags.contains(.pendingRemoval) {
            return flags.contains(.lost) ? .lost : .deleted
        }
        do {
            if let record = try stored.record(handle) { return .record(record) }
        } catch let error as FormatError {
            // The frame may have other records only.
            let isGivenOut = try handle.rawValue < snapshot.counters(keyspaces).nextHandle
            return try absence(of: handle) ?? (isGivenOut ? damage(error) : .nothing)
        }
        return try absence(of: handle) ?? .nothing
    }

    private func damage(_ error: FormatError) -> StoredRecord {
        .damaged(ReadFailure.detail(of: error))
    }

    /// Returns why a record is not there by its state; nil if its state does not tell.
    private func absence(of handle: Handle) throws -> StoredRecord? {
        // A damaged state counts as no state, as in reads.
        let flags = try state(of: handle)?.flags ?? []
        if flags.contains(.tombstone) { return .deleted }
        return flags.contains(.lost) ? .lost : nil
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

    /// Returns how long ago a record was written, and how long it still counts as fresh; nil if the
    /// cache does not know when that was.
    package func age(of state: StateEntry) -> RecordAge? {
        guard let writtenAt = state.writtenAt else { return nil }
        let age = Int64(clamping: now.rawValue) - Int64(clamping: writtenAt.rawValue)
        return RecordAge(
            sinceWrite: .seconds(max(0, age)),
            // A record may be dated in the future, and have any maximum age.
            untilExpiry: state.expiry.map { maximum in
                let (rest, isTooLong) = Int64(clamping: maximum).subtractingReportingOverflow(age)
                return .seconds(isTooLong ? .max : rest)
            })
    }

    /// Returns the bytes that a record takes: its share of a frame, or its chunks, readable or not;
    /// nil if there is none.
    package func storedByteCount(of handle: Handle) throws -> Int? {
        if let record = try? stored.record(handle) { return record.storedByteCount }
        let bytes = try snapshot.longByteCount(keyspaces, handle)
        if bytes > 0 { return bytes }
        guard case .damaged = try record(handle) else { return nil }
        return try stored.frameSize(around: handle).map { $0.byteCount / max(1, $0.count) }
    }

    /// Returns the bytes of a record, decompressed; nil if there is none.
    ///
    /// - Throws: A `FormatError` if it can't be read.
    package func bytes(of handle: Handle) throws -> [UInt8]? {
        guard case .found(let reader, let owner) = try source.record(handle) else { return nil }
        return try withExtendedLifetime(owner) {
            var reader = reader
            return try reader.bytes(count: reader.end)
        }
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
    /// Visits entries of damaged records, too; `record(of:)` distinguishes them. The index holds
    /// only the beginnings of most of their identifiers. In an encrypted cache it holds nothing of
    /// them: such entries are then visited first among the nodes, without names.
    ///
    /// - Complexity: O(*n*) in the entries that start with `prefix`, with a look-up for each.
    ///   O(*n* log *n*) in the records of an encrypted cache.
    package func forEachEntry(
        of nameSpace: NameSpace, startingWith prefix: String = "",
        _ body: (IndexEntry) throws -> Bool
    ) throws {
        guard !keyspaces.hidesNames else {
            return try forEachNamedRecord(of: nameSpace, startingWith: prefix, body)
        }
        for start in IndexKey.ranges(nameSpace, startingWith: prefix) {
            var continues = true
            try snapshot.forEachIndexEntry(keyspaces, from: start) { key in
                guard key.bytes.starts(with: start) || key.matches(start) else {
                    // The first group begins before the range.
                    return key.bytes.lexicographicallyPrecedes(start)
                }
                let entry = try entry(key, nameSpace)
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
        try snapshot.forEachIndexEntry(keyspaces) { key in
            guard let entry = try namedEntry(key) else {
                guard nameSpace == .node, prefix.isEmpty else { return true }
                entries.append(([], Self.namelessEntry(key.handle)))
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
            isWhole: false, isNameless: true)
    }

    /// Returns an entry with the name of its record; nil if the record can't be read or has another
    /// name.
    func namedEntry(_ key: IndexEntryKey) throws -> IndexEntry? {
        guard case .record(let record) = try record(key.handle), record.nameSpace != .segment,
            key.matches(keyspaces.indexKey(record.nameSpace, record.identifier))
        else { return nil }
        let plain = IndexKey.bytes(record.nameSpace, record.identifier)
        return IndexEntry(
            nameSpace: record.nameSpace, identifier: record.identifier, handle: key.handle,
            isWhole: true, longKey: plain[0] == IndexKey.longMark ? plain : nil)
    }

    /// Returns an entry of the index or of the pins of a cache without encryption.
    func entry(_ key: IndexEntryKey, _ nameSpace: NameSpace) throws -> IndexEntry {
        let isLong = key.bytes.first == IndexKey.longMark
        if key.isWhole, !isLong {
            return IndexEntry(
                nameSpace: nameSpace,
                identifier: String(decoding: key.bytes.dropFirst(), as: UTF8.self),
                handle: key.handle, isWhole: true)
        }
        // Only the record has the whole identifier, if the entry leads to the right one.
        if let named = try namedEntry(key) { return named }
        return IndexEntry(
            nameSpace: nameSpace, identifier: IndexKey.beginning(of: key.bytes),
            handle: key.handle, isWhole: false, longKey: isLong ? key.bytes : nil)
    }

    /// Returns the roots that have reached their maximum age, by handle. They are evicted before
    /// all others.
    ///
    /// - Complexity: O(*n*) in the records that have a state of their own; O(1) if no record has a
    ///   maximum age.
    package func expiredRoots() throws -> [Handle] {
        try snapshot.expiredRoots(keyspaces, at: now)
    }

    /// Visits the roots and the records on cycles, least recently accessed first, until `body`
    /// returns `false`.
    package func forEachRoot(_ body: (Handle, Stamp) throws -> Bool) throws {
        try snapshot.forEachRecencyEntry(keyspaces) { entry in
            if entry.stamp == .never,
                (try? state(of: entry.handle))??.flags.contains(.pendingRemoval) == true
            {
                return true
            }
            return try body(entry.handle, entry.stamp)
        }
    }

    /// Returns the bytes and the ages of the nodes of each type.
    ///
    /// A node that several types have written counts for each of them, as in the statistics.
    /// Records that can't be read have no type and do not count.
    ///
    /// - Complexity: O(*n*) in the records of the cache.
    package func contentsByType() throws -> [String: TypeContents] {
        var contents: [Identifier: TypeContents] = [:]
        try forEachRecord { handle, stored in
            guard case .record(let record) = stored, record.nameSpace == .node else { return true }
            let storedBytes = try storedByteCount(of: handle) ?? 0
            let age = try state(of: handle).flatMap(age)
            for type in record.shape.types {
                contents[Identifier(type), default: .init()].add(
                    raw: record.rawByteCount, stored: storedBytes, age)
            }
            return true
        }
        return Dictionary(
            contents.map { ($0.key.string, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: - Reads

    /// Reads an entry from this snapshot as `NormalizedCache` does: a key without an entry stands
    /// for the node of that identifier. The read is no access, and statistics do not count it.
    package func outcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ nameSpace: NameSpace, _ identifier: String, limits: TreeLimits
    ) throws -> ReadOutcome<[Model]> {
        let reader = SnapshotReader(generation: generation, snapshot: snapshot, limits: limits)
        do {
            return try AppCodeScope.run {
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
        try withTransaction(.latest) {
            // `now` is read inside the transaction, because the first one sets the clock to the
            // stored time.
            try body(Inspection($0.snapshot, of: $1, at: now))
        }
    }
}

extension ReadOutcome {
    fileprivate var asArray: ReadOutcome<[Value]> {
        switch self {
        case .hit(let hit):
            .hit(hit.map { [$0] })
        case .miss(let reason): .miss(reason)
        }
    }
}

/// The age of a record, to the second.
package struct RecordAge: Sendable, Hashable {
    package let sinceWrite: Duration
    /// How long the record still counts as fresh: nil if it never expires, negative if it has
    /// expired.
    package let untilExpiry: Duration?

    /// As reads decide it: a record expires in the second in which it reaches its maximum age.
    package var isExpired: Bool { untilExpiry.map { $0 <= .zero } ?? false }
}

/// The records of a type: their bytes, before compression and as stored, and their ages.
package struct TypeContents: Sendable, Hashable {
    package private(set) var raw = 0
    package private(set) var stored = 0
    /// The age of the record that was written longest ago; nil if the cache knows the age of none.
    package private(set) var oldest: Duration?
    package private(set) var expired = 0

    fileprivate mutating func add(raw: Int, stored: Int, _ age: RecordAge?) {
        self.raw += raw
        self.stored += stored
        guard let age else { return }
        oldest = max(oldest ?? .zero, age.sinceWrite)
        if age.isExpired { expired += 1 }
    }
}
