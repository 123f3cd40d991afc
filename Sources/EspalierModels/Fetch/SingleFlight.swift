import EspalierRecords
import Synchronization

/// The requests that are under way, at most one for each key that callers can still join.
///
///     no request ---- a caller asks ----> under way ---- it ends: all callers ----> no request
///                                          |     ^       get its answer
///                     another caller asks  +-----+
///                                          |
///                                          +-- the last caller leaves --> cancelled: it may still
///                                                                         answer, to no caller
///
/// Three promises:
///
/// - A caller who is cancelled leaves at once, and the request goes on for the others. The task of
///   the request belongs to no caller, so a cancelled caller does not cancel it.
/// - A caller never waits because another one was cancelled: a cancelled request can't be joined,
///   the next caller begins another one.
/// - An answer that came is applied, even if all callers have left meanwhile, unless the answer of
///   a later request for the same key was applied before: see ``AnswerOrder``.
///
/// A request that never ends blocks the callers that wait for it, and no others: no lock is held
/// while a request runs.
///
/// All threads may use it.
package final class SingleFlight: Sendable {
    /// What a request asks for.
    package struct Key: Hashable, Sendable {
        /// The kinds of requests. Those of different kinds are never joined.
        package enum Kind: Sendable { case model, collection, refetch }

        private let kind: Kind
        private let type: ObjectIdentifier
        private let identifier: Identifier

        /// - Parameters:
        ///   - kind: What is asked for.
        ///   - type: The type of the model, or of the elements of the collection.
        ///   - identifier: The identifier or the key.
        package init(_ kind: Kind, _ type: Any.Type, _ identifier: String) {
            self.kind = kind
            self.type = ObjectIdentifier(type)
            self.identifier = Identifier(identifier)
        }
    }

    /// A request. `passages` are what the callers wait for: a `Resumption` each, of the type of
    /// the value.
    private struct Flight {
        let key: Key
        var passages: [Int: any Sendable] = [:]
        /// Whether the request goes on when no caller waits for it.
        var isKept = false
        var isCancelled = false
        var task: Task<Void, Never>?
    }

    /// The requests for one key that have not ended, those that were cancelled included.
    private struct Requests {
        let order = AnswerOrder()
        /// The request that callers can join.
        var current: Int?
        var count = 0
    }

    // protected by `state`
    private struct State {
        var latest = 0
        var flights: [Int: Flight] = [:]
        var requests: [Key: Requests] = [:]

        /// Begins to cancel a request, which no caller can join from now on. Returns its task.
        mutating func cancel(_ number: Int) -> Task<Void, Never>? {
            guard let flight = flights[number], !flight.isCancelled else { return nil }
            flights[number]?.isCancelled = true
            if requests[flight.key]?.current == number { requests[flight.key]?.current = nil }
            return flight.task
        }
    }
    private let state = Mutex(State())

    package init() {}

    /// How many callers wait for a request.
    package var waitingCount: Int {
        state.withLock { $0.flights.values.reduce(0) { $0 + $1.passages.count } }
    }

    /// Joins the request for a key, or begins one.
    ///
    /// - Parameters:
    ///   - key: What is asked for. Requests for the same key must have the same type of value.
    ///   - request: Asks, and applies the answer with the turn that it is given. Called at most
    ///     once, in a task without the values of the caller's task; not at all if there is a
    ///     request to join.
    ///   - isKept: Whether the request goes on when all callers have left.
    /// - Returns: The caller's place. The caller leaves when the place is released.
    package func join<Value: Sendable>(
        _ key: Key, isKept: Bool = false,
        _ request: @escaping @Sendable (AnswerTurn) async throws -> Value
    ) -> Passage<Value> {
        state.withLock { state in
            let number = number(of: key, in: &state, request)
            if isKept { state.flights[number]?.isKept = true }
            state.latest += 1
            let end = Resumption<Result<Value, any Error>>()
            state.flights[number]?.passages[state.latest] = end
            return Passage(end, flight: number, place: state.latest, of: self)
        }
    }

    /// Begins a request for which no caller waits, or keeps the one that is under way: it goes on
    /// when the last caller leaves.
    ///
    /// - Parameters:
    ///   - key: What is asked for.
    ///   - request: As in `join`.
    package func keep<Value: Sendable>(
        _ key: Key, _ request: @escaping @Sendable (AnswerTurn) async throws -> Value
    ) {
        state.withLock { state in
            let number = number(of: key, in: &state, request)
            state.flights[number]?.isKept = true
        }
    }

    /// Whether there is a request for a key that callers can join.
    package func isUnderWay(_ key: Key) -> Bool {
        state.withLock { $0.requests[key]?.current != nil }
    }

    /// How many requests have not ended, those that were cancelled included.
    package var count: Int { state.withLock { $0.flights.count } }

    /// How many callers wait for the request for a key.
    package func passageCount(_ key: Key) -> Int {
        state.withLock { state in
            state.requests[key]?.current.flatMap { state.flights[$0]?.passages.count } ?? 0
        }
    }

    /// Cancels all requests. Those who wait for them get what the requests end with.
    package func cancelAll() {
        let tasks = state.withLock { state in
            state.flights.keys.sorted().compactMap { state.cancel($0) }
        }
        for task in tasks { task.cancel() }
    }

    /// Returns the number of the request that callers can join; begins one if there is none.
    private func number<Value: Sendable>(
        of key: Key, in state: inout State,
        _ request: @escaping @Sendable (AnswerTurn) async throws -> Value
    ) -> Int {
        var requests = state.requests[key] ?? Requests()
        if let current = requests.current { return current }
        state.latest += 1
        let number = state.latest
        requests.current = number
        requests.count += 1
        state.requests[key] = requests
        let turn = AnswerTurn(order: requests.order, number: number)
        state.flights[number] = Flight(key: key)
        // Detached, because the request belongs to all its callers: it must not inherit what the
        // task of the first one has, and above all not its end.
        state.flights[number]?.task = Task.detached(priority: Task.currentPriority) { [self] in
            let result: Result<Value, any Error>
            do {
                result = .success(try await request(turn))
            } catch {
                result = .failure(error)
            }
            end(number, result)
        }
        return number
    }

    private func end<Value: Sendable>(_ number: Int, _ result: Result<Value, any Error>) {
        let flight = state.withLock { state -> Flight? in
            guard let flight = state.flights.removeValue(forKey: number) else { return nil }
            state.requests[flight.key]?.count -= 1
            if state.requests[flight.key]?.count == 0 {
                state.requests[flight.key] = nil
            } else if state.requests[flight.key]?.current == number {
                state.requests[flight.key]?.current = nil
            }
            return flight
        }
        guard let flight else { return }
        for (_, passage) in flight.passages.sorted(by: { $0.key < $1.key }) {
            guard let end = passage as? Resumption<Result<Value, any Error>> else {
                preconditionFailure("Requests for the same key have values of different types.")
            }
            end.resume(result)
        }
    }

    /// Takes a caller off a request, and cancels the request if that was the last one.
    fileprivate func leave(_ number: Int, place: Int) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard state.flights[number]?.passages.removeValue(forKey: place) != nil,
                let flight = state.flights[number], flight.passages.isEmpty, !flight.isKept
            else { return nil }
            return state.cancel(number)
        }
        task?.cancel()
    }
}

