import EspalierEncryption
import EspalierLMDB
import EspalierRecords
import Foundation
import Synchronization

/// Holds the live generation of a cache, and follows switches to a new one by this process and by
/// others.
///
/// The guard file counts switches in shared memory. A generation is live while its number is that
/// count:
///
///     number == guard's count    live: reads and writes use it
///     number <  guard's count    another process has switched: `reopen` opens the generation that
///                                `current` names, or follows a changed budget
final class GenerationHolder: Sendable {
    // immutable
    let directory: CacheDirectory
    private let configuration: Configuration
    /// The clock that dates writes.
    let clock: SteadyClock
    /// Whether a new generation may replace a missing or damaged one.
    private let create: Bool
    /// Called when an empty generation has replaced the live one.
    private let onReplace: @Sendable (Replacement) -> Void
    /// Called before files are made in a directory that has taken the place of the cache's. Throws
    /// if another cache of this process uses that directory.
    private let onMove: @Sendable (FileIdentity) throws -> Void

    /// Why there is no generation, and never will be; nil for a cache that was opened.
    let failure: CacheError?
    /// What the entries in `changes` say about this process.
    let author = ChangeAuthor.ofThisProcess()

    // protected by `state`
    private struct State {
        /// Replaced when the directory is made anew; nil if the cache could not be opened.
        var guardFile: GuardFile? { didSet { listeners = guardFile.map { ChangeListeners($0) } } }
        /// Who wants to know of commits.
        private(set) var listeners: ChangeListeners?
        var live: Generation?
        /// When to try again to follow a changed budget, after running reads prevented it.
        var retry: ContinuousClock.Instant?
        /// The budget of the last generation, which the next one gets, too.
        var budget: ByteCount?
        /// The guard's count at which the key was wrong. Only a switch can make it right.
        var wrongKey: (number: UInt64, error: CacheError)?
        /// When the directory changed last, as of the last look for unfinished generations.
        var directoryChange: UInt64?
        /// What the next generation has to tell of one that is gone.
        var loss: Loss?
        var isClosed = false

        init(guardFile: GuardFile? = nil) {
            self.guardFile = guardFile
            listeners = guardFile.map { ChangeListeners($0) }
        }
    }
    private let state: Mutex<State>

    /// A generation that is gone, of which no other has told yet.
    struct Loss {
        let reason: Replacement
        let lifetime: LifetimeCounters?
    }

    /// Opens the live generation, or creates the first one.
    init(
        _ directory: CacheDirectory, _ configuration: Configuration, create: Bool,
        onReplace: @escaping @Sendable (Replacement) -> Void = { _ in },
        onMove: @escaping @Sendable (FileIdentity) throws -> Void = { _ in }
    ) throws {
        self.directory = directory
        self.onReplace = onReplace
        self.onMove = onMove
        failure = nil
        self.configuration = configuration
        clock = SteadyClock(configuration.clock)
        self.create = create
        state = Mutex(
            State(
                guardFile: try GuardFile(
                    path: directory.guardPath, create: !configuration.isReadOnly,
                    isReadOnly: configuration.isReadOnly)))
        do {
            _ = try current()
        } catch let error as CacheError
            where error.code == .wrongKey && create
            && configuration.encryption?.whenKeyIsWrong == .startAnew && KeyHeader.isAvailable
        {
            try withExclusiveLock { lock in
                do {
                    // Another process may have begun anew, or changed the key, meanwhile.
                    _ = try reopen(under: lock)
                } catch let error as CacheError where error.code == .wrongKey {
                    _ = try makeGeneration(under: lock, after: nil, because: .wrongKey)
                }
            }
        }
    }

    /// Creates a holder without a generation, for a cache that could not be opened. Every access
    /// throws `failure`.
    init(failing failure: CacheError, _ directory: CacheDirectory, _ configuration: Configuration) {
        self.directory = directory
        self.configuration = configuration
        clock = SteadyClock(configuration.clock)
        self.failure = failure
        create = false
        onReplace = { _ in }
        onMove = { _ in }
        state = Mutex(State())
    }

