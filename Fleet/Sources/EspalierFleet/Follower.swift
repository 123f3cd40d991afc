import EspalierRedis
import EspalierSharedRecords
import Foundation
import Logging
import Synchronization

/// Follows the commits of one server on a thread and a connection of its own.
///
///     connecting --> catching up --> following --(error)--> connecting
///
/// The thread asks for all commits after the last processed one. The server answers at once if
/// there are some, and otherwise when one comes, or after a second. After an answer with commits
/// the thread pauses, because a busy server would otherwise wake each host for each commit.
///
/// Every `heartbeat` a task asks for the number of the last commit. Once the host knows all commits
/// up to it, from the thread or as its own, the copies are current as of the question. Redis ends
/// waits only every 100 ms, so an empty answer to the thread would come too late. If the number is
/// smaller than that of a commit that the host knew, the server has lost commits, and the thread
/// begins anew after its current question.
final class Follower: Sendable {
    private let address: RedisAddress
    private let server: RecordServer
    private let index: Int
    private let isOnServer: @Sendable (SharedName) -> Bool
    private let coherence: Coherence
    private let observers: ChangeObservers
    private let timeout: Duration
    private let heartbeat: Duration
    private let bound: Duration
    /// The pause after an answer with commits, in seconds.
    private let pause: Double
    private let statistics: FleetCounters
    private let logger: Logger?
    private let milliseconds: @Sendable () -> UInt64
    private let isClosed = Atomic<Bool>(false)

    /// How long the server may wait for a commit before it answers.
    private static let blockLimit = Duration.seconds(1)
    /// The most commits in one answer.
    private static let batch = 1_000

    init(
        _ servers: Servers, _ index: Int, _ coherence: Coherence, _ observers: ChangeObservers,
        _ configuration: FleetConfiguration, _ statistics: FleetCounters, _ logger: Logger?
    ) {
        address = configuration.servers[index]
        server = servers.all[index]
        self.index = index
        isOnServer = { servers.index(of: $0) == index }
        self.coherence = coherence
        self.observers = observers
        timeout = configuration.timeout
        // Well below the bound, so that one late answer does not make copies stale.
        heartbeat = max(
            .milliseconds(5), min(.milliseconds(100), configuration.maximumStaleness / 5))
        bound = configuration.maximumStaleness
        let pause = max(.zero, min(configuration.followPause, bound / 5))
        self.pause = Double(pause.nanoseconds) / 1e9
        self.statistics = statistics
        self.logger = logger
        milliseconds = configuration.milliseconds
    }

    func start() {
        let thread = Thread { [self] in run() }
        thread.name = "espalier-follow"
        thread.start()
        Task.detached { [self] in
            while !isClosed.load(ordering: .relaxed) {
                await sendHeartbeat()
                try? await Task.sleep(for: heartbeat)
            }
        }
        // Separate: the thread and the heartbeat may wait for a server.
        Task.detached { [self] in
            while !isClosed.load(ordering: .relaxed) {
                coherence.endLateWaits()
                try? await Task.sleep(for: Self.waitCheck)
            }
        }
    }

    /// How often waits for the follower are ended that have lasted too long.
    private static let waitCheck = Duration.milliseconds(50)

    /// Asks for the last commit, and confirms that the host knows it.
    private func sendHeartbeat() async {
        let asked = Moment.now
        let known = coherence.known(of: index)
        let command = RedisCommand("GET", server.clockKey)
        guard let (reply, runIdentifier) = try? await server.client.ask(command),
            let clock = try? RecordServer.clock(reply)
        else { return }
        if coherence.noteLoss(of: index, clock, runIdentifier: runIdentifier, after: known) {
            return
        }
        guard await coherence.wait(for: clock, of: index, atMost: bound),
            await coherence.hasOutdatedCopies(of: index)
        else { return }
        coherence.confirm(index, clock, runIdentifier: runIdentifier, at: asked)
    }

    /// Ends the thread after its current question.
    func close() { isClosed.store(true, ordering: .relaxed) }

    private func run() {
        blockPipeSignal()
        var backoff = Backoff()
        var lastError: RedisError?
        var wait = Self.firstPause
        while !isClosed.load(ordering: .relaxed) {
            var isConnected = false
            do throws(RedisError) {
                let connection = try backoff.connect(address, timeout)
                isConnected = true
                try follow(connection) {
                    if lastError != nil { logger?.info("following \(server.name) again") }
                    lastError = nil
                    wait = Self.firstPause
                }
            } catch {
                coherence.stopFollowing(index)
                if error != lastError {
                    logger?.warning("can't follow \(server.name): \(error)")
                    statistics.add(\.disconnections, 1)
                }
                lastError = error
                // `backoff` spaces attempts to connect. A server may also accept connections and
                // refuse each question.
                Thread.sleep(forTimeInterval: isConnected ? wait : Self.firstPause)
                if isConnected { wait = min(wait * 2, Self.longestPause) }
            }
        }
        coherence.stopFollowing(index)
    }

