import Synchronization

/// A clock whose time passes only when a test says so.
///
///     let clock = StepClock()
///     let task = Task { try await clock.sleep(for: .seconds(2)) }
///     await clock.waitForSleeps(1)
///     clock.advance(by: .seconds(2))
///     try await task.value
public final class StepClock: Clock {
    public struct Instant: InstantProtocol {
        public let offset: Duration
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private struct State {
        var now = Duration.zero
        var latest = 0
        var sleepers: [Int: (end: Duration, continuation: CheckedContinuation<Void, any Error>)] =
            [:]
        var sleeps: [Duration] = []
    }
    private let state = Mutex(State())
    private let begun = Counter()

    public init() {}

    public var now: Instant { Instant(offset: state.withLock { $0.now }) }
    public var minimumResolution: Duration { .zero }

    /// How long each sleep so far was to last, in the order in which they began.
    public var sleeps: [Duration] { state.withLock { $0.sleeps } }

    /// Waits until `count` sleeps have begun in all.
    public func waitForSleeps(_ count: Int) async { await begun.reaches(count) }

    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for key in due.keys { state.sleepers[key] = nil }
            return due.sorted { ($0.value.end, $0.key) < ($1.value.end, $1.key) }
        }
        for (_, sleeper) in woken { sleeper.continuation.resume() }
    }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let key = state.withLock { state in
            state.latest += 1
            return state.latest
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    state.sleeps.append(deadline.offset - state.now)
                    guard !Task.isCancelled, deadline.offset > state.now else { return true }
                    state.sleepers[key] = (deadline.offset, continuation)
                    return false
                }
                if isOver {
                    continuation.resume(
                        with: Task.isCancelled ? .failure(CancellationError()) : .success(()))
                }
                begun.add()
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: key) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}

/// Counts events, and lets a test wait for a number of them.
public final class Counter: Sendable {
    private struct State {
        var count = 0
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }
    private let state = Mutex(State())

    public init() {}

    public var count: Int { state.withLock { $0.count } }

    public func add() {
        let reached = state.withLock { state in
            state.count += 1
            let reached = state.waiting.filter { $0.count <= state.count }
            state.waiting.removeAll { $0.count <= state.count }
            return reached
        }
        for waiter in reached { waiter.continuation.resume() }
    }

    /// Waits until there have been `count` events.
    public func reaches(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.count < count { state.waiting.append((count, continuation)) }
                return state.count >= count
            }
            if isReached { continuation.resume() }
        }
    }
}

/// A network that answers when a test says so.
///
///     let network = StepNetwork<Int>()
///     let task = Task { try await network.ask() }
///     await network.calls.reaches(1)
///     network.answer(1, with: .success(42))
public final class StepNetwork<Value: Sendable>: Sendable {
    private struct State {
        var latest = 0
        var scripted: [Result<Value, any Error>] = []
        var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
        var early: [Int: Result<Value, any Error>] = [:]
    }
    private let state = Mutex(State())
    private let ignoresCancellation: Bool
    public let calls = Counter()
    /// The calls whose task was cancelled.
    public let cancellations = Counter()

    /// - Parameters:
    ///   - scripted: What the first calls are answered with, at once.
    ///   - ignoresCancellation: Whether a cancelled call goes on.
    public init(_ scripted: [Result<Value, any Error>] = [], ignoresCancellation: Bool = false) {
        self.ignoresCancellation = ignoresCancellation
        state.withLock { $0.scripted = scripted }
    }

    public func ask() async throws -> Value {
        let (number, scripted) = state.withLock { state -> (Int, Result<Value, any Error>?) in
            state.latest += 1
            return (state.latest, state.scripted.isEmpty ? nil : state.scripted.removeFirst())
        }
        calls.add()
        if let scripted { return try scripted.get() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let early = state.withLock { state -> Result<Value, any Error>? in
                    if let early = state.early.removeValue(forKey: number) { return early }
                    state.waiting[number] = continuation
                    return nil
                }
                if let early { continuation.resume(with: early) }
            }
        } onCancel: {
            if !ignoresCancellation { answer(number, with: .failure(CancellationError())) }
            cancellations.add()
        }
    }

    /// Answers a call. The first call is 1.
    public func answer(_ number: Int, with result: Result<Value, any Error>) {
        let continuation = state.withLock { state in
            let continuation = state.waiting.removeValue(forKey: number)
            if continuation == nil { state.early[number] = result }
            return continuation
        }
        continuation?.resume(with: result)
    }
}

/// An error of a network.
public struct NetworkFailure: Error, Hashable {
    public let number: Int
    public init(_ number: Int = 0) { self.number = number }
}