    /// Returns the live generation. Costs a load from shared memory, unless another process has
    /// switched.
    func current() throws -> Generation {
        let (live, isUpToDate) = try lastKnown()
        if let live {
            if isUpToDate { return live }
            // A read must not switch: other threads would wait for the read, and it for them.
            if live.environment.isInsideTransaction { return live }
        }
        if let wrongKey = state.withLock({ $0.wrongKey }), wrongKey.number == number {
            throw wrongKey.error
        }
        let deadline = ContinuousClock.now + configuration.writeDeadline
        while true {
            do {
                return try withExclusiveLock { lock in
                    do {
                        return try reopen(under: lock)
                    } catch let error as CacheError where error.code == .wrongKey {
                        let number = number
                        state.withLock { $0.wrongKey = (number, error) }
                        throw error
                    }
                }
            } catch let error as LMDBError where error.code == .alreadyOpen {
                // The environment of a closed cache is being closed. Waits without the guard's
                // lock, which other processes need.
                guard ContinuousClock.now < deadline else {
                    throw CacheError(
                        .busy, "Reads of a cache that was closed are still running. Try again.",
                        cause: error)
                }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }

    private var guardFile: GuardFile {
        get throws {
            guard let guardFile = state.withLock({ $0.guardFile }) else {
                throw failure ?? .closed
            }
            return guardFile
        }
    }

    /// The guard file; nil for a cache that could not be opened.
    var guardFileIfOpen: GuardFile? { state.withLock { $0.guardFile } }

    /// The processes that want to know of commits; nil for a cache that could not be opened.
    var listeners: ChangeListeners? { state.withLock { $0.listeners } }

    /// Returns whether no process has switched since `generation` was opened.
    func isLive(_ generation: Generation) -> Bool {
        state.withLock { $0.guardFile }?.generation == generation.number
    }

    /// The keys of the application; nil if the cache is not encrypted.
    var encryption: Encryption? { configuration.encryption }

    /// Whether nothing in the directory may change.
    var isReadOnly: Bool { configuration.isReadOnly }

    /// How long to wait for a lock that another process has.
    var writeDeadline: Duration { configuration.writeDeadline }

    /// How old any record may be, in seconds, unless its type or its write says otherwise.
    var maxAge: UInt64? { configuration.maxAge.map(MaxAge.seconds) }

    /// Whether an access finds the live generation open, and waits for nothing.
    var isUpToDate: Bool {
        guard let (live, isUpToDate) = try? lastKnown() else { return false }
        return live != nil && isUpToDate
    }

    /// Whether the holder may repair and replace what is damaged. A tool that only looks at a cache
    /// leaves it as it was.
    var mayRepair: Bool { create }

    /// Whether an empty generation may replace the live one. A tool that looks at a damaged cache
    /// may be about to save what is left of it.
    func mayReplace(because reason: Replacement) -> Bool { create || reason != .damaged }

    /// The guard's count of switches.
    var number: UInt64 { state.withLock { $0.guardFile }?.generation ?? 0 }

    func withExclusiveLock<R>(_ body: (borrowing GuardLock) throws -> R) throws -> R {
        try guardFile.withExclusiveLock(deadline: configuration.writeDeadline, body)
    }

    /// Returns the generation that this process opened last, and whether it is live.
    private func lastKnown() throws -> (live: Generation?, isUpToDate: Bool) {
        let (live, retry, isClosed, guardFile) = state.withLock {
            ($0.live, $0.retry, $0.isClosed, $0.guardFile)
        }
        guard !isClosed else { throw CacheError.closed }
        guard let guardFile else { throw failure ?? .closed }
        guard let live, live.number == guardFile.generation else { return (live, false) }
        return (live, retry.map { ContinuousClock.now < $0 } ?? true)
    }

    /// Runs `body` with the live generation, and again each time another thread has switched before
    /// `body` used it, or LMDB needs the environment to be opened anew.
    func withCurrent<R>(_ body: (Generation) throws -> R) throws -> R {
        // Each further attempt needs a further switch. The bound is for a failure that would come
        // back for ever.
        for _ in 1..<100 {
            let generation = try current()
            do {
                return try body(generation)
            } catch let error as LMDBError
                where [.closed, .panic, .mapResized].contains(error.code)
            {
                try recover(generation, from: error)
            }
        }
        return try body(try current())
    }

    /// Prepares a generation for another try after LMDB's failure `error`: an environment that
    /// can't go on is closed, and a map that another process has enlarged is followed.
    func recover(_ generation: Generation, from error: any Error) throws {
        switch (error as? LMDBError)?.code {
        case .panic?: abandon(generation)
        case .mapResized?: try followMap(of: generation)
        default: break
        }
    }

    /// Closes a generation after a failure from which its environment does not recover. The next
    /// access opens a new environment over the same files.
    func abandon(_ generation: Generation) {
        state.withLock { state in
            if state.live === generation { state.live = nil }
        }
        generation.environment.abandon()
    }

    /// Returns the live generation, and opens it if this process has not. Replaces a damaged or
    /// missing one by an empty one, if the holder may create generations.
    func reopen(under lock: borrowing GuardLock) throws -> Generation {
        // Another thread may have opened it meanwhile.
        let (live, isUpToDate) = try lastKnown()
        if let live, isUpToDate { return live }
        // The first generation of a cache replaces none.
        var reason: Replacement? = live == nil ? nil : .damaged
        switch try directory.liveGeneration() {
        case .none: break
        case .lost(let finding): reason = finding
        case .generation(let name):
            do {
                // Removes the generations of processes that were killed during a switch: they take
                // room in the budget.
                if create {
                    directory.removeGenerations(except: name)
                    try directory.nameCurrent(name)
                }
                guard create || directory.hasData(name) else {
                    throw CacheError(
                        .damaged,
                        """
                        The cache's files are missing. Open it to write, or delete the directory, \
                        and store anew.
                        """
                    )
                }
                if let live, live.name == name, !live.environment.isClosed {
                    return try follow(live)
                }
                guard !lock.knowsDataFile || directory.hasData(name) else {
                    reason = .emptyFile
                    break
                }
                let generation = try open(name, under: lock)
                install(generation)
                return generation
            } catch is Generation.OlderFormat where create {
                reason = .olderFormat
            } catch is Generation.OlderFormat {
                throw CacheError(
                    .damaged,
                    """
                    The cache has a format that this library does not read any more. Export it \
                    with the version that has written it, or let the application begin anew.
                    """)
            } catch let error where create && Self.isDamage(error) {
                reason = .damaged
            }
        }
        guard create else { throw CacheError.damagedFiles }
        return try makeGeneration(under: lock, after: live, because: reason)
    }

    /// Replaces all generations by an empty one, with the lifetime counters of `old` and the budget
    /// that `guard` has.
    private func makeGeneration(
        under lock: borrowing GuardLock, after old: Generation?, because reason: Replacement?
    ) throws -> Generation {
        let lifetime = state.withLock { $0.loss }?.lifetime ?? old?.lifetimeCounters
        // The count changes before the files do, so that no process stays on a removed generation
        // if this one is killed here: the next access finds another count, and then the generation
        // that `current` names, or none, and creates one.
        lock.advanceGeneration()
        directory.removeGenerations(except: nil, and: old?.name)
        lock.forgetDataFile()
        // Removed files keep their room on the disk as long as they are open, and the disk may have
        // no other room. If the next generation can be made only later, that one tells of the loss.
        state.withLock { state in
            if state.live === old { state.live = nil }
            state.budget = state.guardFile?.budget ?? old?.budget ?? state.budget
            state.loss = state.loss ?? reason.map { Loss(reason: $0, lifetime: lifetime) }
        }
        old?.environment.close()
        do {
            let name = try directory.makeGeneration()
            try directory.setCurrent(name)
            let generation = try open(name, under: lock, budget: state.withLock { $0.budget })
            if let lifetime {
                let bytes = lifetime.inNewGeneration.bytes
                try generation.environment.write {
                    try $0.put(generation.keyspaces.info, LifetimeCounters.key, bytes)
                }
            }
            install(generation)
            return generation
        } catch {
            // The next access would take it for a finished one, without counters and budget.
            directory.removeGenerations(except: nil)
            throw error
        }
    }

    /// Begins an empty generation after one that is gone. If that fails, the next access begins it.
    func beginAnew(after loss: Loss, of old: Generation, under lock: borrowing GuardLock) {
        state.withLock { $0.loss = loss }
        _ = try? makeGeneration(under: lock, after: old, because: nil)
    }

    private static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case is FormatError: true
        case let error as CacheError: error.code == .damaged
        case let error as LMDBError: error.isDamage
        default: false
        }
    }

