import EspalierRecords
import Foundation

/// A normalized cache on disk: model trees in, one record per node, whole trees out.
///
/// ```swift
/// let cache = try NormalizedCache(directory: path, configuration: Configuration(budget: .mebibytes(50)))
/// cache.set(message)
/// let message = await cache.read(Message.self, "Message:34")
/// ```
///
/// A node stored anywhere is updated everywhere: every tree that shows it is assembled from the
/// same record. Writes return a ticket at once and are committed by a thread of their own; reads
/// come from one snapshot and either give a whole tree or miss, with a reason. A read never throws:
/// a damaged record is a miss, too.
///
/// `Sendable`: call it from anywhere. Opening the directory again in this process gives the same
/// engine; it closes when the last `NormalizedCache` over it is closed or gone. Call `close()` or
/// await `flush()` before the process ends, or what was submitted last may not be committed.
public final class NormalizedCache: Sendable {
    let engine: Engine
    private let closing = CloseOnce()

    /// Opens the cache in `directory`, which is made, with mode 0700, if it is not there.
    ///
    /// Costs about a millisecond. Throws a `CacheError` when there can be no cache here: a path
    /// that is a file or a symbolic link, no permission, a newer format, a configuration other than
    /// the one it is open with.
    public convenience init(directory: String, configuration: Configuration = Configuration())
        throws(CacheError)
    {
        try self.init(directory: directory, configuration: configuration, create: true)
    }

    /// Opens the cache in `directory` if there is one; throws `.noCache` otherwise and leaves
    /// everything as it was.
    public static func existing(
        directory: String, configuration: Configuration = Configuration()
    ) throws(CacheError) -> NormalizedCache {
        try NormalizedCache(directory: directory, configuration: configuration, create: false)
    }

    private init(directory: String, configuration: Configuration, create: Bool) throws(CacheError) {
        guard Configuration.isSound(configuration.budget) else {
            throw .badBudget(configuration.budget)
        }
        guard configuration.compression.isSound else {
            throw .badCompression(configuration.compression)
        }
        engine = try EngineRegistry.shared.open(
            path: directory, configuration: configuration, create: create)
    }

    // Not on this thread: it may be the writer's, which closing waits for, or one that must not be
    // blocked.
    deinit {
        if closing.first() { Self.closeElsewhere(engine) }
    }

    /// The configuration it was opened with.
    public var configuration: Configuration { engine.configuration }

    /// Commits what was submitted and closes. Blocks until that is done. Reads miss and writes fail
    /// afterwards; closing twice is closing once.
    ///
    /// From a model's encoder or initialiser, which the writer may be waiting for, it returns at
    /// once and closes afterwards.
    public func close() {
        guard closing.first() else { return }
        guard ReadScope.isInside else { return engine.release() }
        Self.closeElsewhere(engine)
    }

    private static func closeElsewhere(_ engine: Engine) {
        if engine.letGo() { Thread.detachNewThread { engine.shutDown() } }
    }

    /// Whether this object was closed.
    public var isClosed: Bool { closing.isDone }

    /// Returns when everything submitted before is committed and synchronised with the disk. Throws
    /// what synchronising did.
    public func flush() async throws {
        try await submit(isDroppable: false) { _ in .barrier }.committed
    }

    /// Empties the cache by starting a new generation, after the writes submitted before.
    @discardableResult
    public func removeAll() -> WriteTicket {
        submit(isDroppable: false) { _ in .reset }
    }

    /// What each commit from now on changes, in the order of commits. Each call makes a sequence of
    /// its own, unbounded: consume it, or drop it.
    public func changeSets() -> AsyncStream<ChangeSet> { engine.changeSets() }

    /// What the cache does of its own accord from now on: evictions, writes it gave up, a new
    /// generation after damage. Each call makes a sequence of its own, which keeps the latest 4,096
    /// for a reader who does not keep up; the writer never waits.
    public func events() -> AsyncStream<CacheEvent> { engine.events.subscribe() }

    func submit(
        coalescingKey: CoalescingKey? = nil, isDroppable: Bool = true,
        _ flatten: @escaping @Sendable (Flattener) throws -> WriteOperation
    ) -> WriteTicket {
        guard !isClosed else { return WriteTicket(failed: .closed) }
        return engine.submit(coalescingKey: coalescingKey, isDroppable: isDroppable, flatten)
    }
}
