import EspalierFleet
import EspalierRedis
import FleetFixtures
import Foundation
import Synchronization

/// Measures the processor time that a local redis-server takes for what hosts ask of it. Its own
/// count does not depend on what else the machine does.
struct Measurement {
    private let server: TestServer
    private let connection: RedisConnection

    init() throws {
        server = try TestServer()
        connection = try RedisConnection(server.address, timeout: .seconds(10))
    }

    func run() async throws {
        defer { server.remove() }
        try measureFetches()
        try await measureCommits()
        try measureEntries()
    }

    /// Returns the processor time that the server has taken so far, in microseconds.
    private func processorTime() throws -> Double {
        let text = try connection.send([RedisCommand("INFO", "cpu")])[0].text ?? ""
        return text.split(whereSeparator: \.isNewline).reduce(0) { sum, line in
            let isTime =
                line.hasPrefix("used_cpu_sys:") || line.hasPrefix("used_cpu_user:")
            return sum + (isTime ? (Double(line.drop { $0 != ":" }.dropFirst()) ?? 0) * 1e6 : 0)
        }
    }

    private func report(_ name: String, _ microseconds: Double) {
        let name = name.padding(toLength: 44, withPad: " ", startingAt: 0)
        print("\(name) \(String(format: "%8.2f", microseconds)) us")
    }

    // MARK: Reads

    private func measureFetches() throws {
        let record = [UInt8](repeating: 7, count: 300)
        for number in 0..<600 {
            _ = try connection.send([RedisCommand("SET", "record:\(number)", record)])
        }
        let rounds = 20_000
        // A server that has just started is slower.
        for _ in 0..<rounds { _ = try connection.send([RedisCommand("GET", "record:0")]) }
        var start = try processorTime()
        for _ in 0..<rounds { _ = try connection.send([RedisCommand("GET", "record:0")]) }
        report("GET (heartbeat)", (try processorTime() - start) / Double(rounds))
        for count in [1, 20, 600] {
            let rounds = count > 100 ? 3_000 : 20_000
            let command = RedisCommand("MGET", (0..<count).map { "record:\($0)" })
            start = try processorTime()
            for _ in 0..<rounds { _ = try connection.send([command]) }
            report("MGET of \(count)", (try processorTime() - start) / Double(rounds))
        }
    }

    // MARK: Commits

    /// Commits through a shared cache, first slowly and then as fast as it can, while others wait
    /// for the stream of changes.
    private func measureCommits() async throws {
        let cache = try SharedCache(FleetConfiguration(servers: [server.address]))
        defer { cache.close() }
        _ = await cache.waitUntilCurrent()
        try await cache.set(Member("1"))
        var start = try processorTime()
        try await Task.sleep(for: .seconds(4))
        let idle = (try processorTime() - start) / 4
        report("a second without commits", idle)
        for pause in [Duration.milliseconds(4), .zero] {
            for followers in [1, 10, 50] {
                let counts = Counts()
                let threads = try (1..<followers).map { _ in try follow(counts) }
                // The questions of all followers are there.
                try await Task.sleep(for: .milliseconds(300))
                let rounds = pause > .zero ? 1_000 : 4_000
                start = try processorTime()
                let begin = ContinuousClock.now
                for _ in 0..<rounds {
                    try await commit(cache)
                    if pause > .zero { try await Task.sleep(for: pause) }
                }
                let seconds = (ContinuousClock.now - begin) / .seconds(1)
                let work = try processorTime() - start - idle * seconds
                let messages = counts.messages.load(ordering: .relaxed)
                report(
                    "commit, \(followers) followers, \(Int(Double(rounds) / seconds)) a second",
                    work / Double(rounds))
                print("    and \(messages) messages to all but the first")
                counts.isOver.store(true, ordering: .releasing)
                try await commit(cache)
                for thread in threads { thread.wait() }
            }
        }
    }

    private func commit(_ cache: SharedCache) async throws {
        try await cache.update(Member.self, "Member:1") { member in
            var member = member
            member.count += 1
            return member
        }
    }

    private final class Counts: Sendable {
        let isOver = Atomic<Bool>(false)
        let messages = Atomic<Int>(0)
    }

    /// Starts a thread that follows the changes.
    private func follow(_ counts: Counts) throws -> DispatchSemaphore {
        let address = server.address
        let ended = DispatchSemaphore(value: 0)
        Thread {
            defer { ended.signal() }
            guard let connection = try? RedisConnection(address, timeout: .seconds(5)) else {
                return
            }
            var position = "$"
            while !counts.isOver.load(ordering: .acquiring) {
                var command = RedisCommand(
                    "XREAD", "COUNT", 1_000, "BLOCK", 1_000, "STREAMS", "espalier:changes", position
                )
                command.wait = .seconds(1)
                guard let reply = try? connection.send([command])[0] else { return }
                counts.messages.add(1, ordering: .relaxed)
                let entries = reply.elements?.first?.elements?.last?.elements
                position = entries?.last?.elements?.first?.text ?? position
            }
        }.start()
        return ended
    }

    // MARK: Catching up

    /// Reads the changes so far, one at a time and all at once.
    private func measureEntries() throws {
        for count in [1, 1_000] {
            let rounds = count == 1 ? 20_000 : 500
            let command = RedisCommand(
                "XREAD", "COUNT", count, "STREAMS", "espalier:changes", "0-0")
            let start = try processorTime()
            for _ in 0..<rounds { _ = try connection.send([command]) }
            report("XREAD of \(count) commits", (try processorTime() - start) / Double(rounds))
        }
    }
}