    /// Opens the generation `name`.
    func open(_ name: String, under lock: borrowing GuardLock, budget: ByteCount? = nil) throws
        -> Generation
    {
        let limit = budget ?? state.withLock { $0.guardFile?.budget }
        return try Generation.open(
            name, in: directory, budget: limit ?? configuration.budget, limit: limit,
            configuration, under: lock, number: number)
    }

    /// Makes `generation` the one that this process uses, and closes the previous environment. If
    /// the holder was closed meanwhile, closes that of `generation`.
    func install(_ generation: Generation, retry: ContinuousClock.Instant? = nil) {
        let (unused, loss) = state.withLock { state -> (Generation?, Loss?) in
            guard !state.isClosed else { return (generation, nil) }
            let old = state.live
            state.live = generation
            state.budget = generation.budget
            // A generation that can't follow a raised budget yet has the old one.
            if retry == nil { state.guardFile?.budget = generation.budget }
            state.retry = retry
            return (old?.environment === generation.environment ? nil : old, state.loss.take())
        }
        if let loss { onReplace(loss.reason) }
        unused?.environment.close()
    }

    /// Replaces the live generation by an empty one. Deletes the old one first: the budget has no
    /// room for two.
    ///
    /// - Parameter blamed: The generation to replace. If it is no longer live, nothing is replaced.
    func replace(_ blamed: Generation? = nil, because reason: Replacement) throws -> Generation {
        guard !configuration.isReadOnly else { throw CacheError.readOnly }
        guard mayReplace(because: reason) else { throw CacheError.damagedFiles }
        return try withExclusiveLock { lock in
            let (live, isClosed) = state.withLock { ($0.live, $0.isClosed) }
            guard !isClosed else { throw CacheError.closed }
            if let blamed, !isLive(blamed) { return try reopen(under: lock) }
            return try makeGeneration(under: lock, after: live, because: reason)
        }
    }

