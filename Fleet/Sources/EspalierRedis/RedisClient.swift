import Foundation
import Synchronization

/// Asks one server, by a few connections. Each connection has a thread, and sends what has gathered
/// while it waited for answers as one pipeline.
///
/// ```swift
/// let client = RedisClient(RedisAddress(host: "127.0.0.1"))
/// let replies = try await client.send([RedisCommand("GET", "a"), RedisCommand("GET", "b")])
/// ```
///
/// A request ends at the latest after twice the timeout: with an answer, or with an error. While the
/// server can't be reached, requests fail at once, and a connection is tried after 50 ms, then after
/// twice that, up to 2 s. All threads may use the client.
public final class RedisClient: Sendable {
    /// The server.
    public let address: RedisAddress
    private let lanes: [Lane]
    private let next = Atomic<Int>(0)

    /// Makes a client. It connects when it is first asked.
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
        guard !commands.isEmpty else { return [] }
        return try await withCheckedThrowingContinuation { continuation in
            submit(commands) { continuation.resume(with: $0) }
        }
    }

    /// Sends one command.
    ///
    /// - Parameter command: The command.
    /// - Returns: The answer.
    /// - Throws: `RedisError`; `.refused` too.
    public func send(_ command: RedisCommand) async throws -> RedisReply {
        guard let reply = try await send([command]).first else {
            throw RedisError.malformed("no answer")
        }
        if case .error(let message) = reply { throw RedisError.refused(message) }
        return reply
    }

    /// Sends commands, and calls `completion` with the answers, on a thread of the client's.
    ///
    /// - Parameters:
    ///   - commands: The commands.
    ///   - completion: Called once. It must not block.
    public func submit(
        _ commands: [RedisCommand],
        completion: @escaping @Sendable (Result<[RedisReply], any Error>) -> Void
    ) {
        // The lane that waits for least, beginning with another one each time.
        let first = next.wrappingAdd(1, ordering: .relaxed).newValue
        let start = Int(UInt(bitPattern: first) % UInt(lanes.count))
        var best = lanes[start]
        var least = best.load
        for offset in 1..<lanes.count where least > 0 {
            let lane = lanes[(start + offset) % lanes.count]
            let load = lane.load
            if load < least { (best, least) = (lane, load) }
        }
        best.submit(Request(commands: commands, completion: completion))
    }
}

private struct Request: Sendable {
    let commands: [RedisCommand]
    let completion: @Sendable (Result<[RedisReply], any Error>) -> Void
    let submitted = ContinuousClock.now
}

/// A connection, its thread, and what waits for it.
private final class Lane: Sendable {
    private let address: RedisAddress
    private let timeout: Duration

    private struct State {
        var requests: [Request] = []
        var isClosed = false
        var load = 0
    }
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    init(_ address: RedisAddress, _ timeout: Duration) {
        self.address = address
        self.timeout = timeout
    }

    /// The number of requests that are not answered.
    var load: Int { state.withLock { $0.load } }

    func start() {
        let thread = Thread { [self] in run() }
        thread.name = "espalier-redis"
        thread.start()
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

    private func run() {
        blockPipeSignal()
        var connection: RedisConnection?
        var backoff = Backoff()
        while true {
            wake.wait()
            let (requests, isClosed) = state.withLock { state in
                let requests = state.requests
                state.requests = []
                return (requests, state.isClosed)
            }
            guard !isClosed else {
                finish(requests, .unreachable("the client is closed"))
                return
            }
            guard !requests.isEmpty else { continue }
            let open: RedisConnection
            do throws(RedisError) {
                if let connection {
                    open = connection
                } else {
                    open = try backoff.connect(address, timeout)
                }
            } catch {
                finish(requests, error)
                continue
            }
            connection = answer(requests, open) ? open : nil
        }
    }

    /// Sends all requests as one pipeline, and ends them. Requests that have waited too long fail.
    /// Returns whether the connection is of further use.
    private func answer(_ requests: [Request], _ connection: RedisConnection) -> Bool {
        let deadline = ContinuousClock.now - timeout
        finish(requests.filter { $0.submitted < deadline }, .timedOut)
        let live = requests.filter { $0.submitted >= deadline }
        guard !live.isEmpty else { return true }
        do throws(RedisError) {
            let replies = try connection.send(live.flatMap(\.commands))
            var first = 0
            for request in live {
                let end = first + request.commands.count
                state.withLock { $0.load -= 1 }
                request.completion(.success(Array(replies[first..<end])))
                first = end
            }
            return true
        } catch {
            finish(live, error)
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
/// The write then fails, and so does the request.
public func blockPipeSignal() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
}
