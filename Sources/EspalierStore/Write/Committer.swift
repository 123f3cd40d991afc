import EspalierLMDB
import EspalierRecords
import Synchronization

/// Commits groups of operations, and does background work between them.
///
/// `CommitTransaction.run` is one attempt; `CommitPolicy` decides what follows a failed one.
/// Confined to the thread that commits, except where a comment says otherwise. `WriterThread` lets
/// one thread at a time commit.
final class Committer: Sendable {
    // immutable
    let generations: GenerationHolder
    let logs: CommitLogs
    let training: TrainingScheduler
    let room: RoomMaker
    let compression: Compression
    private let compressor: BlockCompressor?
    /// Sends the changes of each commit, and those of other processes, to the subscribers.
    let feed: ChangeFeed?
    /// The trees in memory, which have to know what each commit changes.
    let memory: MemoryTier?
    /// Receives the changes of each commit, in the order of the commits.
    let onCommit: @Sendable (ChangeSet, Timeline) -> Void

    // protected by `state`; other threads than the one that commits change only `damaged`
    struct State {
        var tables: CommittedTables?
        /// The generation and the transaction after which `tables` were saved.
        var asOf: (generation: String, transaction: UInt64)?
        /// Whether the last commit has left records to evict or to remove.
        var hasMoreToEvict = false
        /// The most steps of an eviction in the background. Fewer after one that ran out of pages.
        var backgroundSteps = Int.max
        /// When to try again an eviction in the background that could not begin.
        var evictionRetry: ContinuousClock.Instant?
        /// How long to wait for the next such attempt. Doubled with each one that fails.
        var evictionDelay = Committer.firstEvictionDelay
        /// Whether the last commit found nothing that it could evict.
        var isExhausted = false
        /// The generation whose file a read found damaged.
        var damaged: Generation?
        var upkeep = FileUpkeep()
        /// When the files were last seen in their place; nil after they were found missing.
        var lastSeen: ContinuousClock.Instant? = .now
        /// The name of the generation whose files are gone and could not be replaced yet.
        var missingGeneration: String?
        /// When to ask for more room on a disk that was full.
        var diskRetry: ContinuousClock.Instant?
        var groupBytes = PagePlan(capacity: 256).groupBytes
        /// The most writes that are committed together. Few until a commit has counted its pages.
        var groupCount = PagePlan.firstGroupCount
        /// The pages that writes take in a cache that is nearly full; 0 if it is not.
        var usualPages = 0
    }
    let state = Mutex(State())

    /// The limits of `evictionDelay`. Most reads that hold pages end within milliseconds. For a
    /// read that stays open, the writer wakes once a minute.
    private static let firstEvictionDelay = Duration.milliseconds(10)
    private static let longestEvictionDelay = Duration.seconds(60)

    init(
        _ generations: GenerationHolder, _ statistics: StatisticsRecorder,
        _ compression: Compression, feed: ChangeFeed? = nil, memory: MemoryTier? = nil,
        wakeWriter: @escaping @Sendable () -> Void,
        onCommit: @escaping @Sendable (ChangeSet, Timeline) -> Void
    ) {
        self.generations = generations
        self.feed = feed
        self.memory = memory
        self.onCommit = onCommit
        logs = CommitLogs(statistics)
        self.compression = compression
        compressor = BlockCompressor(compression)
        training = TrainingScheduler(compression, wakeWriter: wakeWriter)
        room = RoomMaker()
        followFile()
    }

    /// Ends the background threads.
    func close() {
        logs.cycleCollector.close()
        training.close()
    }

    /// The most bytes of writes that are committed together. Safe from every thread.
    var groupBytes: Int { state.withLock { $0.groupBytes } }

    /// The most writes that are committed together: fewer in a small cache that has been full, see
    /// `PagePlan.groupCount`. Safe from every thread.
    var groupCount: Int { state.withLock { $0.groupCount } }

    /// The number of pins in the generation of the last commit.
    var pinCount: Int { state.withLock { $0.tables?.pinned.pins ?? 0 } }

