import EspalierLMDB

/// A budget is raised in place: the generation stays, its map grows, and it gets a new number, by
/// which the other processes notice.
extension GenerationHolder {
    /// How long reads under way may take to end when the budget is raised, and when that is tried
    /// again.
    private static let patience = Duration.seconds(5)
    private static let secondPatience = Duration.milliseconds(50)
    private static let pause = Duration.seconds(1)

    /// Raises the budget, for every process. Not from inside of a read, which it would wait for.
    ///
    /// Throws LMDB's `.busy`, with nothing changed, when reads under way do not end in time. A
    /// budget that is not larger than now changes nothing.
    func setBudget(larger budget: ByteCount) throws {
        try withExclusiveLock { lock in
            let live = try reopen(under: lock)
            guard budget > live.budget else { return }
            try live.environment.resize(
                mapSize: Generation.mapSize(for: budget), deadline: Self.patience)
            try live.store(budget)
            install(Generation(live, number: lock.advanceGeneration(), budget: budget))
        }
    }

    /// The same generation under a new number: another process has changed the budget. While reads
    /// are under way that do not end it goes on with the old one, and tries again.
    func follow(_ live: Generation) throws -> Generation {
        // Everybody waits meanwhile, so only the first try takes its time.
        let deadline = live.number == number ? Self.secondPatience : Self.patience
        do {
            let budget = try storedBudget(of: live, deadline: deadline)
            // A budget that was lowered leaves the map as it is.
            try live.environment.resize(
                mapSize: Generation.mapSize(for: budget), deadline: deadline)
            let generation = Generation(live, number: number, budget: budget)
            install(generation)
            return generation
        } catch let error as LMDBError where error.code == .busy || error.code == .outOfMemory {
            let generation = Generation(live, number: number, budget: live.budget)
            install(generation, retry: .now + Self.pause)
            return generation
        } catch let error as LMDBError where error.code == .panic {
            abandon(live)
            throw error
        }
    }

    private func storedBudget(of live: Generation, deadline: Duration) throws -> ByteCount {
        do {
            return try live.storedBudget()
        } catch let error as LMDBError where error.code == .mapResized {
            try live.environment.followMapSize(deadline: deadline)
            return try live.storedBudget()
        }
    }

    /// Another process has written beyond this one's map: nothing can be read before it is as
    /// large.
    func followMap(of generation: Generation) throws {
        do {
            try generation.environment.followMapSize(deadline: Self.patience)
        } catch {
            guard error.code == .busy else { throw error }
            throw CacheError(
                .storage,
                "Another process has raised the budget, which can't be followed while reads are under way. End them sooner.",
                cause: error)
        }
    }
}