    /// Removes the generation that a process was filling when it was killed, which takes room in
    /// the budget. Looks only if the directory has changed since the last look.
    ///
    /// Called inside a write transaction. A process that fills a generation holds the lock of the
    /// writer, so each unfinished one was left by a process that died.
    func removeUnfinished() {
        guard let guardFile = try? guardFile, let change = guardFile.directoryChange,
            change != state.withLock({ $0.directoryChange })
        else { return }
        // Another process that has the guard's lock removes them itself.
        try? guardFile.withExclusiveLock(deadline: .zero) { _ in
            directory.removeUnfinished()
            let change = guardFile.directoryChange
            state.withLock { $0.directoryChange = change }
        }
    }

    // MARK: - Files that are gone

    /// The budget, as far as this process knows it without opening a file or waiting for a lock.
    var knownBudget: ByteCount? {
        state.withLock { $0.guardFile?.budget ?? $0.live?.budget ?? $0.budget }
    }

    /// The name of the generation that this process opened last.
    var liveName: String? { state.withLock { $0.live?.name } }

    /// Whether the files of the live generation are still where this process has opened them.
    var isInPlace: Bool {
        let (live, guardFile) = state.withLock { ($0.live, $0.guardFile) }
        guard let live, let guardFile else { return true }
        guard guardFile.isInPlace else { return false }
        // Another process that switches removes the files, too, after it has raised the count.
        return live.environment.isInPlace || live.number != guardFile.generation
    }

