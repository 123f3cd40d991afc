import EspalierLMDB
import EspalierRecords
import Foundation

/// A process that writes to the cache, as its entries in `changes` name it.
struct ChangeAuthor: Sendable, Hashable {
    /// The number of the process, which the system gives to another one later.
    let process: Int32
    /// A number that differs for each opening of a cache.
    let instance: UInt64

    /// Returns the author for one opening of a cache by this process.
    static func ofThisProcess() -> ChangeAuthor {
        ChangeAuthor(
            process: ProcessInfo.processInfo.processIdentifier,
            instance: .random(in: .min ... .max))
    }
}

/// An entry of the keyspace `changes`: what one commit has changed, and who has made it.
///
///     key     = number of the commit (8 bytes), number of the chunk (4 bytes)
///     chunk 0 = count of chunks (varint), slice, check
///     chunk k = slice, check
///     entry   = process (varint), instance (8 bytes), flags (varint: 1 reset, 2 records), written,
///               deleted, evicted, keys (lists of texts), records if the flag is there, and what
///               later versions add
///     records = number of the transaction (varint), changed, dated (lists of handles: count,
///               differences in ascending order, varints)
///
/// The concatenated slices are the entry.
struct StoredChanges {
    let author: ChangeAuthor
    /// As they were made: their origin is that of a reader who has made them itself.
    let changes: ChangeSet
    /// What trees in memory have to know; nil if that is not known, or if it takes too many bytes.
    private(set) var records: CommitHistory.Entry?

    private static let resetFlag: UInt64 = 1
    private static let recordsFlag: UInt64 = 2

    /// Returns the most bytes that `records` takes beside identifiers.
    static func mostRecordBytes(identifiers: Int) -> Int { 16 + 12 * identifiers }

    /// The most bytes of an entry besides its identifiers.
    static let overhead = 40

    /// The bytes of an identifier in an entry.
    static func byteCount(of identifier: String) -> Int { identifier.utf8.count + 3 }

    /// Returns the values of the entry's chunks.
    func chunks(limit: Int) -> [[UInt8]] {
        let entry = bytes
        let sliceLimit = limit - 18
        let count = max(1, (entry.count + sliceLimit - 1) / sliceLimit)
        return (0..<count).map { chunk in
            var writer = ByteWriter(capacity: min(entry.count, sliceLimit) + 18)
            if chunk == 0 { writer.append(varint: UInt64(count)) }
            writer.append(entry[chunk * sliceLimit..<min((chunk + 1) * sliceLimit, entry.count)])
            writer.append(integer: writer.check(seed: Self.seed(changes.commit, chunk)))
            return writer.bytes
        }
    }

