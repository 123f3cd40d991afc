import Dispatch
import Synchronization

/// What a submitted write returns: tells when it is committed, or why not.
///
/// ```swift
/// let ticket = cache.set(message)
/// try await ticket.committed
/// ```
///
/// Dropping a ticket loses nothing but the news. `Sendable`; any number of tasks and threads may
/// wait.
public final class WriteTicket: Sendable {
    private enum State {
        case pending(Pending)
        case done(Result<Void, CacheError>)
    }
    private struct Pending {
        var waiting: [@Sendable (Result<Void, CacheError>) -> Void] = []
        /// What a thread that is going to be blocked does first.
        var help: (@Sendable () -> Void)?
    }
    private let state = Mutex(State.pending(Pending()))

    init() {}

    /// A ticket that has failed already.
    convenience init(failed error: CacheError) {
        self.init()
        finish(.failure(error))
    }

    /// Returns when the write is committed; throws a `CacheError` when it will not be.
    public var committed: Void {
        get async throws {
            try await withCheckedContinuation { continuation in
                whenDone { continuation.resume(returning: $0) }
            }.get()
        }
    }

    /// The same for code that can't suspend: blocks the thread. Throws `.waitInsideRead` from a
    /// model's initialiser, where waiting would hold the snapshot, and from an observer of misses.
    ///
    /// Where nothing else is being written the thread commits the write itself, models' encoders
    /// included, which takes less time than to wait for another one.
    public func wait() throws(CacheError) {
        guard !ReadScope.isInside else { throw .waitInsideRead }
        help()
        if let result { return try result.get() }
        let semaphore = DispatchSemaphore(value: 0)
        whenDone { _ in semaphore.signal() }
        semaphore.wait()
        if let result { try result.get() }
    }

    /// What became of the write; nil while it is pending.
    public var result: Result<Void, CacheError>? {
        state.withLock { state in
            guard case .done(let result) = state else { return nil }
            return result
        }
    }

    var isCommitted: Bool {
        guard case .success? = result else { return false }
        return true
    }

    /// Runs `body` once the outcome is known, at once if it is.
    func whenDone(_ body: @escaping @Sendable (Result<Void, CacheError>) -> Void) {
        let result: Result<Void, CacheError>? = state.withLock { state in
            switch state {
            case .pending(var pending):
                pending.waiting.append(body)
                state = .pending(pending)
                return nil
            case .done(let result): return result
            }
        }
        if let result { body(result) }
    }

    /// Has whoever waits run `body` first, which may do what is waited for.
    func beforeWaiting(_ body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard case .pending(var pending) = state else { return }
            pending.help = body
            state = .pending(pending)
        }
    }

    private func help() {
        let help = state.withLock { state -> (@Sendable () -> Void)? in
            guard case .pending(let pending) = state else { return nil }
            return pending.help
        }
        help?()
    }

    func finish(_ result: Result<Void, CacheError>) {
        let waiting = state.withLock { state -> [@Sendable (Result<Void, CacheError>) -> Void] in
            guard case .pending(let pending) = state else { return [] }
            state = .done(result)
            return pending.waiting
        }
        for body in waiting { body(result) }
    }
}

/// Whether the running code was called by a read or by flattening: a model's initialiser or
/// encoder.
///
/// Nested reads are fine there; waiting for a write is not, for the snapshot stays open and the
/// writer may be waiting for this very code.
enum ReadScope {
    @TaskLocal private static var scope: Scope?

    /// Tasks made inside inherit the scope; it ends for them, too, when the call has returned.
    private final class Scope: Sendable {
        let isOpen = Atomic<Bool>(true)
        let isObserving: Bool

        init(isObserving: Bool) { self.isObserving = isObserving }
    }

    static var isInside: Bool { scope?.isOpen.load(ordering: .relaxed) == true }

    /// Whether an observer of misses is being called, or a read that it makes.
    static var isObserving: Bool { isInside && scope?.isObserving == true }

    static func run<R>(observing: Bool = false, _ body: () throws -> R) rethrows -> R {
        let scope = Scope(isObserving: observing || isObserving)
        defer { scope.isOpen.store(false, ordering: .relaxed) }
        return try $scope.withValue(scope) { try body() }
    }
}

extension CacheError {
    static let waitInsideRead = CacheError(
        .waitInsideRead,
        "A model's initialiser or encoder, or an observer, waited for a write. Read with consistency .snapshot there."
    )
}
