import EspalierEncryption
import EspalierLMDB
import EspalierRecords

// The contents are copied into a new generation for three reasons: to lower the budget, because a
// file never becomes shorter; to change the key; and to get rid of the bytes of deleted records,
// which stand in free pages of the old file.

extension GenerationHolder {
    /// Copies the contents into a new generation, and deletes the old one. Writes of other
    /// processes wait meanwhile, and then find the new generation.
    ///
    /// Deletes the old generation first if the directory has no room for both. The contents are
    /// then in memory only. A kill at that moment leaves an empty cache, and nobody is told. If the
    /// new file can't be written, an empty generation begins, and `ContentsLost` is thrown.
    ///
    /// - Parameters:
    ///   - budget: The budget of the new generation, or nil to keep that of the old one.
    ///   - room: The most bytes that the directory may take during the move.
    ///   - throughMemory: Whether the old generation may be deleted first.
    ///   - newKey: The key of the new generation, or nil to keep the keys of the old one.
    /// - Returns: How many names were lost, because their record can't be read. Names are lost only
    ///   with a new key.
    /// - Throws: `DoesNotFit`, with nothing changed, if the contents take more than nine tenths of
    ///   a smaller budget, or if both files do not fit in `room` and `throughMemory` is false.
    ///   `ContentsLost` if the new file could not be written after the old one was deleted.
    @discardableResult
    func move(
        to budget: ByteCount?, room: ByteCount, throughMemory: Bool = true,
        newKey: Encryption? = nil
    ) throws -> Int {
        try withExclusiveLock { lock in
            let live = try reopen(under: lock)
            let budget = budget ?? live.budget
            let copy = try GenerationCopy(of: live, newKey: newKey)
            // Keeps other processes from writing to the old generation.
            let source = try live.environment.beginWrite()
            let used = try source.pages().used * live.environment.pageSize
            // Other processes may have written since the caller evicted. Nothing is deleted before
            // it is known to fit.
            let isSmaller = budget < live.budget
            guard !isSmaller || used <= Generation.mapSize(for: budget) * 9 / 10 else {
                throw DoesNotFit()
            }
            let left = room.bytes - directory.byteCount() - Generation.sideFiles
            if used + Self.copiedPages * live.environment.pageSize <= left {
                try copyToSecondFile(source, of: live, copy, to: budget, left, under: lock)
            } else {
                guard throughMemory else { throw DoesNotFit() }
                try copyThroughMemory(source, of: live, copy, to: budget, under: lock)
            }
            return copy.lostNames
        }
    }

    /// The contents, or both files together, are too large.
    struct DoesNotFit: Error {}

    /// The cache is empty: its contents were in memory only, and could not be written.
    struct ContentsLost: Error {
        let cause: any Error
    }

    /// The most pages that a copy has beyond those in use. In the order of keys the contents take
    /// no more pages than before. But a copy is several transactions, and each frees some pages of
    /// the one before: five or six pages are free in the end.
    private static let copiedPages = 12

    /// - Parameter limit: The most bytes of the new file.
    private func copyToSecondFile(
        _ source: consuming WriteTransaction, of live: Generation, _ copy: GenerationCopy,
        to budget: ByteCount, _ limit: Int, under lock: borrowing GuardLock
    ) throws {
        let name: String
        do {
            name = try make(budget, limit, copy, under: lock) { target in
                try copy.forEachPart(in: source) { try $0.append(to: target) }
            }
        } catch let error as LMDBError where error.code == .mapFull {
            throw DoesNotFit()
        }
        // Before the transaction ends, so that writers that wait for it find that the generation is
        // no longer live.
        lock.advanceGeneration()
        try directory.setCurrent(name)
        // The end of the transaction marks the old file.
        source.abort()
        lock.markDataFile(in: directory.generationPath(name))
        install(try open(name, under: lock))
        directory.removeGenerations(except: name)
    }

    private func copyThroughMemory(
        _ source: consuming WriteTransaction, of live: Generation, _ copy: GenerationCopy,
        to budget: ByteCount, under lock: borrowing GuardLock
    ) throws {
        var parts: [GenerationPart] = []
        try copy.forEachPart(in: source) { parts.append($0) }
        let loss = Loss(reason: .copyFailed, lifetime: live.lifetimeCounters)
        // Before the transaction ends, so that writers that wait for it find that the generation is
        // no longer live.
        lock.advanceGeneration()
        source.abort()
        abandon(live)
        directory.removeGenerations(except: nil, and: live.name)
        let name: String
        do {
            name = try make(budget, .max, copy, under: lock) { target in
                for part in parts { try part.append(to: target) }
            }
        } catch {
            // A retry would find no generation, begin an empty one, and succeed.
            beginAnew(after: loss, of: live, under: lock)
            throw ContentsLost(cause: error)
        }
        try directory.setCurrent(name)
        install(try open(name, under: lock))
    }

    /// Creates a generation that `body` fills, and returns its name. No process opens it before it
    /// is complete. Removes it if `body` throws.
    private func make(
        _ budget: ByteCount, _ limit: Int, _ copy: GenerationCopy,
        under lock: borrowing GuardLock, _ body: (Environment) throws -> Void
    ) throws -> String {
        let unfinished = try directory.makeUnfinished()
        do {
            try fill(unfinished, budget, limit, copy, under: lock, body)
            return try directory.finish(unfinished)
        } catch {
            directory.removeGeneration(unfinished)
            throw error
        }
    }