    private var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 64)
        writer.append(varint: UInt64(UInt32(bitPattern: author.process)))
        writer.append(integer: author.instance)
        let recordBytes = formOfRecords()
        writer.append(
            varint: (changes.isReset ? Self.resetFlag : 0)
                | (recordBytes == nil ? 0 : Self.recordsFlag))
        for list in [changes.written, changes.deleted, changes.evicted, changes.keys] {
            writer.append(varint: UInt64(list.count))
            for identifier in list {
                writer.append(varint: UInt64(identifier.utf8.count))
                writer.append(utf8: identifier)
            }
        }
        if let recordBytes { writer.append(recordBytes[...]) }
        return writer.bytes
    }

    /// Returns the bytes of `records`; nil if there are none, or too many.
    private func formOfRecords() -> [UInt8]? {
        guard let records else { return nil }
        var writer = ByteWriter(capacity: 64)
        writer.append(varint: records.number)
        for list in [records.changed, records.dated] {
            writer.append(varint: UInt64(list.count))
            var last: UInt64 = 0
            for handle in list.ascending {
                writer.append(varint: handle - last)
                last = handle
            }
        }
        let limit = Self.mostRecordBytes(identifiers: changes.identifierCount)
        return writer.count <= limit ? writer.bytes : nil
    }

    init(
        _ changes: ChangeSet, by author: ChangeAuthor, _ records: CommitHistory.Entry? = nil
    ) {
        self.changes = changes
        self.author = author
        self.records = records
    }

    /// Reads the entry of a commit from its concatenated slices.
    init(reading reader: inout ByteReader, commit: UInt64) throws(FormatError) {
        let process = Int32(truncatingIfNeeded: try reader.varint())
        author = ChangeAuthor(process: process, instance: try reader.integer(UInt64.self))
        var changes = ChangeSet(commit: commit)
        let flags = try reader.varint()
        changes.isReset = flags & Self.resetFlag != 0
        changes.written = try Self.list(&reader)
        changes.deleted = try Self.list(&reader)
        changes.evicted = try Self.list(&reader)
        changes.keys = try Self.list(&reader)
        self.changes = changes
        guard flags & Self.recordsFlag != 0 else { return }
        records = CommitHistory.Entry(
            try reader.varint(), changed: try Self.handles(&reader),
            dated: try Self.handles(&reader),
            keys: Set(changes.keys.lazy.map(Identifier.init)))
    }

    private static func handles(_ reader: inout ByteReader) throws(FormatError) -> HandleList {
        var handles: [Handle] = []
        var last: UInt64 = 0
        for _ in 0..<(try reader.count()) {
            last &+= try reader.varint()
            handles.append(Handle(last))
        }
        return HandleList(handles)
    }

    private static func list(_ reader: inout ByteReader) throws(FormatError) -> [String] {
        var list: [String] = []
        for _ in 0..<(try reader.count()) {
            list.append(try reader.string(count: try reader.count()))
        }
        return list
    }

    fileprivate static func seed(_ commit: UInt64, _ chunk: Int) -> UInt64 {
        (commit &* 0x9E37_79B9_7F4A_7C15) ^ UInt64(chunk)
    }
}

/// The keyspace `changes` as one transaction writes it: a ring of the latest change sets, for the
/// processes that listen.
///
/// A commit writes an entry only while another process listens. The number of each commit is one
/// higher than that of the commit before, whatever process and version of the library makes it. So
/// a number without an entry tells a reader that it does not know what has changed.
struct ChangeRing {
    /// The ring of a transaction to which no process listens.
    static let silent = ChangeRing(
        look: .none, author: ChangeAuthor(process: 0, instance: 0), mapPages: 0, chunkLimit: 0)

    /// What the process saw that looked for listeners.
    let look: ChangeListeners.Look
    private let author: ChangeAuthor
    /// The most pages that the ring takes.
    private let pageLimit: Int
    private let chunkLimit: Int
    private var size = Size()

    /// The pages that an entry changes besides those that it fills: the way to the last entry and
    /// to the first one, and one page that is split.
    private static let changedPages = 7
    /// The most entries that one commit removes from the ring.
    private static let trimLimit = 512

    /// - Parameter mapPages: The pages of the map. The ring takes one of 128, but 4 to 256.
    init(look: ChangeListeners.Look, author: ChangeAuthor, mapPages: Int, chunkLimit: Int) {
        self.look = look
        self.author = author
        self.chunkLimit = chunkLimit
        pageLimit = min(max(mapPages / 128, 4), 256)
    }

    /// The most pages that a single entry fills. A larger one becomes a reset.
    private var entryLimit: Int { max(1, pageLimit / 4) }

    /// Returns the most pages that the entry of `changes` copies and fills. Call it again after
    /// changes were added.
    mutating func pages(for changes: ChangeSet) -> Int {
        guard look.isHeard else { return 0 }
        size.add(changes)
        let bytes =
            size.bytes + StoredChanges.mostRecordBytes(identifiers: changes.identifierCount)
        return Self.changedPages + min(entryLimit, bytes / (chunkLimit - 18) + 1)
    }