/// A caller's place at a request. Releasing it leaves the request.
package final class Passage<Value: Sendable>: Sendable {
    private let end: Resumption<Result<Value, any Error>>
    private let flight: Int
    private let place: Int
    private let flights: SingleFlight

    fileprivate init(
        _ end: Resumption<Result<Value, any Error>>, flight: Int, place: Int,
        of flights: SingleFlight
    ) {
        self.end = end
        self.flight = flight
        self.place = place
        self.flights = flights
    }

    deinit { flights.leave(flight, place: place) }

    /// The answer of the request. To be awaited by one task.
    ///
    /// - Throws: The error of the request; `CancellationError` at once if the caller's task is
    ///   cancelled.
    package var value: Value {
        get async throws {
            try await end.cancellableValue {
                // Left first: otherwise a caller who is told so could still be counted.
                flights.leave(flight, place: place)
            }
        }
    }
}

/// The order in which the answers for one key are applied: that in which the requests began.
///
///     request 1   begins -------- cancelled ------------------------ answers: left out
///     request 2                       begins ------ answers: applied
///
/// A cancelled request may answer all the same, and late. Its answer is older than that of a
/// request which began after it, and must not replace it. Without a later answer it is applied:
/// nothing that the network has sent is thrown away for no reason.
package final class AnswerOrder: Sendable {
    /// The number of the latest request whose answer was applied. Held while one is applied, so
    /// that two answers for the same key can't overtake each other.
    private let applied = Mutex(0)

    fileprivate init() {}

    fileprivate func apply<Value: Sendable>(_ number: Int, _ body: () throws -> Value) throws
        -> Value
    {
        try applied.withLock { applied in
            guard number > applied else { throw CancellationError() }
            applied = number
            return try body()
        }
    }
}

/// The right of a request to apply its answer in order.
package struct AnswerTurn: Sendable {
    fileprivate let order: AnswerOrder
    fileprivate let number: Int

    /// Calls `body`, which applies the answer. It must not wait: for example, it submits a write.
    ///
    /// - Throws: The error of `body`; `CancellationError` if the answer of a later request has been
    ///   applied. That happens to cancelled requests only, for which no caller waits.
    package func apply<Value: Sendable>(_ body: () throws -> Value) throws -> Value {
        try order.apply(number, body)
    }
}
