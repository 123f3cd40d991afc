import EspalierLMDB
import EspalierRecords

/// A budget is lowered by moving what is left of the cache into a new generation: a file never
/// becomes shorter.
extension GenerationHolder {
    /// Moves all there is into a generation with another budget.
    ///
    /// Where both do not fit in `room`, the bytes that the directory may come to meanwhile, the old
    /// one goes first and its contents are in memory alone for a moment: a process killed just then
    /// leaves an empty cache.
    ///
    /// Other processes' writes wait meanwhile, and then find the new generation.
    func move(to budget: ByteCount, room: ByteCount) throws {
        try withExclusiveLock { lock in
            let live = try reopen(under: lock)
            // Nobody may write to what is about to be left behind.
            let source = try live.environment.beginWrite()
            let used = try source.pages().used * live.environment.pageSize
            // Others may have written since the caller made room. Nothing is taken away before it
            // is known to fit.
            guard used <= Generation.mapSize(for: budget) * 9 / 10 else { throw DoesNotFit() }
            if directory.byteCount() + used + Generation.sideFiles <= room.bytes {
                try moveBeside(source, of: live, to: budget, under: lock)
            } else {
                try moveThroughMemory(source, of: live, to: budget, under: lock)
            }
        }
    }

    /// What is to be moved is more than the new generation takes.
    struct DoesNotFit: Error {}

    private func moveBeside(
        _ source: consuming WriteTransaction, of live: Generation, to budget: ByteCount,
        under lock: borrowing GuardLock
    ) throws {
        let name = try make(budget, under: lock) { target in
            try GenerationPart.forEach(in: source, of: live.environment) {
                try $0.append(to: target)
            }
        }
        // Before the source ends: who waits to write to it has to find that it is not the live one.
        lock.advanceGeneration()
        try directory.setCurrent(name)
        source.abort()
        install(try open(name, under: lock))
        directory.removeGenerations(except: name)
    }

    private func moveThroughMemory(
        _ source: consuming WriteTransaction, of live: Generation, to budget: ByteCount,
        under lock: borrowing GuardLock
    ) throws {
        var parts: [GenerationPart] = []
        try GenerationPart.forEach(in: source, of: live.environment) { parts.append($0) }
        // Before the source ends: who waits to write to it has to find that it is not the live one.
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

    /// A generation that `body` fills; nobody takes it for one before it is complete. Nothing is
    /// left of it when that fails.
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
