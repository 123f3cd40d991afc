import Foundation
import Synchronization

/// Sends commands to one server over a few connections. Each connection has a thread. Commands that
/// arrive while the thread waits for answers are sent together afterwards, as one pipeline.
///
/// ```swift
/// let client = RedisClient(RedisAddress(host: "127.0.0.1"))
/// let replies = try await client.send([RedisCommand("GET", "a"), RedisCommand("GET", "b")])
/// ```
///
/// A caller whose connection is idle sends its request itself, and waits for the answer for up to a
/// millisecond. That saves two changes of threads, which take longer than a server nearby. After
/// that the thread of the connection goes on waiting.
///
/// A request ends at the latest after twice the timeout: with an answer, or with an error. While
/// the server can't be reached, requests fail at once, and a connection is tried after 50 ms, then
/// after twice that, up to 2 s. All threads may use the client.
public final class RedisClient: Sendable {
    /// The server.
    public let address: RedisAddress
    private let lanes: [Lane]
    private let next = Atomic<Int>(0)

    /// Makes a client, and begins to connect.
    ///
    /// - Parameters:
    ///   - address: The server.
    ///   - connections: The number of connections.
    ///   - timeout: How long to wait for a connection and for an answer.
    public init(_ address: RedisAddress, connections: Int = 2, timeout: Duration = .seconds(1)) {
        self.address = address
        lanes = (0..<max(1, connections)).map { _ in Lane(address, timeout) }
        for lane in lanes { lane.start() }
    }

    deinit { close() }

    /// Ends the connections. Requests that wait fail, and so do all later ones.
    public func close() { for lane in lanes { lane.close() } }

    /// Sends commands, and returns the answers in their order: one round trip.
    ///
    /// - Parameter commands: The commands. They go over one connection.
    /// - Returns: An answer for each command. One that the server refuses is `.error`.
    /// - Throws: `RedisError`. What was sent may have been done or not.
    public func send(_ commands: [RedisCommand]) async throws -> [RedisReply] {
        try await ask(commands).replies
    }

    /// Sends commands, and tells which process of the server has answered.
    ///
    /// - Parameter commands: The commands. They go over one connection.
    /// - Returns: An answer for each command, and the process.
    /// - Throws: `RedisError`. What was sent may have been done or not.
    public func ask(_ commands: [RedisCommand]) async throws -> RedisAnswer {
        guard !commands.isEmpty else { return RedisAnswer(replies: [], runIdentifier: "") }
        let lane = leastLoadedLane()
        switch lane.tryAtOnce(commands) {
        case .answered(let answer): return answer
        case .failed(let error): throw error
        case .waiting(let connection):
            return try await withCheckedThrowingContinuation { continuation in
                lane.goOn(
                    connection,
                    Request(commands: commands) { continuation.resume(with: $0) })
            }
        case .busy:
            return try await withCheckedThrowingContinuation { continuation in
                lane.submit(Request(commands: commands) { continuation.resume(with: $0) })
            }
        }
    }

    /// Sends one command.
    ///
    /// - Parameter command: The command.
    /// - Returns: The answer.
    /// - Throws: `RedisError`; `.refused` too.
    public func send(_ command: RedisCommand) async throws -> RedisReply {
        try await ask(command).reply
    }

    /// Sends one command, and tells which process of the server has answered.
    ///
    /// - Parameter command: The command.
    /// - Returns: The answer, and the run identifier of the process.
    /// - Throws: `RedisError`; `.refused` too.
    public func ask(
        _ command: RedisCommand
    ) async throws -> (reply: RedisReply, runIdentifier: String) {
        let answer = try await ask([command])
        guard let reply = answer.replies.first else { throw RedisError.malformed("no answer") }
        if case .error(let message) = reply { throw RedisError.refused(message) }
        return (reply, answer.runIdentifier)
    }

    /// Returns the connected lane with the fewest requests, starting at another one each time.
    /// Lanes without a connection are asked to connect, and used only if there is no other.
    private func leastLoadedLane() -> Lane {
        let first = next.wrappingAdd(1, ordering: .relaxed).newValue
        let start = Int(UInt(bitPattern: first) % UInt(lanes.count))
        var best: (lane: Lane, load: Int)?
        for offset in lanes.indices {
            let lane = lanes[(start + offset) % lanes.count]
            guard let load = lane.load else {
                lane.connect()
                continue
            }
            if load < best?.load ?? .max { best = (lane, load) }
            if load == 0 { break }
        }
        return best?.lane ?? lanes[start]
    }
}

