import EspalierRedis
import EspalierSharing
import Foundation
import Logging
import Synchronization

/// Follows the commits of one server on a thread and a connection of its own.
///
///     connecting --> catching up --> following --(error)--> connecting
///
/// The thread asks for all commits after the last processed one. The server answers at once if
/// there are some, and otherwise when one comes, or after `heartbeat`. Each answer tells that at
/// the time of the question the host knew everything.
final class Follower: Sendable {
    private let address: RedisAddress
    private let server: RecordServer
    private let index: Int
    private let coherence: Coherence
    private let timeout: Duration
    private let heartbeat: Duration
    private let statistics: FleetCounters
    private let logger: Logger?
    private let milliseconds: @Sendable () -> UInt64
    private let isClosed = Atomic<Bool>(false)

    /// The most commits in one answer.
    private static let batch = 1_000

    init(
        _ server: RecordServer, _ index: Int, _ coherence: Coherence,
        _ configuration: FleetConfiguration, _ statistics: FleetCounters, _ logger: Logger?
    ) {
        address = configuration.servers[index]
        self.server = server
        self.index = index
        self.coherence = coherence
        timeout = configuration.timeout
        // Well below the bound, so that one lost answer does not make copies stale.
        heartbeat = max(.milliseconds(5), min(.milliseconds(100), configuration.maximumStaleness / 5))
        self.statistics = statistics
        self.logger = logger
        milliseconds = configuration.milliseconds
    }

    func start() {
        let thread = Thread { [self] in run() }
        thread.name = "espalier-follow"
        thread.start()
    }

    /// Ends the thread after its current question.
    func close() { isClosed.store(true, ordering: .relaxed) }

    private func run() {
        blockPipeSignal()
        var backoff = Backoff()
        var lastError: RedisError?
        while !isClosed.load(ordering: .relaxed) {
            do throws(RedisError) {
                let connection = try backoff.connect(address, timeout)
                if lastError != nil { logger?.info("following \(server.name) again") }
                lastError = nil
                try follow(connection)
            } catch {
                coherence.lose(index)
                if error != lastError {
                    logger?.warning("can't follow \(server.name): \(error)")
                    statistics.add(\.disconnections, 1)
                }
                lastError = error
                coherence.endLateWaits()
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
        coherence.lose(index)
    }

    private func follow(_ connection: RedisConnection) throws(RedisError) {
        let reply = try connection.send([RedisCommand("GET", server.clockKey)])[0]
        let clock = RecordServer.clock(reply)
        var position = coherence.follow(
            index, runIdentifier: connection.runIdentifier, clock: clock)
        var isFirst = true
        while !isClosed.load(ordering: .relaxed) {
            let asked = Moment.now
            var command = RedisCommand(
                "XREAD", "COUNT", Self.batch, "BLOCK", heartbeat.milliseconds, "STREAMS",
                server.changesKey, "\(position)-0")
            command.wait = heartbeat
            let reply = try connection.send([command])[0]
            if case .error(let message) = reply { throw .refused(message) }
            let entries = Self.entries(reply)
            let isAll = entries.count < Self.batch
            let isMissing = isFirst && entries.isEmpty && position < clock
            isFirst = false
            guard !isMissing,
                coherence.apply(entries, of: index, confirmedAt: isAll ? asked : nil)
            else {
                // Commits are missing: the server keeps no more of them, or has lost its memory.
                let last = entries.last?.clock ?? max(position, clock)
                logger?.notice("\(server.name) has trimmed its changes: all copies are fetched anew")
                coherence.reset(index, to: last)
                position = last
                continue
            }
            if let last = entries.last {
                position = last.clock
                let now = milliseconds()
                let age = now - min(now, last.version.milliseconds)
                statistics.addDelay(.milliseconds(Int(clamping: age)))
            }
            coherence.endLateWaits()
        }
    }

    private static func entries(_ reply: RedisReply) -> [ChangeEntry] {
        let streams = reply.elements ?? []
        return streams.flatMap { stream in
            (stream.elements?.last?.elements ?? []).compactMap(ChangeEntry.init)
        }
    }
}
