import EspalierFleet
import EspalierRedis
import FleetFixtures
import Foundation
import Testing

/// Checks the logs of an attack against what must hold.
struct AttackCheck {
    struct Write {
        let end: Int
        let count: Int
        let process: Int
    }
    var writes: [String: [Write]] = [:]
    /// The changes of a name that have begun.
    var begun: [String: Int] = [:]
    var reads = 0
    var staleReads = 0
    var misses = 0
    var problems: [String] = []

    /// - Parameters:
    ///   - logs: The lines of each process.
    ///   - bound: The bound on staleness, in nanoseconds.
    init(_ logs: [[Substring]], bound: Int) {
        for (process, lines) in logs.enumerated() {
            for line in lines { addWrite(line, process) }
        }
        for name in writes.keys { checkCounts(name) }
        for (process, lines) in logs.enumerated() {
            for line in lines { checkRead(line, process, bound) }
        }
    }

    private mutating func addWrite(_ line: Substring, _ process: Int) {
        let words = line.split(separator: " ")
        switch words.first {
        case "b" where words.count == 3: begun[String(words[2]), default: 0] += 1
        case "w" where words.count == 6:
            guard let end = Int(words[3]), let count = Int(words[5]) else { return }
            writes[String(words[4]), default: []].append(
                Write(end: end, count: count, process: process))
        default: break
        }
    }

    /// Two changes that made the same count: the first of them is lost.
    private mutating func checkCounts(_ name: String) {
        writes[name]?.sort { $0.end < $1.end }
        var seen: Set<Int> = []
        for write in writes[name] ?? [] where !seen.insert(write.count).inserted {
            problems.append("\(name): two changes made \(write.count)")
        }
    }

    private mutating func checkRead(_ line: Substring, _ process: Int, _ bound: Int) {
        let words = line.split(separator: " ")
        if words.first == "m" { misses += 1 }
        guard words.first == "r", words.count >= 6, let start = Int(words[1]) else { return }
        reads += 1
        guard words[3] == "0" else {
            staleReads += 1
            return
        }
        var counts: [String: Set<Int>] = [:]
        for index in stride(from: 4, to: words.count - 1, by: 2) {
            guard let count = Int(words[index + 1]) else { continue }
            let name = String(words[index])
            counts[name, default: []].insert(count)
            let known = writes[name] ?? []
            let late = known.last { $0.end < start - bound }?.count
            if let late, known.contains(where: { $0.end < start - bound && $0.count > count }) {
                let newest = known.filter { $0.end < start - bound }.map(\.count).max() ?? late
                problems.append("\(name): read \(count), \(newest) was older than the bound")
            }
            let own = known.filter { $0.process == process && $0.end < start }.map(\.count).max()
            if let own, own > count {
                problems.append("\(name): read \(count) after the same host had made \(own)")
            }
        }
        for (name, counts) in counts where name.hasPrefix("Pair:") && counts.count > 1 {
            problems.append("\(name): a mixed tree, \(counts)")
        }
    }
}

/// Servers that keep what they have acknowledged, and hosts as processes.
final class AttackedFleet {
    let servers: [TestServer]
    private let directory: URL
    private var hosts: [Int: Process] = [:]
    private var inputs: [Int: Pipe] = [:]
    private(set) var logs: [URL] = []
    private var runs: UInt64 = 0

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appending(path: "espalier-attack-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        servers = try (0..<2).map { _ in try TestServer(arguments: ["--appendonly", "yes"]) }
    }

    static let hostCount = 3

    func startHost(_ number: Int, seed: UInt64) throws {
        runs += 1
        let log = directory.appending(path: "log-\(number)-\(runs)")
        logs.append(log)
        let process = Process()
        let input = Pipe()
        process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent()
            .appending(path: "fleet-host")
        process.arguments =
            [
                "\(number + 1)", "\(seed &+ runs)",
                directory.appending(path: "near-\(number)").path,
                log.path,
            ] + servers.map { "\($0.port)" }
        process.standardInput = input
        try process.run()
        hosts[number] = process
        inputs[number] = input
    }

    func signalHost(_ number: Int, _ signal: Int32) {
        if let process = hosts[number], process.isRunning {
            _ = Foundation.kill(process.processIdentifier, signal)
        }
    }

    func killHost(_ number: Int) {
        signalHost(number, SIGKILL)
        hosts[number]?.waitUntilExit()
    }

    var stepCount: Int {
        logs.reduce(0) { count, log in
            count + ((try? Data(contentsOf: log))?.count { $0 == 10 } ?? 0)
        }
    }

    func lines() -> [[Substring]] {
        logs.map { log in
            String(decoding: (try? Data(contentsOf: log)) ?? Data(), as: UTF8.self)
                .split(separator: "\n")
        }
    }

    func end() {
        for server in servers { server.resume() }
        for number in hosts.keys {
            signalHost(number, SIGCONT)
            killHost(number)
        }
        for server in servers { server.remove() }
        try? FileManager.default.removeItem(at: directory)
    }
}

