import EspalierFleet
import EspalierRecords
import EspalierRedis
import EspalierSharedRecords
import FleetFixtures
import Foundation
import Testing

/// What a program has printed, and its status.
struct ProgramOutcome {
    let status: Int32
    let output: String
    let errors: String

    /// Runs a program until it ends.
    static func run(
        _ program: URL, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> ProgramOutcome {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return ProgramOutcome(
            status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: complaint, as: UTF8.self))
    }

    /// Runs the tool.
    static func tool(
        _ arguments: String..., password: String? = nil
    ) throws -> ProgramOutcome {
        let folder = try #require(Bundle.main.executableURL).deletingLastPathComponent()
        return try run(
            folder.appending(path: "espalier-fleet"), arguments,
            environment: password.map { ["ESPALIER_FLEET_PASSWORD": $0] } ?? [:])
    }
}

@Suite("The command espalier-fleet", .serialized)
struct ToolTests {
    @Test("stats counts records, commits and changes of each server")
    func statistics() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        try await fleet.a.set((0..<30).map { Member("\($0)") })
        try await fleet.a.setCollection([Member("1")], forKey: "team")
        let servers = fleet.servers.map { "127.0.0.1:\($0.port)" }
        let found = try ProgramOutcome.tool(
            "stats", "--all", "--json", "--server", servers[0], "--server", servers[1])
        #expect(found.status == 0, "\(found.errors)")
        let statistics = try JSONDecoder().decode(
            [FleetInspector.ServerStatistics].self, from: Data(found.output.utf8))
        #expect(statistics.map(\.name) == servers)
        #expect(statistics.compactMap { $0.records?["node"] }.reduce(0, +) == 30)
        #expect(statistics.compactMap { $0.records?["collection"] }.reduce(0, +) == 1)
        // A follower that asks again at this moment does not wait.
        #expect(statistics.allSatisfy { $0.commits > 0 && (1...2).contains($0.followers) })
        let table = try ProgramOutcome.tool("stats", "--server", servers[0])
        #expect(table.output.split(separator: "\n").count == 2)
    }

    @Test("verify finds damaged, misplaced and foreign values, and only those")
    func verify() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        try await fleet.a.set(Team("1", "red", (0..<20).map { Member("\($0)") }))
        try await fleet.a.delete("Member:3")
        let servers = fleet.servers.flatMap { ["--server", "127.0.0.1:\($0.port)"] }
        func verify() throws -> (status: Int32, found: FleetInspector.Verification) {
            let folder = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            let outcome = try ProgramOutcome.run(
                folder.appending(path: "espalier-fleet"), ["verify", "--json"] + servers)
            let found = try JSONDecoder().decode(
                FleetInspector.Verification.self, from: Data(outcome.output.utf8))
            return (outcome.status, found)
        }
        let clean = try verify()
        #expect(clean.status == 0)
        #expect(clean.found.records == 21 && clean.found.tombstones == 1)
        #expect(clean.found.problems.isEmpty && clean.found.incomplete == 0)
        // A record that one server has is copied to the other, and damaged there.
        let keys = (0..<20).map { "espalier:n:Member:\($0)" }
        let key = try #require(
            try keys.first { try fleet.servers[0].send("EXISTS", $0) == .integer(1) })
        let data = try #require(try fleet.servers[0].send("GET", key).data)
        try fleet.servers[1].send("SET", key, data)
        #expect(try verify().found.problems.map(\.key) == [key])
        var flipped = data
        flipped[flipped.count / 2] ^= 1
        try fleet.servers[1].send("SET", key, flipped)
        try fleet.servers[0].send("SET", "espalier:n:foreign", "text")
        try fleet.servers[0].send("RPUSH", "espalier:n:list", "text")
        let found = try verify()
        #expect(found.status == 2)
        #expect(found.found.problems.count == 3, "\(found.found.problems)")
        try fleet.servers[1].send("DEL", key)
        try fleet.servers[0].send("DEL", key)
        #expect(try verify().found.incomplete == 1)
    }

    @Test("warm fills the near cache of a host, which then answers without a round trip")
    func warm() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        let team = Team("1", "red", lead: Member("9"), [Member("1"), Member("2")])
        try await fleet.a.set(team)
        let near = FileManager.default.temporaryDirectory
            .appending(path: "espalier-warm-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: near) }
        let servers = fleet.servers.map { "127.0.0.1:\($0.port)" }
        let outcome = try ProgramOutcome.tool(
            "warm", "--near", near, "Team:1", "Team:7", "--server", servers[0], "--server",
            servers[1])
        #expect(outcome.output == "4 records are near\n", "\(outcome.errors)")
        #expect(outcome.errors == "espalier-fleet: no server has Team:7\n")
        #expect(outcome.status == 2)
        let known = try ProgramOutcome.tool(
            "warm", "--near", near, "Member:9", "--server", servers[0], "--server", servers[1])
        #expect(known.output == "1 record is near\n" && known.status == 0)
        #expect(try ProgramOutcome.tool("warm", "--near", near, "").status == 64)
        var configuration = FleetConfiguration(servers: fleet.servers.map(\.address))
        configuration.near = .directory(near)
        configuration.maximumStaleness = .seconds(10)
        let host = try SharedCache(configuration)
        defer { host.close() }
        #expect(await host.waitUntilCurrent())
        #expect(await host.read(Team.self, "Team:1") == team)
        #expect(host.statistics.nearHits == 1 && host.statistics.roundTrips == 0)
    }

    @Test("watch prints each commit with its names")
    func watch() async throws {
        let fleet = try await Fleet(servers: 1)
        defer { fleet.end() }
        let writer = Task {
            var number = 0
            while !Task.isCancelled {
                try? await fleet.a.set(Member("1", "\(number)"))
                try await Task.sleep(for: .milliseconds(20))
                number += 1
            }
        }
        let outcome = try ProgramOutcome.tool(
            "watch", "--count", "3", "--server", "127.0.0.1:\(fleet.servers[0].port)")
        writer.cancel()
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.hasSuffix("host 1 node Member:1") })
    }

    @Test("A wrong password, a server that is away, and a wrong address are clear errors")
    func errors() throws {
        let server = try TestServer(password: "right")
        defer { server.remove() }
        let address = "127.0.0.1:\(server.port)"
        let denied = try ProgramOutcome.tool("stats", "--server", address, password: "wrong")
        #expect(denied.status != 0 && denied.errors.contains("password"))
        let allowed = try ProgramOutcome.tool("stats", "--server", address, password: "right")
        #expect(allowed.status == 0)
        server.kill()
        let away = try ProgramOutcome.tool("verify", "--server", address, password: "right")
        #expect(away.status != 0 && away.errors.contains("can't be reached"))
        #expect(away.status == 1 && away.errors.hasPrefix("espalier-fleet: "))
        #expect(try ProgramOutcome.tool("watch", "--count", "0").status == 64)
        let nowhere = try ProgramOutcome.tool("stats", "--server", "nowhere")
        #expect(nowhere.status != 0 && nowhere.errors.contains("Write host:port"))
    }
}

