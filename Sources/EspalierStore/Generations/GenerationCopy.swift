import EspalierLMDB
import EspalierRecords

// The budget is lowered by copying the contents into a new generation, because a file never becomes
// shorter.

extension GenerationHolder {
    /// Moves the contents into a new generation with another budget. Writes of other processes wait
    /// meanwhile, and then find the new generation.
    ///
    /// Deletes the old generation first if the directory has no room for both. The contents are
    /// then in memory only, and a process killed at that moment leaves an empty cache.
    ///
    /// - Parameter room: The most bytes that the directory may take during the move.
    /// - Throws: `DoesNotFit`, with nothing changed, if the contents are too large.
    func move(to budget: ByteCount, room: ByteCount) throws {
        try withExclusiveLock { lock in
            let live = try reopen(under: lock)
            // Keeps other processes from writing to the old generation.
            let source = try live.environment.beginWrite()
            let used = try source.pages().used * live.environment.pageSize
            // Other processes may have written since the caller evicted. Nothing is deleted before
            // it is known to fit.
            guard used <= Generation.mapSize(for: budget) * 9 / 10 else { throw DoesNotFit() }
            if directory.byteCount() + used + Generation.sideFiles <= room.bytes {
                try copyToSecondFile(source, of: live, to: budget, under: lock)
            } else {
                try copyThroughMemory(source, of: live, to: budget, under: lock)
            }
        }
    }

    /// The contents are larger than the new budget allows.
    struct DoesNotFit: Error {}

    private func copyToSecondFile(
        _ source: consuming WriteTransaction, of live: Generation, to budget: ByteCount,
        under lock: borrowing GuardLock
    ) throws {
        let name = try make(budget, under: lock) { target in
            try GenerationPart.forEach(in: source, of: live.environment) {
                try $0.append(to: target)
            }
        }
        // Before the transaction ends, so that writers that wait for it find that the generation is
        // no longer live.
        lock.advanceGeneration()
        try directory.setCurrent(name)
        source.abort()
        install(try open(name, under: lock))
        directory.removeGenerations(except: name)
    }

    private func copyThroughMemory(
        _ source: consuming WriteTransaction, of live: Generation, to budget: ByteCount,
        under lock: borrowing GuardLock
    ) throws {
        var parts: [GenerationPart] = []
        try GenerationPart.forEach(in: source, of: live.environment) { parts.append($0) }
        // Before the transaction ends, so that writers that wait for it find that the generation is
        // no longer live.
        lock.advanceGeneration()
        source.abort()
        abandon(live)
        directory.removeGenerations(except: nil)
        let name = try make(budget, under: lock) { target in
            for part in parts { try part.append(to: target) }
        }
        try directory.setCurrent(name)
        install(try open(name, under: lock))
    }

    /// Creates a generation that `body` fills, and returns its name. No process opens it before it
    /// is complete. Removes it if `body` throws.
    private func make(
        _ budget: ByteCount, under lock: borrowing GuardLock, _ body: (Environment) throws -> Void
    ) throws -> String {
        let unfinished = try directory.makeUnfinished()
        do {
            try fill(unfinished, budget, under: lock, body)
            return try directory.finish(unfinished)
        } catch {
            directory.removeGeneration(unfinished)
            throw error
        }
    }

    private func fill(
        _ name: String, _ budget: ByteCount, under lock: borrowing GuardLock,
        _ body: (Environment) throws -> Void
    ) throws {
        let target = try Environment.open(
            directory: directory.generationPath(name), under: lock, keyspaces: Keyspaces.names,
            options: .init(mapSize: Generation.mapSize(for: budget)))
        defer { target.close() }
        try body(target)
        try Generation.store(budget, in: target)
        try target.sync()
    }
}

/// A part of the contents of a generation: entries of one keyspace, in their order.
struct GenerationPart {
    let keyspace: String
    var entries: [(key: [UInt8], value: [UInt8])] = []
    var byteCount = 0

    /// The bytes of keys and values at which a part ends.
    private static let size = 4 << 20

    /// Calls `body` with all entries that `transaction` sees, some megabytes at a time.
    static func forEach(
        in transaction: borrowing WriteTransaction, of environment: Environment,
        _ body: (GenerationPart) throws -> Void
    ) throws {
        for name in Keyspaces.names {
            var part = GenerationPart(keyspace: name)
            try transaction.forEach(in: environment.keyspace(name)) { key, value in
                let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
                let value = try ByteReader.reading(value) { try $0.bytes(count: $0.end) }
                part.byteCount += key.count + value.count
                part.entries.append((key, value))
                if part.byteCount >= size {
                    try body(part)
                    part = GenerationPart(keyspace: name)
                }
                return true
            }
            if !part.entries.isEmpty { try body(part) }
        }
    }

    /// Appends the entries to a keyspace whose keys all precede them: so pages get full.
    func append(to environment: Environment) throws {
        let keyspace = environment.keyspace(keyspace)
        try environment.write { transaction in
            for entry in entries { try transaction.append(keyspace, entry.key, entry.value) }
        }
    }
}
