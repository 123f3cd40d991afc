package import EspalierLMDB
import EspalierModels
import EspalierRecords
import Foundation
import Synchronization

/// A normalized cache on disk: it flattens trees of models into one record per node, and
/// reassembles them when they are read.
///
/// ```swift
/// let cache = try NormalizedCache(
///     directory: path, configuration: Configuration(budget: .mebibytes(50)))
/// cache.set(message)
/// let message = await cache.read(Message.self, "Message:34")
/// ```
///
/// A write of a node updates every tree that contains it, because all of them are reassembled from
/// the same record. Writes return a ``WriteTicket`` at once and are committed by a thread of the
/// cache's own. Each read sees one snapshot and returns either the whole tree or a miss with a
/// reason; it never throws, and a damaged record is a miss, too.
///
/// All methods may be called from every thread. A process that opens the same directory twice
/// shares one engine, which closes when the last `NormalizedCache` over it is closed or
/// deallocated. Call ``close()`` or await ``flush()`` before the process ends; otherwise the last
/// submitted writes may not be committed.
public final class NormalizedCache: Sendable {
    let engine: Engine
    let closing = Closing()
    /// The directory of a cache in memory; nil for a cache on disk.
    private let memory: MemoryDirectory?
    /// Whether the engine counts this object as one of its users.
    private let isUser: Bool

    // MARK: - Opening

    /// Opens the cache in `directory`, and creates directory and cache if there is none.
    ///
    /// A directory that it creates has the mode 0700; the directory around it must exist. Takes
    /// about a millisecond.
    ///
    /// - Parameters:
    ///   - directory: The path of the cache's directory.
    ///   - configuration: The options. Its budget applies to a new cache only.
    /// - Throws: A ``CacheError`` with one of the codes `badBudget`, `badCompression`,
    ///   `badDirectory`, `notWritable`, `newerFormat`, `alreadyOpen`, `wrongKey`, `busy`,
    ///   `waitInsideRead`, `diskFull`, `ioFailure` or `storage`.
    ///   Damaged files are no error: an empty cache replaces them. With
    ///   ``FailurePolicy/missAlways`` only mistakes of the caller are errors: `badBudget`,
    ///   `badCompression`, `alreadyOpen`, `wrongKey` and `waitInsideRead`.
    public convenience init(directory: String, configuration: Configuration = Configuration())
        throws(CacheError)
    {
        try self.init(directory: directory, configuration: configuration, create: true)
    }

    /// Opens the cache in `directory` if there is one.
    ///
    /// - Parameters:
    ///   - directory: The path of the cache's directory.
    ///   - configuration: The options. Its budget is not used.
    /// - Returns: The open cache.
    /// - Throws: A ``CacheError``: `noCache` when the directory holds none, `damaged` when its
    ///   files can't be opened, and otherwise those of ``init(directory:configuration:)``. Files
    ///   stay as they were.
    public static func existing(
        directory: String, configuration: Configuration = Configuration()
    ) throws(CacheError) -> NormalizedCache {
        try NormalizedCache(directory: directory, configuration: configuration, create: false)
    }