/// The answers to some commands.
public struct RedisAnswer: Sendable {
    /// An answer for each command.
    public let replies: [RedisReply]
    /// Names the server's process that has answered.
    public let runIdentifier: String
}

private struct Request: Sendable {
    let commands: [RedisCommand]
    let completion: @Sendable (Result<RedisAnswer, any Error>) -> Void
    let submitted = ContinuousClock.now

    init(
        commands: [RedisCommand],
        completion: @escaping @Sendable (Result<RedisAnswer, any Error>) -> Void
    ) {
        self.commands = commands
        self.completion = completion
    }
}

/// A connection, its thread, and what waits for it.
///
///     idle --(a caller sends)--> lent --(answer)--> idle
///                                lent --(no answer yet)--> thread --(answer)--> idle
///     idle --(requests wait)--> thread --(answers)--> idle
///
/// The connection belongs to one thread at a time: `State.idle` hands it on.
private final class Lane: Sendable {
    private let address: RedisAddress
    private let timeout: Duration

    /// A connection on its way from one thread to another.
    struct Passed: @unchecked Sendable {
        // Only the thread that has taken it out of the state uses it.
        let connection: RedisConnection
    }

    private struct State {
        var requests: [Request] = []
        /// A request that was sent, and whose answer the thread has to wait for.
        var sent: (Passed, Request)?
        var idle: Passed?
        /// Whether a caller has the connection.
        var isLent = false
        var isClosed = false
        var isConnected = false
        var load = 0
    }
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    /// How long a caller waits for an answer, in milliseconds.
    private static let patience = 1

    enum Attempt {
        case answered(RedisAnswer)
        case failed(RedisError)
        /// The request was sent, and is not answered yet.
        case waiting(Passed)
        /// The connection is in use, or there is none.
        case busy
    }

    init(_ address: RedisAddress, _ timeout: Duration) {
        self.address = address
        self.timeout = timeout
    }

    /// The number of requests that are not answered; nil without a connection.
    var load: Int? { state.withLock { $0.isConnected ? $0.load : nil } }

    /// Lets the thread connect, unless the last attempt was too short a time ago.
    func connect() { wake.signal() }

    func start() {
        let thread = Thread { [self] in run() }
        thread.name = "espalier-redis"
        thread.start()
        wake.signal()
    }

    // MARK: By the caller

    /// Sends commands on the caller's thread if the connection is idle.
    func tryAtOnce(_ commands: [RedisCommand]) -> Attempt {
        let passed = state.withLock { state -> Passed? in
            guard let idle = state.idle, !state.isClosed else { return nil }
            state.idle = nil
            state.isLent = true
            state.load += 1
            return idle
        }
        guard let passed else { return .busy }
        let connection = passed.connection
        guard !connection.isBroken else {
            giveBack(nil)
            return .busy
        }
        do throws(RedisError) {
            try PipeSignal.blocked { () throws(RedisError) in try connection.write(commands) }
            guard connection.waitForAnswer(milliseconds: Self.patience) else {
                return .waiting(passed)
            }
            let replies = try connection.read(commands.count)
            giveBack(passed)
            return .answered(
                RedisAnswer(replies: replies, runIdentifier: connection.runIdentifier))
        } catch {
            giveBack(nil)
            return .failed(error)
        }
    }

    private func giveBack(_ connection: Passed?) {
        let mustWake = state.withLock { state in
            state.load -= 1
            state.isLent = false
            state.idle = connection
            state.isConnected = connection != nil
            return !state.requests.isEmpty || state.isClosed || connection == nil
        }
        if mustWake { wake.signal() }
    }

    /// Lets the thread wait for the answer of a request that was sent.
    func goOn(_ connection: Passed, _ request: Request) {
        state.withLock { state in
            state.isLent = false
            state.sent = (connection, request)
        }
        wake.signal()
    }

    func submit(_ request: Request) {
        let isTaken = state.withLock { state in
            guard !state.isClosed else { return false }
            state.requests.append(request)
            state.load += 1
            return true
        }
        guard isTaken else {
            request.completion(.failure(RedisError.unreachable("the client is closed")))
            return
        }
        wake.signal()
    }

    func close() {
        state.withLock { $0.isClosed = true }
        wake.signal()
    }

    // MARK: By the thread

    private struct Work {
        var sent: (Passed, Request)?
        var idle: Passed?
        var requests: [Request]
        var isClosed: Bool
    }

