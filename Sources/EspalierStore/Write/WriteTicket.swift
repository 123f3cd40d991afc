import Dispatch
import EspalierModels
import Synchronization

/// Tells when a submitted write is committed, or why it is not.
///
/// ```swift
/// let ticket = cache.set(message)
/// try await ticket.committed
/// ```
///
/// A ticket succeeds only if everything in its write was stored, or was overwritten by a later
/// write that was stored. It always ends: with success, or with a ``CacheError``.
///
/// The write does not depend on its ticket: the caller may ignore the ticket. Any number of tasks
/// and threads may wait for the same ticket.
public final class WriteTicket: Sendable {
    private enum State {
        case pending(Pending)
        case done(Result<Void, CacheError>)
    }
    private struct Pending {
        var waiting: [Int: @Sendable (Result<Void, CacheError>) -> Void] = [:]
        var lastKey = 0
        /// Called by a thread before it blocks.
        var help: (@Sendable () -> Void)?
    }

    // protected by `state`
    private let state = Mutex(State.pending(Pending()))

    /// Set once, by the thread that flattens the write.
    private let flattenedContradictions = Atomic(0)

    init() {}

    /// Makes a ticket that has failed already.
    convenience init(failed error: CacheError) {
        self.init()
        finish(.failure(error))
    }

    /// Returns when the write is committed.
    ///
    /// - Throws: The ``CacheError`` that says why the write was not committed.
    public var committed: Void {
        get async throws {
            try await withCheckedContinuation { continuation in
                whenDone { continuation.resume(returning: $0) }
            }.get()
        }
    }

    /// Returns when the write is committed, but waits no longer than `timeout`.
    ///
    /// ```swift
    /// try await cache.set(order).committed(timeout: .seconds(1))
    /// ```
    ///
    /// - Parameter timeout: The longest wait.
    /// - Throws: The ``CacheError`` that says why the write was not committed; `.timedOut` after
    ///   the longest wait; `CancellationError` when the task is cancelled. The write goes on in the
    ///   last two cases, and may still be committed: its ticket tells.
    public func committed(timeout: Duration) async throws {
        let end = Resumption<Result<Void, any Error>>()
        let key = whenDone { end.resume($0.mapError { $0 }) }
        // A caller that asks again and again leaves nothing behind.
        defer { removeWaiting(key) }
        end.resume(.failure(CacheError.timedOut), after: timeout)
        try await end.cancellableValue()
    }

    /// Blocks the calling thread until the write is committed. Use ``committed`` where code can
    /// suspend.
    ///
    /// If no other write is under way, the calling thread commits the write itself and runs the
    /// models' encoders. That takes less time than waiting for another thread.
    ///
    /// - Throws: The ``CacheError`` that says why the write was not committed. `.waitInsideRead` in
    ///   a model's initialiser or encoder, where waiting would keep the snapshot open, and in an
    ///   observer of misses.
    public func wait() throws(CacheError) {
        guard !AppCodeScope.isInside else { throw .waitInsideRead }
        let help = state.withLock { state -> (@Sendable () -> Void)? in
            guard case .pending(let pending) = state else { return nil }
            return pending.help
        }
        help?()
        if let result { return try result.get() }
        let semaphore = DispatchSemaphore(value: 0)
        whenDone { _ in semaphore.signal() }
        semaphore.wait()
        if let result { try result.get() }
    }

    /// How the write ended; nil while it is pending.
    public var result: Result<Void, CacheError>? {
        state.withLock { state in
            guard case .done(let result) = state else { return nil }
            return result
        }
    }

    /// How often a node occurred again in this write with other content than the first time; 0
    /// until the write is committed.
    ///
    /// ```swift
    /// let ticket = cache.set(timeline)
    /// try await ticket.committed
    /// if ticket.contradictions > 0 { log("the response contradicts itself") }
    /// ```
    ///
    /// Only nodes that the write replaces count: their records have the content of the first
    /// occurrence of each node and type, and the other content is not stored. A node that merges
    /// keeps the fields of all occurrences, and counts only where one of them stands inside of
    /// content that is not stored. An object of a class that occurs again does not count, because
    /// it is the same object.
    ///
    /// The number is a lower bound where nodes occur more than four times each on average, or where
    /// their occurrences have more than four times the bytes of the tree: values that share their
    /// children may have too many occurrences to compare.
    public var contradictions: Int {
        isCommitted ? flattenedContradictions.load(ordering: .acquiring) : 0
    }