    /// Opens the cache in `directory` as ``init(directory:configuration:)`` does, on a thread of
    /// its own.
    ///
    /// ```swift
    /// let cache = try await NormalizedCache.open(directory: path)
    /// ```
    ///
    /// Opening checks the structure of a file of up to 64 MiB, at 0.1 to 0.2 milliseconds for each
    /// MiB. It checks a larger file after a crash or a restart of the machine, and after 32
    /// openings or 7 days. It waits for another process that is opening the same cache. Use this
    /// function where the caller must not block, as on the main actor.
    ///
    /// - Parameters:
    ///   - directory: The path of the cache's directory.
    ///   - configuration: The options. Its budget applies to a new cache only.
    /// - Returns: The open cache.
    /// - Throws: A ``CacheError``, as ``init(directory:configuration:)`` does. Canceling the task
    ///   has no effect.
    public static func open(
        directory: String, configuration: Configuration = Configuration()
    ) async throws(CacheError) -> NormalizedCache {
        let result: Result<NormalizedCache, CacheError> = await withCheckedContinuation { opened in
            Thread.detachNewThread {
                do throws(CacheError) {
                    let cache = try NormalizedCache(
                        directory: directory, configuration: configuration)
                    opened.resume(returning: .success(cache))
                } catch {
                    opened.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Opens an empty cache whose directory is in memory and is gone with the cache: for previews,
    /// tests and commands that are run once.
    ///
    /// ```swift
    /// let cache = try NormalizedCache(inMemory: Configuration(budget: .mebibytes(4)))
    /// ```
    ///
    /// It does all that a cache on disk does, with the same budget, but for what needs a second
    /// opening of the same directory. On Linux the directory is in `/dev/shm`. Where there is none,
    /// as on Apple's systems, it is in the temporary directory, and nothing waits for the disk.
    /// Closing the cache removes the directory. If the process ends before, the next cache in
    /// memory of the same user does; unless another user has taken these places, and the cache had
    /// to take one of its own.
    ///
    /// - Parameter configuration: The options. The durability is not used.
    /// - Throws: A ``CacheError``, as ``init(directory:configuration:)`` does.
    public convenience init(inMemory configuration: Configuration) throws(CacheError) {
        var configuration = configuration
        configuration.durability = .noSync
        let memory: MemoryDirectory
        do throws(CacheError) {
            memory = try MemoryDirectory()
        } catch {
            try self.init(
                directory: "/", configuration: configuration, create: false, failure: error)
            return
        }
        try self.init(
            directory: memory.path, configuration: configuration, create: true, in: memory)
    }

    /// - Parameter failure: Why the cache can't be opened, if that is known already.
    private init(
        directory: String, configuration: Configuration, create: Bool,
        in memory: MemoryDirectory? = nil, failure: CacheError? = nil
    ) throws(CacheError) {
        self.memory = memory
        isUser = true
        guard Configuration.isValid(configuration.budget) else {
            throw .badBudget(configuration.budget)
        }
        guard configuration.compression.isValid else {
            throw .badCompression(configuration.compression)
        }
        do throws(CacheError) {
            if let failure { throw failure }
            engine = try EngineRegistry.shared.open(
                path: directory, configuration: configuration,
                create: create && !configuration.isReadOnly)
        } catch {
            guard configuration.onFailure == .missAlways, !error.isCallersMistake else {
                throw error
            }
            engine = Engine(failing: error, CacheDirectory(directory), configuration)
            engine.retain()
        }
    }

    /// The configuration with which this object was opened. ``budget`` has the current budget.
    public var configuration: Configuration { engine.configuration }

    // MARK: - Closing

    // Closes on another thread: this one may be the writer's, which closing waits for, or one that
    // must not be blocked.
    deinit {
        if isUser, closing.isFirstCall() { closeOnAnotherThread() }
    }

    /// Commits all submitted writes and closes the cache.
    ///
    /// Blocks until that is done. Afterwards reads miss, writes fail with `closed`, and sequences
    /// of changes end. Further calls do nothing. If the process has other objects open over the
    /// same directory, they stay open, and the files too.
    ///
    /// A call from a model's encoder or initialiser, which the writer may be waiting for, returns
    /// at once; the cache closes afterwards.
    public func close() {
        guard closing.isFirstCall(), !engine.isInherited else { return }
        guard !AppCodeScope.isInside else { return closeOnAnotherThread() }
        if engine.releaseUser() {
            engine.shutDown()
            memory?.remove()
        } else {
            engine.waitForSubmittedWrites()
        }
        closing.end()
    }

    private func closeOnAnotherThread() {
        // A forked child has none of the threads, and leaves everything to its parent.
        guard !engine.isInherited else { return }
        let isLast = engine.releaseUser()
        guard isLast || closing.hasEndings else { return closing.end() }
        Thread.detachNewThread { [engine, memory, closing] in
            if isLast {
                engine.shutDown()
                memory?.remove()
            } else {
                engine.waitForSubmittedWrites()
            }
            closing.end()
        }
    }

    /// Returns an object through which the engine can still write after this one is closed. Its
    /// writes fail once the engine is closed.
    func forWorkOfEngine() -> NormalizedCache { NormalizedCache(lending: engine, memory) }

    private init(lending engine: Engine, _ memory: MemoryDirectory?) {
        self.engine = engine
        self.memory = memory
        isUser = false
    }

    /// Whether ``close()`` was called on this object.
    public var isClosed: Bool { closing.isDone }

    // MARK: - The whole cache

    /// Waits until all writes submitted before are committed and synchronised with the disk.
    ///
    /// Code that can't suspend calls ``flushAndWait()``.
    ///
    /// - Throws: A ``CacheError`` when synchronising fails or the cache is closed.
    public func flush() async throws {
        if configuration.isReadOnly { return }
        try await submit(isDroppable: false) { _ in .barrier }.committed
    }

    /// Blocks the calling thread until all writes submitted before are committed and synchronised
    /// with the disk. Use ``flush()`` where code can suspend.
    ///
    /// An app calls it where the system waits for it to return, as when it is about to be
    /// suspended or to end:
    ///
    /// ```swift
    /// func applicationWillTerminate(_ application: UIApplication) {
    ///     try? cache.flushAndWait()
    /// }
    /// ```
    ///
    /// - Throws: A ``CacheError`` when synchronising fails or the cache is closed;
    ///   `.waitInsideRead` in a model's initialiser or encoder, see ``WriteTicket/wait()``.
    public func flushAndWait() throws(CacheError) {
        if configuration.isReadOnly { return }
        try submit(isDroppable: false) { _ in .barrier }.wait()
    }

    /// Empties the cache by starting a new generation, after the writes submitted before.
    ///
    /// - Returns: A ticket that succeeds when the cache is empty.
    @discardableResult
    public func removeAll() -> WriteTicket {
        submit(isDroppable: false) { _ in .reset }
    }

    // MARK: - Changes and events

    /// Returns the changes of each commit from now on, of every process, in the order of commits.
    ///
    /// ```swift
    /// for await changes in cache.changes() {
    ///     if changes.isReset { readEverythingAgain() } else { update(changes.written) }
    /// }
    /// ```
    ///
    /// Each call returns a sequence of its own, which ends when the cache is closed. A subscriber
    /// that does not keep up receives commits together: when more than 1,024 change sets or 65,536
    /// identifiers wait, their union takes their place, and a reset if the union has more than
    /// 32,768 identifiers. A change is never missed without a reset in its place.
    ///
    /// Commits of other processes arrive within milliseconds; see ``ChangeSet/Origin`` for which
    /// process made one. While a sequence exists, other processes write what they commit to the
    /// cache a second time, in a part of at most a 128th of the budget, and this process waits for
    /// the system to tell it. It waits without a thread and without looking, on Linux and on
    /// Apple's systems. Where the system can't tell, and with ``Configuration/isReadOnly``, the
    /// cache looks every 25 milliseconds instead; a read-only process learns that something has
    /// changed, as a reset, and not what.
    ///
    /// - Complexity: The first call in a process takes some ten system calls; further ones take
    ///   microseconds.
    public func changes() -> AsyncStream<ChangeSet> { engine.changeSets.subscribe(until: closing) }

    /// Returns the changes of the commits of this process, and keeps all of them until they are
    /// read.
    package func ownChangeSets() -> AsyncStream<ChangeSet> {
        engine.changeSets.subscribe(isOwn: true, until: closing)
    }

    /// Returns what the cache does of its own accord from now on: evictions, writes that it gave
    /// up, and new generations after damage.
    ///
    /// The first sequence begins with what happened while the cache was opened.
    ///
    /// Each call returns a sequence of its own. It buffers the latest 4,096 events; a subscriber
    /// that does not keep up loses the oldest, and the writer never waits.
    public func events() -> AsyncStream<CacheEvent> { engine.events.subscribe(until: closing) }

    // MARK: - For the rest of the library

    /// The cache's directory and the files in it.
    package var directory: CacheDirectory { engine.directory }

    /// The time by which records expire, which never goes back.
    package var now: WriteTime { WriteTime(engine.generations.clock.now) }

    /// Calls `body` with a read transaction and the generation that it reads.
    ///
    /// - Parameter consistency: With `.latest`, the transaction contains the writes submitted
    ///   before, for which the call waits.
    /// - Throws: A ``CacheError``, which also stands for an error of LMDB or of the format, or
    ///   another error that `body` throws.
    package func withTransaction<R>(
        _ consistency: Consistency,
        _ body: (borrowing ReadTransaction, Generation) throws -> R
    ) throws -> R {
        guard !isClosed else { throw CacheError.closed }
        // A model that looks here while it is decoded depends on more than its record.
        AppCodeScope.noteRead()
        if consistency == .latest { try engine.queue.waitForEarlierWrites() }
        do {
            return try engine.withTransaction(body)
        } catch let error where error is LMDBError || error is FormatError {
            throw CacheError(error)
        }
    }

    /// Submits the write that `flatten` returns; `flatten` runs on another thread.
    func submit(
        coalescingKey: CoalescingKey? = nil, isDroppable: Bool = true,
        _ flatten: @escaping @Sendable (Flattener) throws -> WriteOperation
    ) -> WriteTicket {
        guard !isClosed else { return WriteTicket(failed: .closed) }
        return engine.submit(coalescingKey: coalescingKey, isDroppable: isDroppable, flatten)
    }

    /// Counts a write that is not submitted because of what its caller asks for, and returns its
    /// ticket.
    func reject(_ error: CacheError) -> WriteTicket {
        isClosed ? WriteTicket(failed: .closed) : engine.reject(error)
    }
}

/// Whether a `NormalizedCache` was closed, and the sequences that end when it is closed.
///
/// Several objects may share an engine, which stays open until the last of them is closed.
final class Closing: Sendable {
    private struct State {
        var isOver = false
        var latest = 0
        var endings: [Int: @Sendable () -> Void] = [:]
    }

    private let done = Atomic<Bool>(false)

    // protected by itself
    private let state = Mutex(State())

    /// Marks the object as closed. Returns true in the first call only.
    func isFirstCall() -> Bool { !done.exchange(true, ordering: .acquiringAndReleasing) }

    /// Whether the object was marked as closed.
    var isDone: Bool { done.load(ordering: .acquiring) }

    /// Whether a sequence ends when the object is closed.
    var hasEndings: Bool { state.withLock { !$0.endings.isEmpty } }

    /// Calls `body` when the object is closed and its writes are committed, unless the observation
    /// that is returned has ended by then. Calls it at once if `end()` was called before.
    func whenClosed(_ body: @escaping @Sendable () -> Void) -> CacheObservation {
        let number = state.withLock { state -> Int? in
            guard !state.isOver else { return nil }
            state.latest += 1
            state.endings[state.latest] = body
            return state.latest
        }
        guard let number else {
            body()
            return CacheObservation {}
        }
        return CacheObservation { [weak self] in
            let ending = self?.state.withLock { $0.endings.removeValue(forKey: number) }
            withExtendedLifetime(ending) {}
        }
    }

    /// Ends the sequences. Called once the object is closed and its writes are committed.
    func end() {
        let endings = state.withLock { state in
            state.isOver = true
            defer { state.endings = [:] }
            return state.endings
        }
        for body in endings.values { body() }
    }
}