    /// Takes what there is to do; nil while a caller has the connection.
    private func takeWork() -> Work? {
        state.withLock { state in
            guard !state.isLent else { return nil }
            let work = Work(
                sent: state.sent, idle: state.idle, requests: state.requests,
                isClosed: state.isClosed)
            (state.sent, state.idle, state.requests) = (nil, nil, [])
            return work
        }
    }

    private func run() {
        blockPipeSignal()
        var backoff = Backoff()
        while true {
            wake.wait()
            guard let work = takeWork() else { continue }
            var connection = work.sent?.0.connection ?? work.idle?.connection
            if let (passed, request) = work.sent {
                connection = finish([request], passed.connection) ? passed.connection : nil
            }
            guard !work.isClosed else {
                finish(work.requests, .unreachable("the client is closed"))
                return
            }
            do throws(RedisError) {
                let open: RedisConnection
                if let connection, !connection.isBroken {
                    open = connection
                } else {
                    open = try backoff.connect(address, timeout)
                }
                connection = work.requests.isEmpty || answer(work.requests, open) ? open : nil
            } catch {
                connection = nil
                finish(work.requests, error)
            }
            state.withLock { state in
                state.idle = connection.map { Passed(connection: $0) }
                state.isConnected = connection != nil
            }
        }
    }

    /// Sends all requests as one pipeline, and ends them. Requests that have waited too long fail.
    /// Returns whether the connection is of further use.
    private func answer(_ requests: [Request], _ connection: RedisConnection) -> Bool {
        let deadline = ContinuousClock.now - timeout
        finish(requests.filter { $0.submitted < deadline }, .timedOut)
        let live = requests.filter { $0.submitted >= deadline }
        do throws(RedisError) {
            try connection.write(live.flatMap(\.commands))
        } catch {
            finish(live, error)
            return false
        }
        return finish(live, connection)
    }

    /// Waits for the answers of requests that were sent, and ends them. Returns whether the
    /// connection is of further use.
    private func finish(_ requests: [Request], _ connection: RedisConnection) -> Bool {
        do throws(RedisError) {
            let replies = try connection.read(requests.reduce(0) { $0 + $1.commands.count })
            var first = 0
            for request in requests {
                let end = first + request.commands.count
                state.withLock { $0.load -= 1 }
                request.completion(
                    .success(
                        RedisAnswer(
                            replies: Array(replies[first..<end]),
                            runIdentifier: connection.runIdentifier)))
                first = end
            }
            return true
        } catch {
            finish(requests, error)
            return false
        }
    }

    private func finish(_ requests: [Request], _ error: RedisError) {
        for request in requests {
            state.withLock { $0.load -= 1 }
            request.completion(.failure(error))
        }
    }
}

/// When a connection may be tried again: 50 ms after the first failure, then after twice as long
/// each time, up to 2 s.
public struct Backoff {
    private var wait = Duration.milliseconds(25)
    private var failure: (error: RedisError, next: ContinuousClock.Instant)?

    /// Makes a back-off without failures.
    public init() {}

    /// Connects, unless the last failure was too short a time ago.
    ///
    /// - Parameters:
    ///   - address: The server.
    ///   - timeout: How long to wait for the connection.
    /// - Throws: The error of this attempt, or of the last one.
    public mutating func connect(
        _ address: RedisAddress, _ timeout: Duration
    ) throws(RedisError) -> RedisConnection {
        if let failure, failure.next > .now { throw failure.error }
        do throws(RedisError) {
            let connection = try RedisConnection(address, timeout: timeout)
            self = Backoff()
            return connection
        } catch {
            wait = min(wait * 2, .seconds(2))
            failure = (error, .now + wait)
            throw error
        }
    }
}

/// Keeps a broken connection from ending the process: hiredis 0.14 writes without `MSG_NOSIGNAL`.
/// Blocks the signal of the calling thread for good. A write then fails, and so does the request.
public func blockPipeSignal() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
}

/// Blocks the signal of a broken connection on a thread that belongs to others.
private enum PipeSignal {
    /// Runs `body` without the signal. If `body` has caused it, it is taken away before the thread
    /// may receive it again.
    static func blocked(_ body: () throws(RedisError) -> Void) throws(RedisError) {
        var signals = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer {
            if unsafe sigismember(&before, SIGPIPE) == 0 {
                unsafe takePending(&signals)
                unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
            }
        }
        try body()
    }

    private static func takePending(_ signals: UnsafePointer<sigset_t>) {
        var pending = sigset_t()
        unsafe sigemptyset(&pending)
        unsafe sigpending(&pending)
        if unsafe sigismember(&pending, SIGPIPE) == 1 {
            var number: Int32 = 0
            unsafe sigwait(signals, &number)
        }
    }
}