    /// Writes the entry of a commit if another process listens. Removes the oldest entries if the
    /// ring takes too many pages.
    ///
    /// - Parameter records: What trees in memory have to know; nil if that is not known.
    mutating func append(
        _ changes: ChangeSet, _ records: @autoclosure () -> CommitHistory.Entry?,
        in transaction: inout WriteTransaction, _ keyspaces: Keyspaces
    ) throws {
        guard look.isHeard else { return }
        size.add(changes)
        var (changes, records) = (changes, records())
        let limit = entryLimit * (chunkLimit - 18)
        if size.bytes > limit {
            let number = changes.commit
            // An identifier takes a length of up to ten bytes, and the entry some bytes of its own.
            let deletedBytes = changes.deleted.reduce(64) { $0 + $1.utf8.count + 10 }
            changes = .reset(
                by: .thisProcess, deleted: deletedBytes <= limit ? changes.deleted : [])
            changes.commit = number
        }
        let recordBytes = StoredChanges.mostRecordBytes(identifiers: changes.identifierCount)
        if size.bytes + recordBytes > limit { records = nil }
        let chunks = StoredChanges(changes, by: author, records).chunks(limit: chunkLimit)
        for (chunk, value) in chunks.enumerated() {
            let key = ChunkKey(changes.commit, UInt32(chunk))
            try Self.store(key, value, in: &transaction, keyspaces)
        }
        try trim(&transaction, keyspaces)
    }

    private static func store(
        _ key: ChunkKey, _ value: [UInt8], in transaction: inout WriteTransaction,
        _ keyspaces: Keyspaces
    ) throws(LMDBError) {
        do {
            try transaction.append(keyspaces.changes, key, value)
        } catch {
            // Damage has left an entry with a higher number.
            guard error.code == .outOfOrder else { throw error }
            try transaction.put(keyspaces.changes, key, value)
        }
    }

    private func trim(
        _ transaction: inout WriteTransaction, _ keyspaces: Keyspaces
    ) throws {
        for _ in 0..<Self.trimLimit {
            let pages = try transaction.statistics(of: keyspaces.changes)
            guard pages.leafPages + pages.overflowPages > pageLimit else { return }
            try transaction.withCursor(keyspaces.changes) { try Self.removeOldest(&$0) }
        }
    }

    /// Removes all chunks of the oldest entry.
    private static func removeOldest(_ cursor: inout Cursor) throws {
        var oldest: UInt64?
        while try cursor.first() {
            let number = cursor.withKey { ChunkKey($0)?.number }
            guard number == oldest || oldest == nil else { return }
            oldest = number ?? .max
            try cursor.deleteCurrent()
        }
    }

    /// Removes all entries, after damage. Listeners then know that they do not know what changed.
    static func removeAll(
        in transaction: inout WriteTransaction, _ keyspaces: Keyspaces
    ) throws {
        try transaction.withCursor(keyspaces.changes) { cursor in
            while try cursor.first() { try cursor.deleteCurrent() }
        }
    }

    /// The bytes of an entry. Lists only grow, apart from `written`, from which a deletion removes
    /// nodes. Their bytes still count then, and those of as many nodes that are added before the
    /// next call do not. So an entry may be longer than forecast if their names are: at worst the
    /// commit runs out of pages, and is repeated after an eviction.
    private struct Size {
        var bytes = StoredChanges.overhead
        private var counted = (written: 0, deleted: 0, evicted: 0, keys: 0)

        mutating func add(_ changes: ChangeSet) {
            counted.written = min(counted.written, changes.written.count)
            add(changes.written[counted.written...])
            add(changes.deleted[counted.deleted...])
            add(changes.evicted[counted.evicted...])
            add(changes.keys[counted.keys...])
            counted = (
                changes.written.count, changes.deleted.count, changes.evicted.count,
                changes.keys.count
            )
        }

        private mutating func add(_ identifiers: ArraySlice<String>) {
            for identifier in identifiers { bytes += StoredChanges.byteCount(of: identifier) }
        }
    }
}