    /// Whether the generation of the last commit had optimistic changes or operations of outboxes.
    var hasLayerEntries: Bool { state.withLock { ($0.tables?.pinned.layerEntries ?? 0) > 0 } }

    /// Whether the last commit found nothing that it could evict.
    var isExhausted: Bool { state.withLock { $0.isExhausted } }

    /// Notes that a read found the file of a generation damaged: the writer replaces it. Safe from
    /// every thread.
    func addDamage(in generation: Generation) { state.withLock { $0.damaged = generation } }

    // MARK: - Commits

    /// Commits operations together, or one by one if the group fails. Calls `result` with the index
    /// and the result of each.
    func commit(
        _ operations: [WriteOperation], result: (Int, Result<Void, CacheError>) -> Void
    ) {
        guard !operations.isEmpty else { return }
        var attempts = CommitPolicy.Attempts(operationCount: operations.count)
        while true {
            var generation: Generation?
            do {
                let current = try generations.current()
                generation = current
                liftDiskLimit(of: current)
                try perform(operations, in: current, &attempts)
                try replaceMissingFiles(looksNow: operations[0].isBarrier)
                for index in operations.indices { result(index, .success(())) }
                return
            } catch {
                let isLimited = generation?.environment.isLimitedToFile == true
                let step = CommitPolicy.step(
                    after: .init(error, isLimitedToFile: isLimited), attempts)
                attempts.add(step)
                do {
                    switch step {
                    case .retry, .retryOnce: continue
                    case .limitToFile: try limitToFile(generation, after: error)
                    case .reopen: try generation.map { try generations.recover($0, from: error) }
                    case .newGeneration(let reason): try replace(generation, because: reason)
                    case .oneByOne: return commitOneByOne(operations, result: result)
                    // `commitMakingRoom` makes room itself. Other operations fail if pages run out.
                    case .makeRoom, .fail: throw error
                    }
                } catch {
                    var reason = explained(error, in: generation)
                    if error is LMDBError {
                        // If the files are gone, that is the reason.
                        do {
                            try replaceMissingFiles(looksNow: true)
                        } catch let gone {
                            reason = gone
                        }
                    }
                    for index in operations.indices { result(index, .failure(reason)) }
                    return
                }
            }
        }
    }

    /// Commits each operation by itself, after they have failed together.
    private func commitOneByOne(
        _ operations: [WriteOperation], result: (Int, Result<Void, CacheError>) -> Void
    ) {
        // Why this operation and all after it fail.
        var common: CacheError?
        for (index, operation) in operations.enumerated() {
            if let common {
                result(index, .failure(common))
                continue
            }
            commit([operation]) { _, outcome in
                if case .failure(let error) = outcome, error.failsAllThatWait { common = error }
                result(index, outcome)
            }
        }
    }