@Suite("A fleet under attack", .serialized)
struct AttackTests {
    /// Steps of all hosts together; `ESPALIER_FLEET_STEPS=100000` is the long run.
    static let steps =
        ProcessInfo.processInfo.environment["ESPALIER_FLEET_STEPS"].flatMap(Int.init) ?? 8_000

    @Test("No host serves what is older than the bound, loses a change, or mixes a tree")
    func attack() async throws {
        let fleet = try AttackedFleet()
        defer { fleet.end() }
        let control = try SharedCache(FleetConfiguration(servers: fleet.servers.map(\.address)))
        defer { control.close() }
        #expect(await control.waitUntilCurrent())
        try await Attack.prepare(control)
        let seed = UInt64.random(in: 0..<1 << 32)
        for number in 0..<AttackedFleet.hostCount { try fleet.startHost(number, seed: seed) }
        var random = SeededRandom(seed: seed)
        var faults: [String: Int] = [:]
        let limit = ContinuousClock.now + .seconds(max(60, Self.steps / 300))
        while fleet.stepCount < Self.steps, ContinuousClock.now < limit {
            try await Task.sleep(for: .milliseconds(Int(random.next() % 800)))
            let fault = try await Self.injectFault(fleet, seed, &random)
            faults[fault, default: 0] += 1
        }
        // Without faults everything must be current again.
        for server in fleet.servers { server.resume() }
        try await Task.sleep(for: .seconds(1))
        let steps = fleet.stepCount
        try await Task.sleep(for: .seconds(2))
        #expect(fleet.stepCount > steps, "the hosts go on after the faults")
        for number in 0..<AttackedFleet.hostCount { fleet.killHost(number) }
        let check = AttackCheck(fleet.lines(), bound: Int(Attack.bound / .nanoseconds(1)))
        print(
            "attack: seed \(seed), \(fleet.stepCount) lines, \(check.reads) reads, "
                + "\(check.staleReads) marked stale, \(check.misses) misses, "
                + "\(check.writes.values.reduce(0) { $0 + $1.count }) changes, faults \(faults)")
        #expect(fleet.stepCount >= Self.steps)
        #expect(check.problems.isEmpty, "\(check.problems.count): \(check.problems.prefix(5))")
        #expect(check.reads > Self.steps / 20)
        // The servers have each change that was reported as done, and none that was not begun.
        for (name, writes) in check.writes {
            let made: Int?
            if name.hasPrefix("Pair:") {
                made = try await control.update(Pair.self, name) { $0 }.left.count
            } else {
                made = try await control.update(Member.self, name) { $0 }.count
            }
            let count = try #require(made)
            #expect(count >= writes.count, "\(name): changes were lost")
            #expect(count <= check.begun[name] ?? 0, "\(name): changes were made twice")
        }
    }

    static func injectFault(
        _ fleet: AttackedFleet, _ seed: UInt64, _ random: inout SeededRandom
    ) async throws -> String {
        let host = Int(random.next() % UInt64(AttackedFleet.hostCount))
        let server = fleet.servers[Int(random.next() % UInt64(fleet.servers.count))]
        let pause = Duration.milliseconds(100 + Int(random.next() % 1_200))
        switch random.next() % 6 {
        case 0:
            fleet.killHost(host)
            try fleet.startHost(host, seed: seed)
            return "host killed"
        case 1:
            fleet.signalHost(host, SIGSTOP)
            try await Task.sleep(for: pause)
            fleet.signalHost(host, SIGCONT)
            return "host paused"
        case 2:
            server.kill()
            try await Task.sleep(for: .milliseconds(50))
            try server.start()
            return "server killed"
        case 3:
            server.pause()
            try await Task.sleep(for: pause)
            server.resume()
            return "server paused"
        case 4:
            try server.cutConnections()
            return "connections cut"
        default: return "none"
        }
    }

    @Test("The check of an attack finds lost changes, stale reads and mixed trees")
    func canaries() {
        func problems(_ lines: String...) -> [String] {
            AttackCheck(lines.map { $0.split(separator: "\n") }, bound: 100).problems
        }
        #expect(problems("w 1 0 10 M 1\nw 2 11 20 M 2\nr 500 501 0 M 2").isEmpty)
        #expect(problems("w 1 0 10 M 1", "w 1 0 12 M 1").count == 1)
        #expect(problems("w 1 0 10 M 2", "r 200 201 0 M 1").count == 1)
        // Marked as stale, or within the bound.
        #expect(problems("w 1 0 10 M 2", "r 200 201 1 M 1").isEmpty)
        #expect(problems("w 1 0 150 M 2", "r 200 201 0 M 1").isEmpty)
        #expect(problems("w 1 0 150 M 2\nr 200 201 0 M 1").count == 1)
        #expect(problems("r 1 2 0 Pair:1 3 Pair:1 4").count == 1)
    }
}