    private func fill(
        _ name: String, _ budget: ByteCount, _ limit: Int, _ copy: GenerationCopy,
        under lock: borrowing GuardLock, _ body: (Environment) throws -> Void
    ) throws {
        let target = try Environment.open(
            directory: directory.generationPath(name), under: lock, keyspaces: Keyspaces.names,
            // `sync` stores all at once in the end. No process uses the generation before.
            options: .init(
                mapSize: min(Generation.mapSize(for: budget), limit / 4_096 * 4_096),
                durability: .noSync))
        defer { target.close() }
        if let keys = copy.keys { GenerationEncryption.protect(target, with: keys.sealer) }
        try body(target)
        try Generation.store(budget, in: target)
        try target.sync()
    }
}

/// Reads the contents of a generation for a copy, and replaces what differs in the new generation.
///
/// The old environment decrypts the values that are read, and the new one encrypts them. With a new
/// key, the keys of `index` and `pins` change, too: they are hashes of names, and only the records
/// have the names themselves. The name of a record that can't be read is lost.
final class GenerationCopy {
    // immutable
    private let live: Generation
    /// The keys of the new generation; nil if it is not encrypted.
    let keys: GenerationEncryption?
    private let hasNewKeys: Bool

    // confined to the thread that copies
    /// The records whose names are lost.
    private var nameless: Set<Handle> = []

    init(of live: Generation, newKey: Encryption?) throws(CacheError) {
        self.live = live
        hasNewKeys = newKey != nil
        keys = if let newKey { try GenerationEncryption(new: newKey) } else { live.encryption }
    }

    /// The number of names that could not be copied.
    var lostNames: Int { nameless.count }

    /// Calls `body` with all entries that `transaction` sees, some megabytes at a time, each
    /// keyspace in the order of its keys.
    func forEachPart(
        in transaction: borrowing WriteTransaction, _ body: (GenerationPart) throws -> Void
    ) throws {
        for name in Keyspaces.names {
            var part = GenerationPart(keyspace: name)
            func add(_ key: [UInt8], _ value: [UInt8]) throws {
                part.append(key, value)
                guard part.isFull else { return }
                try body(part)
                part = GenerationPart(keyspace: name)
            }
            let keyspace = live.environment.keyspace(name)
            if hasNewKeys, name == "index" {
                var writer = IndexGroupWriter()
                let names = try renamed(indexedHandles(transaction), transaction)
                try writer.pack(names, limit: groupLimit, add)
            } else if hasNewKeys, name == "pins" {
                let names = try renamed(transaction.pinnedHandles(live.keyspaces), transaction)
                for name in names { try add(name.key, name.handle.storedBytes) }
            } else {
                try transaction.forEach(in: keyspace) { key, value in
                    let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
                    let value = try ByteReader.reading(value) { try $0.bytes(count: $0.end) }
                    try add(key, try replaced(name, key, value))
                    return true
                }
            }
            if !part.entries.isEmpty { try body(part) }
        }
    }

    /// The most bytes of a group of the index in the new generation.
    private var groupLimit: Int {
        let own = live.environment.pageSize - 16
        return keys == nil ? own : own - Sealer.overhead
    }

    private func indexedHandles(_ transaction: borrowing WriteTransaction) throws -> [Handle] {
        var handles: [Handle] = []
        try transaction.forEachIndexEntry(live.keyspaces) { entry in
            handles.append(entry.handle)
            return true
        }
        return handles
    }

    /// Returns the new keys of the names of records, in their order.
    private func renamed(
        _ handles: [Handle], _ transaction: borrowing WriteTransaction
    ) throws -> [IndexChange] {
        guard let sealer = keys?.sealer else { return [] }
        let snapshot = transaction.snapshot
        let stored = try StoredRecords(snapshot, live)
        var entries: [IndexChange] = []
        for handle in handles {
            do {
                if let record = try stored.record(handle) {
                    let name = IndexKey.bytes(record.nameSpace, record.identifier)
                    entries.append(IndexChange(key: sealer.hash(name), handle: handle))
                } else {
                    nameless.insert(handle)
                }
            } catch is FormatError {
                nameless.insert(handle)
            }
        }
        entries.sort { $0.key.precedes($1.key) }
        // Damage may have left two entries of one record.
        var last: [UInt8]?
        return entries.filter { entry in
            defer { last = entry.key }
            return entry.key != last
        }
    }

    /// Returns the value that the new generation has in place of an entry's.
    private func replaced(_ keyspace: String, _ key: [UInt8], _ value: [UInt8]) throws -> [UInt8] {
        guard hasNewKeys, let keys else { return value }
        switch keyspace {
        case "info" where key == GenerationEncryption.headerKey: return keys.headerValue
        case "state" where !nameless.isEmpty:
            guard let key = try? Handle(stored: key),
                var group = try? ByteReader.reading(
                    value, { try StateGroup(reading: &$0, key: key) })
            else { return value }
            group.change { handle, state in
                if nameless.contains(handle), state.flags.contains(.lost) {
                    state.flags.insert(.nameless)
                }
            }
            return group.bytes
        default: return value
        }
    }
}

/// A part of the contents of a generation: entries of one keyspace, in their order.
struct GenerationPart {
    let keyspace: String
    var entries: [(key: [UInt8], value: [UInt8])] = []
    var byteCount = 0

    /// The bytes of keys and values at which a part ends.
    private static let size = 4 << 20

    var isFull: Bool { byteCount >= Self.size }

    mutating func append(_ key: [UInt8], _ value: [UInt8]) {
        byteCount += key.count + value.count
        entries.append((key, value))
    }

    /// Appends the entries to a keyspace whose keys all precede theirs, which fills its pages.
    func append(to environment: Environment) throws {
        let keyspace = environment.keyspace(keyspace)
        try environment.write { transaction in
            for entry in entries { try transaction.append(keyspace, entry.key, entry.value) }
        }
    }
}