    /// How long to wait before the next connection, in seconds, after the first failure and after
    /// many.
    private static let firstPause = 0.02
    private static let longestPause = 2.0

    /// Follows the server by a connection, until that breaks.
    ///
    /// - Parameter onAnswer: Called when the server has answered with changes, or with none.
    private func follow(
        _ connection: RedisConnection, onAnswer: () -> Void
    ) throws(RedisError) {
        let reply = try connection.send([RedisCommand("GET", server.clockKey)])[0]
        let clock = try RecordServer.clock(reply)
        var (position, isReset) = coherence.follow(
            index, runIdentifier: connection.runIdentifier, clock: clock)
        if clock == 0 { position = try lastEntry(connection) }
        if isReset { finishReset("has restarted, or can't be followed from where this host was") }
        var isFirst = true
        while !isClosed.load(ordering: .relaxed) {
            if coherence.hasLostCommits(index) {
                position = try restart(connection)
                isFirst = false
            }
            if coherence.mustOutdateCopies(of: index) {
                coherence.outdateCopies(of: index, where: isOnServer)
            }
            var command = RedisCommand(
                "XREAD", "COUNT", Self.batch, "BLOCK", Self.blockLimit.milliseconds, "STREAMS",
                server.changesKey, "\(position)-0")
            command.wait = Self.blockLimit
            let reply = try connection.send([command])[0]
            if case .error(let message) = reply { throw .refused(message) }
            onAnswer()
            guard !coherence.hasLostCommits(index) else { continue }
            let (entries, last) = Self.entries(reply)
            // Entries of a later version of the library can't be read.
            let isMissing =
                entries.last?.clock != last || isFirst && entries.isEmpty && position < clock
            isFirst = false
            guard !isMissing,
                let changed = coherence.apply(entries, of: index)
            else {
                // Commits are missing: the server keeps no more of them, or has lost its memory.
                let last = last ?? max(position, clock)
                coherence.reset(index, to: last)
                finishReset("lacks changes that this host has not seen")
                position = last
                continue
            }
            let deleted = entries.reduce(into: Set<SharedName>()) { deleted, entry in
                deleted.subtract(entry.names)
                deleted.formUnion(entry.deleted)
            }
            observers.notify(Set(changed), deleted: deleted, source: 0)
            if let last = entries.last {
                position = last.clock
                let now = milliseconds()
                let age = now - min(now, last.version.milliseconds)
                statistics.addDelay(.milliseconds(Int(clamping: age)))
                // Otherwise more are waiting.
                if entries.count < Self.batch { Thread.sleep(forTimeInterval: pause) }
            }
        }
    }

    /// Begins anew behind the last commit of a server that has lost commits. Returns its number.
    private func restart(_ connection: RedisConnection) throws(RedisError) -> UInt64 {
        let reply = try connection.send([RedisCommand("GET", server.clockKey)])[0]
        let clock = try RecordServer.clock(reply)
        coherence.reset(index, to: clock)
        finishReset("has lost commits that this host has seen")
        return clock == 0 ? try lastEntry(connection) : clock
    }

    /// Returns the number of the last entry of the stream, 0 if it has none. A server without a
    /// clock may still have the stream of before: its entries would be newer than the clock.
    private func lastEntry(_ connection: RedisConnection) throws(RedisError) -> UInt64 {
        let command = RedisCommand("XREVRANGE", server.changesKey, "+", "-", "COUNT", 1)
        let reply = try connection.send([command])[0]
        if case .error(let message) = reply { throw .refused(message) }
        return reply.elements?.first.flatMap(ChangeEntry.number) ?? 0
    }

    /// Makes the copies of the server outdated, and tells the managers, which then read again what
    /// they show.
    private func finishReset(_ reason: String) {
        logger?.notice("\(server.name) \(reason): its copies are fetched anew")
        coherence.outdateCopies(of: index, where: isOnServer)
        observers.notifyReset()
    }

    /// Returns the entries of an answer, and the number of the last one, whether it can be read or
    /// not. An entry that can't be read leaves a gap in the numbers.
    private static func entries(_ reply: RedisReply) -> (entries: [ChangeEntry], last: UInt64?) {
        let replies = (reply.elements ?? []).flatMap { $0.elements?.last?.elements ?? [] }
        return (replies.compactMap(ChangeEntry.init), replies.last.flatMap(ChangeEntry.number))
    }
}