    /// Commits operations together. Throws the first error if any of them fails.
    func commit(_ operations: [WriteOperation]) throws(CacheError) {
        var failure: CacheError?
        commit(operations) { _, result in
            if case .failure(let error) = result { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    private func perform(
        _ operations: [WriteOperation], in generation: Generation,
        _ attempts: inout CommitPolicy.Attempts
    ) throws {
        switch operations[0] {
        case .reset: try replace(because: .emptied)
        case .trim(let bytes):
            let available = max(0, max(0, bytes.bytes) - Generation.sideFiles)
            try room.trim(
                to: available / generation.environment.pageSize, .explicit, in: generation, self)
        case .setBudget(let budget, let mayExceed): try setBudget(budget, mayExceed: mayExceed)
        case .collectCycles: try collectCycles(generation)
        case .compact(let mayExceed): try compact(generation, mayExceed: mayExceed)
        case .repairAll: try repair(generation)
        case .barrier: try generation.environment.sync()
        default: try commitMakingRoom(operations, in: generation, &attempts)
        }
    }

    /// Commits operations in one transaction. Makes room and retries if the transaction runs out of
    /// pages. Throws every other error.
    func commitMakingRoom(
        _ operations: [WriteOperation], in generation: Generation,
        _ attempts: inout CommitPolicy.Attempts
    ) throws {
        defer { logs.endProtection() }
        var needed = 0
        var ranOut = false
        while true {
            do {
                if attempts.roomMade == 0 { try prepareRoom(for: operations, in: generation) }
                // Only the first attempt clears damaged records, so that they can't make a write
                // fail.
                let isFirst = attempts.roomMade == 0
                try commitOnce(
                    .init(operations: operations, clearsDamage: isFirst), in: generation)
                if ranOut { logs.statistics.countMapFull() }
                return
            } catch {
                let step = CommitPolicy.step(after: .init(error), attempts)
                guard case .makeRoom(let pages) = step else {
                    // Room was made as often as it may be. `full` blames the pins if there are any.
                    guard case .outOfPages = CommitPolicy.Failure(error) else { throw error }
                    throw room.full(generation, self)
                }
                attempts.add(step)
                if let pages {
                    let most = try RoomMaker.mostPages(of: generation)
                    needed = max(pages, min(most, needed + max(16, needed / 2)))
                } else {
                    // LMDB does not say how many pages the transaction needed.
                    ranOut = true
                    let isLast = attempts.roomMade == CommitPolicy.roomLimit
                    needed = try RoomMaker.pages(
                        for: operations, moreThan: needed, makingAll: isLast, in: generation)
                }
                do {
                    logs.protectTargets(of: operations, in: generation)
                    try room.make(pages: needed, in: generation, self)
                } catch let error where RoomMaker.isOutOfPages(error) {
                    // Making room has run out of pages itself.
                    throw room.full(generation, self)
                }
            }
        }
    }

    /// Makes room for a write as large as the last ones, so that few writes fail and are repeated.
    /// If there is no room, the write finds out.
    private func prepareRoom(
        for operations: [WriteOperation], in generation: Generation
    ) throws {
        let usual = state.withLock { $0.usualPages }
        guard usual > 0, !operations.allSatisfy(\.mayUseReserve) else { return }
        let free = try RoomMaker.freePages(of: generation)
        // The write may fit without the pages that a read holds.
        guard free.held == 0, free.allocatable < usual else { return }
        do {
            logs.protectTargets(of: operations, in: generation)
            try room.make(pages: usual, in: generation, self)
        } catch is CacheError {
        } catch is BudgetDeadlock {
        } catch let error where RoomMaker.isOutOfPages(error) {}
    }

    func commitMakingRoom(_ operations: [WriteOperation], in generation: Generation) throws {
        var attempts = CommitPolicy.Attempts(operationCount: 1)
        try commitMakingRoom(operations, in: generation, &attempts)
    }

    /// Runs one transaction and publishes its changes in memory. Returns what it has evicted.
    @discardableResult
    func commitOnce(
        _ request: CommitTransaction.Request, in generation: Generation
    ) throws -> EvictionProgress {
        let start = ContinuousClock.now
        var request = request
        request.reservesFile = state.withLock { $0.diskRetry.map { $0 <= start } ?? true }
        defer {
            feed?.cancelCommit()
            memory?.cancelCommit(in: generation)
        }
        let outcome = try CommitTransaction.run(
            request, in: generation, of: generations, logs, compressor
        ) { transaction in
            feed?.beginCommit()
            memory?.beginCommit(in: generation)
            return state.withLock { state in
                // If the numbers are consecutive, no other process has written in between.
                let isNext = state.asOf.map { $0 == (generation.name, transaction - 1) } ?? false
                return isNext ? state.tables : nil
            }
        }
        let commit = outcome.transaction
        let entry = outcome.historyEntry
        memory?.endCommit(
            outcome.number, in: generation, entry, after: commit.changes.commit &- 1)
        generations.announce(commit)
        publish(outcome)
        logs.statistics.countCommit(took: .now - start)
        feed?.endCommit(commit.changes, in: generation)
        // Last, because it runs code of the app.
        memory?.keep(commit.keptWrites, of: outcome, entry)
        if !commit.changes.isEmpty { onCommit(commit.changes, commit.lifetime.timeline) }
        return outcome.evictor.progress
    }

    /// Publishes the changes of a successful commit in memory.
    private func publish(_ outcome: CommitTransaction.Outcome) {
        let commit = outcome.transaction
        let generation = commit.generation
        for (restoration, handles, written) in commit.restorations {
            restoration.add(handles, written: written, in: generation)
        }
        commit.pins.publish()
        let environment = generation.environment
        let plan = PagePlan(capacity: environment.mapSize / environment.pageSize)
        state.withLock { state in
            state.tables = CommittedTables(
                shapes: commit.shapes, dictionaries: commit.dictionaries,
                pinned: commit.pins.known, lifetime: commit.lifetime,
                verified: commit.index.verified, layers: commit.layers,
                knownCycles: commit.knownCycles, keptByPins: commit.keptByPins,
                nextExpiryGroup: commit.expiryScan.next)
            state.asOf = (generation.name, outcome.number)
            state.hasMoreToEvict = outcome.evictor.hasMoreToEvict
            if !outcome.evictor.progress.couldNotBegin {
                state.evictionRetry = nil
                state.evictionDelay = Self.firstEvictionDelay
            }
            state.isExhausted = outcome.evictor.isExhausted
            if commit.changes.writeCount > 0 {
                let pages = outcome.evictor.neededPages
                state.usualPages = pages.map { max($0, state.usualPages * 7 / 8) } ?? 0
                state.groupCount = plan.groupCount(
                    after: commit.changes.writeCount, copying: pages,
                    of: outcome.evictor.usedPages)
            }
            state.groupBytes = plan.groupBytes
        }
        generation.publish(outcome)
        compressor?.forgetAll(except: commit.dictionaries.entries)
        logs.cycleCollector.continueScan(commit)
        training.continueAfter(commit)
    }

    /// Commits a transaction that changes nothing. LMDB can reuse the pages that a commit frees
    /// only two commits later.
    ///
    /// - Parameter deadline: How long to wait for the lock of the writer; nil stands for the
    ///   configured deadline.
    func commitEmptyTransaction(in generation: Generation, deadline: Duration? = nil) throws {
        let info = generation.keyspaces.info
        var transaction = try generation.environment.beginWrite(deadline: deadline)
        guard let counters = try transaction.value(info, Counters.key) else { return }
        try transaction.put(info, Counters.key, counters)
        let number = transaction.number
        memory?.beginCommit(in: generation)
        defer { memory?.cancelCommit(in: generation) }
        try transaction.commit()
        let commits = (try? ByteReader.reading(counters) { try Counters(reading: &$0) })?.commits
        memory?.endCommit(number, in: generation, .empty(number), after: commits ?? 0)
        // The tables are those of this commit, too, once it has succeeded.
        state.withLock { state in
            if let asOf = state.asOf, asOf == (generation.name, number - 1) {
                state.asOf = (generation.name, number)
            }
        }
    }

    /// Replaces the generation by an empty one. `blamed` is the generation to replace: if another
    /// process has replaced it already, the live generation stays.
    private func replace(
        _ blamed: Generation? = nil, because reason: GenerationHolder.Replacement
    ) throws {
        guard generations.mayReplace(because: reason) else { throw CacheError.damagedFiles }
        feed?.beginCommit()
        defer { feed?.cancelCommit() }
        // Even if it fails: the old file may be gone. Trees keep a part of it mapped, and by that
        // its room on the disk.
        memory?.removeGeneration()
        _ = try generations.replace(blamed, because: reason)
        announceNewGeneration()
    }

    // MARK: - Budget

    /// Changes the budget, for every process. A smaller budget keeps the records accessed last.
    private func setBudget(_ budget: ByteCount, mayExceed: Bool) throws {
        let old = try generations.current().budget
        if budget > old {
            do {
                try generations.setBudget(larger: budget)
            } catch let error as LMDBError where error.code == .busy {
                throw CacheError(
                    .busy,
                    "Reads under way did not end in time for the budget to be raised. Try again.",
                    cause: error)
            }
        } else if budget < old {
            try shrink(from: old, to: budget, mayExceed: mayExceed)
        }
    }

    private func shrink(
        from old: ByteCount, to budget: ByteCount, mayExceed: Bool
    ) throws {
        var generation = try generations.current()
        try commitMakingRoom([.checkPins(for: budget)], in: generation)
        let pages = Generation.mapSize(for: budget) / generation.environment.pageSize
        // `move` requires that a tenth is free.
        var goal = min(PagePlan(capacity: pages - 1).highWatermark, pages * 9 / 10 - 4)
        // A copy in the order of keys takes fewer pages. If it does not fit, more is evicted.
        for _ in 0..<4 {
            try room.trim(to: goal, .shrink, in: generation, self)
            guard try generation.environment.read({ try $0.pages().used }) < pages else {
                throw room.full(generation, self)
            }
            do {
                let limit = mayExceed ? ByteCount(old.bytes + budget.bytes) : old
                try move(to: budget, room: limit)
                return
            } catch is GenerationHolder.DoesNotFit {
                goal = goal * 3 / 4
                generation = try generations.current()
            }
        }
        throw room.full(generation, self)
    }

    // MARK: - Between writes

    /// Does some of the background work: stores logs, clears damaged records away, evicts, removes
    /// records, takes samples. Returns whether more work is left.
    func maintain(isIdle: Bool) -> Bool {
        guard !generations.isReadOnly else { return false }
        if isIdle { try? replaceMissingFiles(looksNow: false) }
        if let damaged = state.withLock({ $0.damaged.take() }) {
            try? replace(damaged, because: .damaged)
        }
        if isIdle { runFileUpkeep() }
        trainFirstDictionary()
        let isSampling = training.takeSamples()
        installTrainedDictionary()
        let isDue = logs.deadline.map { $0 <= .now } ?? false
        let hasMoreToEvict = state.withLock { state in
            let isRetryDue = state.evictionRetry.map { $0 <= .now } ?? false
            return state.hasMoreToEvict || isRetryDue
        }
        guard isIdle, isDue || hasMoreToEvict else { return hasMoreToEvict || isSampling }
        let steps = state.withLock { $0.backgroundSteps }
        do {
            try generations.withCurrent { generation in
                var progress = EvictionProgress(couldNotBegin: true)
                // A commit for which there are too few pages frees those of the commits before it.
                for _ in 0..<2 where progress.couldNotBegin {
                    // Eviction in the background does not wait: the next write would wait for it.
                    if hasMoreToEvict, try RoomMaker.freePages(of: generation).isShort {
                        try commitEmptyTransaction(in: generation, deadline: .zero)
                    }
                    // Waits a little to store the logs. Without it, a process that writes without
                    // a pause could keep the accesses of this one out.
                    let deadline = isDue ? Self.logDeadline : .zero
                    progress = try commitOnce(
                        .init(operations: [], evictionSteps: steps, lockDeadline: deadline),
                        in: generation)
                }
                if progress.couldNotBegin { postponeEviction() }
            }
            state.withLock { $0.backgroundSteps = .max }
        } catch {
            // Nothing is lost: the logs keep their entries, and the next write makes room. Fewer
            // steps need fewer pages.
            let canGoOn = RoomMaker.isOutOfPages(error) && steps > 1
            state.withLock { state in
                state.hasMoreToEvict = canGoOn
                state.backgroundSteps = canGoOn ? min(16, steps / 4) : .max
            }
            if hasMoreToEvict, !canGoOn { postponeEviction() }
            logs.postpone()
        }
        return state.withLock { $0.hasMoreToEvict } || isSampling
    }

    /// How long a commit that stores the logs waits for the lock of another process. A write would
    /// wait for the same lock.
    private static let logDeadline = Duration.milliseconds(50)

    /// Lets the next eviction in the background follow after a while. A read may hold the pages
    /// that it needs, or another process the lock. Without another attempt, more pages than the
    /// watermark allows would stay in use until the next write.
    private func postponeEviction() {
        state.withLock { state in
            state.evictionRetry = .now + state.evictionDelay
            state.evictionDelay = min(state.evictionDelay * 2, Self.longestEvictionDelay)
        }
    }

    /// Trains and stores the first dictionary, if it is due. Called after each commit, because the
    /// writes of a thread that waits for each of them leave the writer's thread no time.
    ///
    /// - Complexity: 50 ms, once in the life of a cache.
    func trainFirstDictionary() {
        guard training.isFirstDue else { return }
        while training.takeSamples() {}
        installTrainedDictionary()
    }

    /// Whether `maintain` has work left.
    var hasWork: Bool { state.withLock { $0.hasMoreToEvict } || training.isSampling }

    /// When `maintain` has work even without a write: a commit of the logs, an eviction that could
    /// not begin before, or a check of the file.
    var deadline: ContinuousClock.Instant? {
        guard !generations.isReadOnly else { return nil }
        let (upkeep, eviction) = state.withLock { ($0.upkeep.deadline, $0.evictionRetry) }
        return [logs.deadline, eviction, upkeep].compactMap(\.self).min()
    }

    // MARK: - The file

    /// Looks when the structure of the live file was last checked, and by that decides when to
    /// check it next.
    private func followFile() {
        guard let generation = try? generations.current() else { return }
        let age = generation.environment.timeSinceStructureCheck
        let doubt = generations.mayRepair ? generation.environment.doubt : nil
        state.withLock { $0.upkeep.follow(generation.name, age: age, doubt) }
    }

    /// Checks some pages of the file, or repairs records, if that is due. Replaces a file that LMDB
    /// could die of.
    func runFileUpkeep() {
        guard let duty = state.withLock({ $0.upkeep.duty }) else { return }
        guard let generation = try? generations.current() else {
            // The cache can't be used now, or ever. With a deadline in the past, the writer would
            // never sleep.
            return state.withLock { $0.upkeep.finishTurn(isComplete: true) }
        }
        guard state.withLock({ $0.upkeep.generation }) == generation.name else {
            return followFile()
        }
        do {
            switch duty {
            case .repair:
                state.withLock { $0.upkeep.finishRepair() }
                let usage = try generation.environment.read { try $0.pages() }
                guard usage.used * usage.pageSize <= FileUpkeep.largestRepair else { return }
                try repair(generation)
            case .check:
                let age = generation.environment.timeSinceStructureCheck
                // Another process that shares the file may have checked it.
                guard state.withLock({ $0.upkeep.beginCheck(age: age) }) else { return }
                let isComplete = try generation.environment.checkStructure(
                    pages: FileUpkeep.pagesPerTurn)
                state.withLock { $0.upkeep.finishTurn(isComplete: isComplete) }
            }
        } catch {
            state.withLock { $0.upkeep.finishTurn(isComplete: true) }
            guard CommitPolicy.Failure(error) == .damaged, generations.mayRepair else { return }
            try? replace(generation, because: .damaged)
            followFile()
        }
    }

    /// Makes a check of the structure due, for tests.
    func makeStructureCheckDue() { state.withLock { $0.upkeep.makeCheckDue() } }

    /// Stores the first dictionary when the cache closes, if its samples are being taken.
    func finishTraining() {
        guard !generations.isReadOnly else { return }
        training.finishTraining()
        installTrainedDictionary()
    }

    /// Stores trained dictionaries in a commit of their own. If that fails, postpones the next
    /// training.
    private func installTrainedDictionary() {
        guard let (name, trained) = training.takeTrained() else { return }
        do {
            try generations.withCurrent { generation in
                guard generation.name == name else { return }
                var operations = [WriteOperation.install(trained, isForAll: false)]
                // The first records were compressed without a dictionary: half again as long.
                if trained.since == 0 {
                    operations.append(.repack(RepackedSlice(first: Handle(0))))
                }
                try commitMakingRoom(operations, in: generation)
            }
        } catch {
            training.postpone(in: name)
        }
    }
}