    /// Makes directory and files anew after they were removed or renamed, or opens the cache that
    /// another process has made there meanwhile.
    ///
    /// - Throws: If the directory can't be made, if another cache of this process uses it, if
    ///   another process keeps the lock of the guard for longer than `writeDeadline`, or if this
    ///   holder creates nothing.
    func replaceMissing() throws {
        try onMove(directory.prepare(create: create))
        let known = try guardFile
        let isGuardInPlace = known.isInPlace
        // A new file, if the old one is gone: no other process finds the old one.
        let guardFile =
            isGuardInPlace ? known : try GuardFile(path: directory.guardPath, create: create)
        try guardFile.withExclusiveLock(deadline: configuration.writeDeadline) { lock in
            let lost = state.withLock { state in
                if !isGuardInPlace {
                    state.listeners?.close()
                    state.guardFile = guardFile
                }
                return state.live
            }
            var isThere = false
            if case .generation = try directory.liveGeneration() { isThere = true }
            if isGuardInPlace || !isThere {
                // Another process may have done the same meanwhile.
                if isGuardInPlace, isInPlace { return }
                guard create else { throw CacheError.noCache }
                _ = try makeGeneration(under: lock, after: lost, because: .directoryGone)
            } else {
                // `install` tells of the loss with the next generation, even if `reopen` fails.
                state.withLock { state in
                    state.live = nil
                    state.loss = state.loss ?? Loss(reason: .directoryGone, lifetime: nil)
                }
                // Closed before the reopening, which may open the same file again.
                lost?.environment.close()
                _ = try reopen(under: lock)
            }
        }
    }

    /// Closes the live generation; later accesses throw `closed`.
    func close() {
        let (live, listeners) = state.withLock { state in
            state.isClosed = true
            defer { state.live = nil }
            return (state.live, state.listeners)
        }
        listeners?.close()
        live?.environment.close()
    }
}

// MARK: - Raising the budget

/// The budget is raised in place: the generation stays, its map grows, and it gets a new number,
/// which tells the other processes.
extension GenerationHolder {
    /// How long the first attempt to resize the map waits for running reads, and the further ones,
    /// and the pause between attempts.
    private static let firstDeadline = Duration.seconds(5)
    private static let laterDeadline = Duration.milliseconds(50)
    private static let pause = Duration.seconds(1)

    /// Raises the budget for every process. Must not be called inside a read, for which it would
    /// wait. Does nothing if `budget` is not larger than the current one.
    ///
    /// - Throws: LMDB's `busy`, with nothing changed, when running reads do not end in time.
    func setBudget(larger budget: ByteCount) throws {
        try withExclusiveLock { lock in
            let live = try reopen(under: lock)
            guard budget > live.budget else { return }
            let (old, isLimited) = (live.environment.mapSize, live.environment.isLimitedToFile)
            try live.environment.resize(
                mapSize: Generation.mapSize(for: budget), deadline: Self.firstDeadline)
            do {
                try live.store(budget)
            } catch {
                // The file must not grow beyond the budget that stays.
                try? live.environment.shrink(mapSize: old, deadline: Self.firstDeadline)
                if isLimited { try? live.environment.limitToFile(deadline: Self.firstDeadline) }
                throw error
            }
            install(Generation(live, number: lock.advanceGeneration(), budget: budget))
        }
    }

    /// Applies the budget that another process has changed, and returns the same generation with
    /// the new number. If running reads prevent it, keeps the old budget and tries again later.
    private func follow(_ live: Generation) throws -> Generation {
        // All threads wait meanwhile, so only the first attempt waits long.
        let deadline = live.number == number ? Self.laterDeadline : Self.firstDeadline
        do {
            let budget = try storedBudget(of: live, deadline: deadline)
            // A lower budget leaves the map as it is.
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

    /// Enlarges the map after another process has written beyond it: nothing can be read before.
    private func followMap(of generation: Generation) throws {
        do {
            try generation.environment.followMapSize(deadline: Self.firstDeadline)
        } catch {
            guard error.code == .busy else { throw error }
            throw CacheError(
                .storage,
                """
                Another process has raised the budget, and running reads keep this one from \
                enlarging its map. End reads sooner.
                """,
                cause: error)
        }
    }
}

extension LMDBError {
    /// Whether the error shows that the files are damaged.
    var isDamage: Bool {
        [.corrupted, .invalidFile, .versionMismatch, .missingKeyspace, .pageFull].contains(code)
    }
}