extension ReadableTransaction where Self: ~Copyable {
    /// Calls `body` with each entry of `changes` from the commit `first` on, in the order of
    /// commits, until `body` returns false. The entry is nil if it can't be read.
    func forEachChange(
        _ keyspaces: Keyspaces, from first: UInt64,
        _ body: (_ commit: UInt64, _ entry: StoredChanges?) throws -> Bool
    ) throws {
        var chunks = JoinedChunks()
        try forEach(in: keyspaces.changes, from: ChunkKey(first, 0)) { key, value in
            for (commit, entry) in chunks.add(key, value) {
                guard try body(commit, entry) else {
                    chunks = JoinedChunks()
                    return false
                }
            }
            return true
        }
        if let commit = chunks.unfinished { _ = try body(commit, nil) }
    }

    /// Returns the changes of the commits after `last`, up to `current`; nil if the ring lacks one
    /// of them.
    func changes(
        _ keyspaces: Keyspaces, after last: UInt64, through current: UInt64
    ) throws -> [StoredChanges]? {
        var found: [StoredChanges] = []
        guard last < current else { return found }
        var next = last + 1
        try forEachChange(keyspaces, from: next) { commit, entry in
            guard commit == next, let entry else { return false }
            found.append(entry)
            next += 1
            return next <= current
        }
        return next > current ? found : nil
    }
}

/// Joins the chunks of entries, which come in the order of their keys.
private struct JoinedChunks {
    private var commit: UInt64?
    private var missing = 0
    private var bytes: [UInt8] = []

    /// The commit whose last chunks have not come.
    var unfinished: UInt64? { commit }

    /// Adds a chunk. Returns the entries that end with it or before it; nil for one that can't be
    /// read.
    mutating func add(
        _ key: RawSpan, _ value: RawSpan
    ) -> [(commit: UInt64, entry: StoredChanges?)] {
        var ended: [(commit: UInt64, entry: StoredChanges?)] = []
        guard let key = ChunkKey(key) else { return [(0, nil)] }
        if let commit, commit != key.number {
            ended.append((commit, nil))
            self.commit = nil
        }
        guard key.chunk == 0 || commit == key.number,
            let slice = try? ByteReader.reading(value, { try Self.slice(&$0, key) })
        else {
            commit = nil
            return ended + [(key.number, nil)]
        }
        if key.chunk == 0 { (commit, missing, bytes) = (key.number, slice.count, []) }
        bytes += slice.bytes
        missing -= 1
        guard missing <= 0 else { return ended }
        commit = nil
        let entry = try? ByteReader.reading(bytes) {
            try StoredChanges(reading: &$0, commit: key.number)
        }
        return ended + [(key.number, entry)]
    }

    private static func slice(
        _ reader: inout ByteReader, _ key: ChunkKey
    ) throws(FormatError) -> (count: Int, bytes: [UInt8]) {
        let end = try reader.verifiedEnd(seed: StoredChanges.seed(key.number, Int(key.chunk)))
        let count = key.chunk == 0 ? Int(clamping: try reader.varint()) : 0
        return (count, try reader.bytes(count: end - reader.position))
    }
}

// MARK: - Telling other processes of commits

extension GenerationHolder {
    /// Returns the keyspace `changes` for a write transaction that has begun.
    func ring(in generation: Generation) -> ChangeRing {
        guard let listeners else { return .silent }
        let environment = generation.environment
        return ChangeRing(
            look: listeners.look(), author: author,
            mapPages: environment.mapSize / environment.pageSize,
            chunkLimit: environment.maximumValueSize)
    }

    /// Wakes the processes that listen, after a commit. A process that has begun to listen during
    /// the commit finds no entry, and knows by that what it has missed.
    func announce(_ commit: CommitTransaction) {
        guard let listeners else { return }
        let look = commit.ring.look
        guard look.isHeard ? !commit.changes.isEmpty : listeners.hasGrown(since: look) else {
            return
        }
        listeners.announce()
    }
}
