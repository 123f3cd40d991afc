import EspalierLMDB
import EspalierRecords
import Synchronization

/// The live generation of a cache, followed through switches, this process's own and other
/// processes'.
final class GenerationHolder: Sendable {
    // immutable
    let directory: CacheDirectory
    private let guardFile: GuardFile
    private let configuration: Configuration
    /// Whether a generation may be made where there is none, or none that can be opened.
    private let create: Bool
    /// Told when the cache goes on with an empty generation, and why.
    private let onReplace: @Sendable (Replacement) -> Void

    /// Why a generation was replaced by an empty one.
    enum Replacement: String {
        /// The caller has emptied the cache.
        case emptied
        /// It could not be opened, read or written.
        case damaged
        /// Nothing more could be evicted, and a write that fits the budget did not fit.
        case stuck
    }

    // protected by `state`
    private struct State {
        var live: Generation?
        /// When to try again to follow a budget that could not be followed while reads were under
        /// way.
        var retry: ContinuousClock.Instant?
        /// The budget of the last generation: the next one's, too, even if the last one is gone.
        var budget: ByteCount?
        var isClosed = false
    }
    private let state = Mutex(State())

    /// Opens the cache's live generation, or makes the first one.
    init(
        _ directory: CacheDirectory, _ configuration: Configuration, create: Bool,
        onReplace: @escaping @Sendable (Replacement) -> Void = { _ in }
    ) throws {
        self.directory = directory
        self.onReplace = onReplace
        self.configuration = configuration
        self.create = create
        guardFile = try GuardFile(path: directory.guardPath, create: true)
        _ = try current()
    }

    /// The live generation. Costs a load from shared memory, unless another process has switched
    /// meanwhile.
    func current() throws -> Generation {
        let (live, isUpToDate) = try known()
        if let live {
            if isUpToDate { return live }
            // Inside of a read nothing can be switched: others would wait for the read, and it for
            // them.
            if live.environment.isInsideTransaction { return live }
        }
        return try guardFile.withExclusiveLock { lock in try reopen(under: lock) }
    }

    /// Whether nobody has switched since `generation` was opened.
    func isLive(_ generation: Generation) -> Bool { generation.number == guardFile.generation }

    /// What the guard counts.
    var number: UInt64 { guardFile.generation }

    func withExclusiveLock<R>(_ body: (borrowing GuardLock) throws -> R) throws -> R {
        try guardFile.withExclusiveLock(body)
    }

    private func known() throws -> (live: Generation?, isUpToDate: Bool) {
        let (live, retry, isClosed) = state.withLock { ($0.live, $0.retry, $0.isClosed) }
        guard !isClosed else { throw CacheError.closed }
        guard let live, live.number == guardFile.generation else { return (live, false) }
        return (live, retry.map { ContinuousClock.now < $0 } ?? true)
    }

    /// Runs `body` with the live generation; once more when another thread has switched between
    /// finding and using it.
    func withCurrent<R>(_ body: (Generation) throws -> R) throws -> R {
        let generation = try current()
        do {
            return try body(generation)
        } catch let error as LMDBError where [.closed, .panic, .mapResized].contains(error.code) {
            if error.code == .panic { abandon(generation) }
            if error.code == .mapResized { try followMap(of: generation) }
            return try body(try current())
        }
    }

    /// After a failure that LMDB does not recover from, a fresh environment over the same files
    /// does.
    func abandon(_ generation: Generation) {
        state.withLock { state in
            if state.live === generation { state.live = nil }
        }
        generation.environment.close()
    }

    func reopen(under lock: borrowing GuardLock) throws -> Generation {
        // Another thread may have been here first.
        let (live, isUpToDate) = try known()
        if let live, isUpToDate { return live }
        var isDamaged = false
        if let name = try directory.currentGeneration() {
            do {
                // What a process left that was killed while it switched: it counts, and nobody uses
                // it.
                if create {
                    directory.removeGenerations(except: name)
                    try directory.nameCurrent(name)
                }
                guard create || directory.hasData(name) else {
                    throw CacheError(
                        .damaged, "The cache's files are gone. Delete the directory and store anew."
                    )
                }
                if let live, live.name == name, !live.environment.isClosed {
                    return try follow(live)
                }
                let generation = try open(name, under: lock)
                install(generation)
                return generation
            } catch let error where create && Self.isDamage(error) {
                isDamaged = true
            }
        }
        guard create else {
            throw CacheError(
                .damaged, "The cache's files are damaged. Delete the directory and store anew.")
        }
        // Where there was none there is nothing to tell.
        return try makeGeneration(
            under: lock, after: live, because: isDamaged || live != nil ? .damaged : nil)
    }

    /// A new generation in place of whatever there was.
    private func makeGeneration(
        under lock: borrowing GuardLock, after old: Generation?, because reason: Replacement?
    ) throws -> Generation {
        let lifetime = try? old?.environment.read { [keyspaces = old?.keyspaces] transaction in
            try keyspaces.map { try transaction.lifetimeCounters($0) }
        }
        // First, so that a death on the way leaves no process on a generation that is gone: whoever
        // looks next finds another number, and then what `current` names, or nothing, and makes a
        // new one.
        lock.advanceGeneration()
        directory.removeGenerations(except: nil)
        let name = try directory.makeGeneration()
        try directory.setCurrent(name)
        let generation = try open(
            name, under: lock, budget: old?.budget ?? state.withLock { $0.budget })
        if let lifetime = lifetime ?? nil {
            try generation.environment.write { transaction in
                try transaction.put(
                    generation.keyspaces.info, LifetimeCounters.key, lifetime.inNewGeneration.bytes)
            }
        }
        install(generation)
        if let reason { onReplace(reason) }
        return generation
    }

    private static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case is FormatError: true
        case let error as CacheError: error.code == .damaged
        case let error as LMDBError: error.isDamage
        default: false
        }
    }

    func open(_ name: String, under lock: borrowing GuardLock, budget: ByteCount? = nil) throws
        -> Generation
    {
        try Generation.open(
            name, in: directory, budget: budget ?? configuration.budget,
            durability: configuration.durability,
            under: lock, number: guardFile.generation)
    }

    func install(_ generation: Generation, retry: ContinuousClock.Instant? = nil) {
        let old = state.withLock { state in
            let old = state.live
            state.live = generation
            state.budget = generation.budget
            state.retry = retry
            return old
        }
        guard let old, old.environment !== generation.environment else { return }
        old.environment.close()
    }

    /// Replaces the live generation by an empty one. The old one's files go first in the budget's
    /// name: two never count.
    ///
    /// `blamed` is the one that is to go: where somebody else has replaced it by now, that is all
    /// there is to do.
    func replace(_ blamed: Generation? = nil, because reason: Replacement) throws -> Generation {
        try guardFile.withExclusiveLock { lock in
            let (live, isClosed) = state.withLock { ($0.live, $0.isClosed) }
            guard !isClosed else { throw CacheError.closed }
            if let blamed, !isLive(blamed) { return try reopen(under: lock) }
            return try makeGeneration(under: lock, after: live, because: reason)
        }
    }

    func close() {
        let live = state.withLock { state in
            state.isClosed = true
            defer { state.live = nil }
            return state.live
        }
        live?.environment.close()
    }
}

extension LMDBError {
    /// Whether the files are to blame, and not this time's circumstances.
    var isDamage: Bool {
        [.corrupted, .invalidFile, .versionMismatch, .missingKeyspace, .pageFull].contains(code)
    }
}