    func setContradictions(_ count: Int) {
        flattenedContradictions.store(count, ordering: .releasing)
    }

    var isCommitted: Bool {
        guard case .success? = result else { return false }
        return true
    }

    /// Runs `body` when the write has ended, at once if it has. Returns the key with which
    /// `removeWaiting` takes it back.
    @discardableResult
    func whenDone(_ body: @escaping @Sendable (Result<Void, CacheError>) -> Void) -> Int {
        let (key, result) = state.withLock { state -> (Int, Result<Void, CacheError>?) in
            switch state {
            case .pending(var pending):
                pending.lastKey += 1
                pending.waiting[pending.lastKey] = body
                state = .pending(pending)
                return (pending.lastKey, nil)
            case .done(let result): return (0, result)
            }
        }
        if let result { body(result) }
        return key
    }

    private func removeWaiting(_ key: Int) {
        state.withLock { state in
            guard case .pending(var pending) = state else { return }
            pending.waiting[key] = nil
            state = .pending(pending)
        }
    }

    /// Sets a closure that a waiting thread calls before it blocks. The closure may commit the
    /// write.
    func beforeWaiting(_ help: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard case .pending(var pending) = state else { return }
            pending.help = help
            state = .pending(pending)
        }
    }

    /// Ends the ticket. Later calls have no effect.
    func finish(_ result: Result<Void, CacheError>) {
        let waiting = state.withLock { state -> [@Sendable (Result<Void, CacheError>) -> Void] in
            guard case .pending(let pending) = state else { return [] }
            state = .done(result)
            return pending.waiting.sorted { $0.key < $1.key }.map(\.value)
        }
        for body in waiting { body(result) }
    }
}

/// Marks reads, flattening, commits and calls of observers of misses: they may run code of the app,
/// such as a model's initialiser or encoder.
///
/// That code may read. It must not wait for a write: the snapshot would stay open, and the writer
/// may be waiting for this very code.
package enum AppCodeScope {
    @TaskLocal private static var scope: Scope?

    /// Tasks created in the call inherit the scope. It ends for them, too, when the call returns.
    private final class Scope: Sendable {
        let isOpen = Atomic<Bool>(true)
        let isObserving: Bool
        let hasNestedRead = Atomic<Bool>(false)

        init(isObserving: Bool) { self.isObserving = isObserving }
    }

    static var isInside: Bool { scope?.isOpen.load(ordering: .relaxed) == true }

    /// Whether a model's initialiser has read from a cache during the read under way.
    static var hasNestedRead: Bool {
        scope?.hasNestedRead.load(ordering: .relaxed) == true
    }

    /// Notes that the code reads from a cache. Returns whether it does so inside of another read.
    @discardableResult
    static func noteRead() -> Bool {
        guard let scope, scope.isOpen.load(ordering: .relaxed) else { return false }
        scope.hasNestedRead.store(true, ordering: .relaxed)
        return true
    }

    /// Whether the code runs in an observer of misses, or in a read that the observer makes.
    static var isObserving: Bool { isInside && scope?.isObserving == true }

    package static func run<R>(observing: Bool = false, _ body: () throws -> R) rethrows -> R {
        let scope = Scope(isObserving: observing || isObserving)
        defer { scope.isOpen.store(false, ordering: .relaxed) }
        return try $scope.withValue(scope) { try body() }
    }
}

extension CacheError {
    static let waitInsideRead = CacheError(
        .waitInsideRead,
        """
        A model's initialiser or encoder, or an observer of misses, waited for a write. Read with \
        consistency .snapshot there.
        """)
}
