import EspalierLMDB
import EspalierRecords
import Synchronization

/// The live generation of a cache, followed through switches, this process's own and other processes'.
final class GenerationHolder: Sendable {
    // immutable
    let directory: CacheDirectory
    private let guardFile: GuardFile
    private let configuration: Configuration
    /// Whether a generation may be made where there is none, or none that can be opened.
    private let create: Bool

    // protected by `state`
    private struct State {
        var live: Generation?
        /// When to try again to follow a budget that could not be followed while reads were under way.
        var retry: ContinuousClock.Instant?
        var isClosed = false
    }
    private let state = Mutex(State())

    /// Opens the cache's live generation, or makes the first one.
    init(_ directory: CacheDirectory, _ configuration: Configuration, create: Bool) throws {
        self.directory = directory
        self.configuration = configuration
        self.create = create
        guardFile = try GuardFile(path: directory.guardPath, create: true)
        _ = try current()
    }

    /// The live generation. Costs a load from shared memory, unless another process has switched meanwhile.
    func current() throws -> Generation {
        let (live, isUpToDate) = try known()
        if let live {
            if isUpToDate { return live }
            // Inside of a read nothing can be switched: others would wait for the read, and it for them.
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

    /// Runs `body` with the live generation; once more when another thread has switched between finding and using it.
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

    /// After a failure that LMDB does not recover from, a fresh environment over the same files does.
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
        if let name = try directory.currentGeneration() {
            do {
                guard create || directory.hasData(name) else {
                    throw CacheError(.damaged, "The cache's files are gone. Delete the directory and store anew.")
                }
                if let live, live.name == name, !live.environment.isClosed { return try follow(live) }
                // What a process left that was killed while it switched: it counts, and nobody uses it.
                directory.removeGenerations(except: name)
                let generation = try open(name, under: lock)
                install(generation)
                return generation
            } catch let error where create && Self.isDamage(error) {
                // A damaged generation is replaced by a new one.
            }
        }
        guard create else {
            throw CacheError(.damaged, "The cache's files are damaged. Delete the directory and store anew.")
        }
        return try makeGeneration(under: lock, budget: live?.budget)
    }

    /// A new generation in place of whatever there was.
    private func makeGeneration(under lock: borrowing GuardLock, budget: ByteCount?) throws -> Generation {
        // First, so that a death on the way leaves no process on a generation that is gone: whoever looks next finds another
        // number, and then what `current` names, or nothing, and makes a new one.
        lock.advanceGeneration()
        directory.removeGenerations(except: nil)
        let name = try directory.makeGeneration()
        try directory.setCurrent(name)
        let generation = try open(name, under: lock, budget: budget)
        install(generation)
        return generation
    }

    private static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case is FormatError: true
        case let error as CacheError: error.code == .damaged
        case let error as LMDBError:
            [.corrupted, .invalidFile, .versionMismatch, .missingKeyspace, .pageFull].contains(error.code)
        default: false
        }
    }

    func open(_ name: String, under lock: borrowing GuardLock, budget: ByteCount? = nil) throws -> Generation {
        try Generation.open(
            name, in: directory, budget: budget ?? configuration.budget, durability: configuration.durability,
            under: lock, number: guardFile.generation)
    }

    func install(_ generation: Generation, retry: ContinuousClock.Instant? = nil) {
        let old = state.withLock { state in
            let old = state.live
            state.live = generation
            state.retry = retry
            return old
        }
        guard let old, old.environment !== generation.environment else { return }
        old.environment.close()
    }

    /// Replaces the live generation by an empty one. The old one's files go first in the budget's name: two never count.
    func replace() throws -> Generation {
        try guardFile.withExclusiveLock { lock in
            let (live, isClosed) = state.withLock { ($0.live, $0.isClosed) }
            guard !isClosed else { throw CacheError.closed }
            return try makeGeneration(under: lock, budget: live?.budget)
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