@Suite("Another language reads shared records", .serialized)
struct ReaderTests {
    private func read(_ server: TestServer, _ identifier: String) throws -> ProgramOutcome {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "reader.py")
        return try ProgramOutcome.run(
            URL(filePath: "/usr/bin/env"), ["python3", script.path, "\(server.port)", identifier])
    }

    @Test("A reader of 100 lines of Python reads a tree, and refuses a damaged record")
    func python() async throws {
        let fleet = try await Fleet(servers: 1)
        defer { fleet.end() }
        let title = String(repeating: "a compressible title, ", count: 30)
        try await fleet.a.set(
            Team("1", title, lead: nil, [Member("1", "Ada", count: -70_000), Member("2", "Zoë 💙")]))
        let server = fleet.servers[0]
        let outcome = try read(server, "Team:1")
        #expect(
            outcome.output == """
                {"id": "1", "lead": null, "members": [{"count": -70000, "id": "1", "name": "Ada"}, \
                {"count": 0, "id": "2", "name": "Zo\\u00eb \\ud83d\\udc99"}], "title": "\(title)"}

                """, "\(outcome.errors)")
        var data = try #require(try server.send("GET", "espalier:n:Team:1").data)
        #expect(data.count < title.utf8.count, "the record is compressed")
        data[30] ^= 1
        try server.send("SET", "espalier:n:Team:1", data)
        #expect(try read(server, "Team:1").errors == "damaged\n")
        let lines = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "reader.py"), encoding: .utf8
        ).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 101)
    }

    @Test("The example of the format is what the library writes")
    func example() throws {
        let write = try SharedWrite(setting: [Member("7", "Ada", count: 3)])
        let version = RecordVersion(time: 1_790_000_000_000 << 16, host: 1)
        let name = SharedName(.node, "Member:7")
        let record = try #require(try write.changes(to: [:], version: version)[name])
        let hex = record.bytes(named: name).map { String(format: "%02X", $0) }.joined(
            separator: " ")
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "docs/FLEET.md"), encoding: .utf8)
        // The page cuts the bytes into parts, with what they mean behind them.
        let start = try #require(page.range(of: "the count 3:\n\n```\n"))
        let block = page[start.upperBound...].prefix { $0 != "`" }
        let shown = block.split(separator: "\n").map { line in
            line.prefix(while: { "0123456789ABCDEF ".contains($0) })
                .split(separator: " ").filter { $0.count == 2 }.joined(separator: " ")
        }.joined(separator: " ")
        #expect(shown == hex, "the library writes \(hex)")
    }
}
