import EspalierLMDB
import EspalierRecords
import Synchronization

/// The live generation of a cache, followed through switches, this process's own and other processes'.
final class GenerationHolder: Sendable {
    // immutable
    let directory: CacheDirectory
    private let guardFile: GuardFile
    private let configuration: Configuration

    // protected by `state`
    private struct State {
        var live: Generation?
        var isClosed = false
    }
    private let state = Mutex(State())

    /// Opens the cache's live generation, or makes the first one.
    init(_ directory: CacheDirectory, _ configuration: Configuration) throws {
        self.directory = directory
        self.configuration = configuration
        guardFile = try GuardFile(path: directory.guardPath, create: true)
        _ = try current()
    }

    /// The live generation. Costs a load from shared memory, unless another process has switched meanwhile.
    func current() throws -> Generation {
        let (live, isClosed) = state.withLock { ($0.live, $0.isClosed) }
        guard !isClosed else { throw CacheError.closed }
        if let live, live.number == guardFile.generation { return live }
        return try guardFile.withExclusiveLock { lock in try reopen(under: lock) }
    }

    /// Runs `body` with the live generation; once more when another thread has switched between finding and using it.
    func withCurrent<R>(_ body: (Generation) throws -> R) throws -> R {
        let generation = try current()
        do {
            return try body(generation)
        } catch let error as LMDBError where error.code == .closed {
            return try body(try current())
        }
    }

    private func reopen(under lock: borrowing GuardLock) throws -> Generation {
        // Another thread may have been here first.
        let (live, isClosed) = state.withLock { ($0.live, $0.isClosed) }
        guard !isClosed else { throw CacheError.closed }
        if let live, live.number == guardFile.generation { return live }
        if let name = directory.currentGeneration() {
            let generation = try open(name, under: lock)
            install(generation)
            return generation
        }
        let name = try directory.makeGeneration()
        let generation = try open(name, under: lock)
        try directory.setCurrent(name)
        install(generation)
        directory.removeGenerations(except: name)
        return generation
    }

    private func open(_ name: String, under lock: borrowing GuardLock, budget: ByteCount? = nil) throws -> Generation {
        try Generation.open(
            name, in: directory, budget: budget ?? configuration.budget, durability: configuration.durability,
            under: lock, number: guardFile.generation)
    }

    private func install(_ generation: Generation) {
        let old = state.withLock { state in
            let old = state.live
            state.live = generation
            return old
        }
        old?.environment.close()
    }

    /// Replaces the live generation by an empty one. The old one's files go first in the budget's name: two never count.
    func replace() throws -> Generation {
        try guardFile.withExclusiveLock { lock in
            let (live, isClosed) = state.withLock { ($0.live, $0.isClosed) }
            guard !isClosed else { throw CacheError.closed }
            // First, so that a death on the way leaves no process on a generation that is gone: whoever looks next finds another
            // number, and then what `current` names, or nothing, and makes a new one.
            lock.advanceGeneration()
            directory.removeGenerations(except: nil)
            let name = try directory.makeGeneration()
            try directory.setCurrent(name)
            let generation = try open(name, under: lock, budget: live?.budget)
            install(generation)
            return generation
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
