import Espalier
import EspalierRedis
import EspalierSharedRecords
import FleetFixtures
import Foundation
import Synchronization
import Testing

@testable import EspalierFleet

@Suite("Servers fail, and the cache goes on", .serialized)
struct FailureTests {
    @Test("Without a server there are stale hits for a while, then misses; both end by themselves")
    func serversGone() async throws {
        let fleet = try await Fleet(servers: 1) {
            $0.maximumStaleness = .milliseconds(100)
            $0.staleLimit = .seconds(5)
            $0.timeout = .milliseconds(200)
        }
        defer { fleet.end() }
        try await fleet.a.set(Team("1", "red", [Member("1", "Ada")]))
        #expect(
            await eventually {
                _ = await fleet.a.read(Team.self, "Team:1")
                return fleet.a.statistics.nearHits > 0
            })
        fleet.servers[0].kill()
        let isStale = await eventually {
            guard case .hit(let hit) = await fleet.a.readOutcome(Team.self, "Team:1") else {
                return false
            }
            return hit.isExpired
        }
        #expect(isStale)
        #expect(fleet.a.statistics.staleHits > 0)
        let isMiss = await eventually(.seconds(20)) {
            guard case .miss(.unavailable) = await fleet.a.readOutcome(Team.self, "Team:1") else {
                return false
            }
            return true
        }
        #expect(isMiss)
        await #expect(throws: FleetError.self) { try await fleet.a.set(Member("2")) }
        // The server comes back without its memory.
        try fleet.servers[0].start()
        #expect(await fleet.a.waitUntilCurrent())
        #expect(await fleet.a.read(Team.self, "Team:1") == nil, "what no server has is a miss")
        try await fleet.a.set(Team("1", "blue", [Member("1", "Ada")]))
        #expect(await eventually { await fleet.b.read(Team.self, "Team:1")?.title == "blue" })
    }

    @Test("While no server answers, a read returns no copy that the host knows to be replaced")
    func outdatedCopies() async throws {
        let fleet = try await Fleet(servers: 1) {
            $0.maximumStaleness = .milliseconds(100)
            $0.timeout = .milliseconds(200)
        }
        defer { fleet.end() }
        let b = fleet.b
        try await fleet.a.set([Member("1", "Ada"), Member("2", "Grace")])
        try await warm(b, ["Member:1", "Member:2"])
        try await fleet.a.set(Member("1", "Mary"))
        #expect(await eventually { await b.near.read(Member.self, "Member:1") == nil })
        fleet.servers[0].kill()
        let isStale = await eventually {
            let outcome = await b.readOutcome(Member.self, "Member:2")
            guard case .hit(let hit) = outcome else { return false }
            return hit.isExpired
        }
        #expect(isStale)
        #expect(await b.read(Member.self, "Member:2") == Member("2", "Grace"))
        #expect(await b.read(Member.self, "Member:1") == nil)
        let expired = await b.readOutcome(Member.self, "Member:1", accepting: .stale)
        #expect(expired.value == Member("1", "Ada"))
    }

    @Test("A server that loses commits without a restart takes its copies with it")
    func flushed() async throws {
        let fleet = try await Fleet(servers: 1)
        defer { fleet.end() }
        let (b, server) = (fleet.b, fleet.servers[0])
        try await fleet.a.set(Member("1", "Ada"))
        try await warm(b, ["Member:1"])
        try server.send("FLUSHALL")
        #expect(await eventually { b.statistics.resets == 1 })
        #expect(await b.waitUntilCurrent())
        #expect(await b.read(Member.self, "Member:1") == nil)
        // An older state in the place of a newer one: the numbers are given out again.
        for number in 1...5 { try await fleet.a.set(Member("\(number)", "Ada")) }
        try await warm(b, ["Member:1"])
        let clock = try #require(try server.send("GET", "espalier:clock").text.flatMap(Int.init))
        let resets = b.statistics.resets
        try server.send("DEL", "espalier:changes")
        try server.send("SET", "espalier:clock", "\(clock - 3)")
        #expect(await eventually { b.statistics.resets == resets + 1 })
        try await fleet.a.set(Member("1", "Mary"))
        #expect(await eventually { await b.read(Member.self, "Member:1")?.name == "Mary" })
    }

    @Test("A server that restarts without its memory has managers read again what they show")
    func restartedServer() async throws {
        let fleet = try await Fleet(servers: 1) { $0.timeout = .milliseconds(200) }
        defer { fleet.end() }
        let resets = Mutex(0)
        let observation = fleet.a.followChanges(notBy: 0) { changes in
            if changes.isReset { resets.withLock { $0 += 1 } }
        }
        fleet.servers[0].kill()
        try fleet.servers[0].start()
        #expect(await eventually { resets.withLock { $0 } == 1 })
        #expect(fleet.a.statistics.resets == 1)
        withExtendedLifetime(observation) {}
    }

    @Test("A server that is down makes misses of its records only, and no errors")
    func oneServerDown() async throws {
        let fleet = try await Fleet(servers: 2) {
            $0.maximumStaleness = .milliseconds(50)
            $0.staleLimit = .zero
            $0.timeout = .milliseconds(200)
        }
        defer { fleet.end() }
        let members = (0..<20).map { Member("\($0)") }
        try await fleet.a.set(members)
        fleet.servers[0].kill()
        try await Task.sleep(for: .milliseconds(300))
        var found = 0
        for member in members
        where await fleet.b.read(Member.self, member.modelIdentifier ?? "") != nil {
            found += 1
        }
        #expect(found > 0 && found < members.count)
    }

    /// Returns the numbers of the members whose records are on a server.
    private func members(_ numbers: Range<Int>, on server: TestServer) throws -> [Int] {
        try numbers.filter { try server.send("EXISTS", "espalier:n:Member:\($0)").number == 1 }
    }

    /// Fills the near cache of a host.
    private func warm(_ host: SharedCache, _ identifiers: [String]) async throws {
        #expect(
            await eventually {
                (try? await host.warm(identifiers).records) ?? 0 >= identifiers.count
            })
    }

    @Test("While a server is down, near trees on the others need no server")
    func othersStayCurrent() async throws {
        let fleet = try await Fleet(servers: 2) {
            $0.maximumStaleness = .seconds(2)
            $0.staleLimit = .zero
            $0.timeout = .milliseconds(200)
        }
        defer { fleet.end() }
        try await fleet.a.set((0..<40).map { Member("\($0)") })
        let away = try members(0..<40, on: fleet.servers[0])
        let there = try members(0..<40, on: fleet.servers[1])
        #expect(!away.isEmpty && there.count > 3)
        // A collection and a key whose records are on the server that stays, and a tree on both.
        var key = ""
        for number in 0..<100 where key.isEmpty {
            try await fleet.a.setCollection(
                there.map { Member("\($0)") }, forKey: "list\(number)")
            if try fleet.servers[1].send("EXISTS", "espalier:c:list\(number)").number == 1 {
                key = "list\(number)"
            }
        }
        try await fleet.a.set(Team("1", "red", [Member("\(there[0])"), Member("\(away[0])")]))
        let names = (0..<40).map { "Member:\($0)" }
        try await warm(fleet.b, names + ["Team:1"])
        #expect(
            await eventually {
                let hits = fleet.b.statistics.nearHits
                _ = await fleet.b.collection(of: Member.self, forKey: key)
                return fleet.b.statistics.nearHits > hits
            })
        fleet.servers[0].kill()
        #expect(
            await eventually { await fleet.b.read(Member.self, "Member:\(away[0])") == nil })
        let before = fleet.b.statistics
        for number in there {
            #expect(await fleet.b.read(Member.self, "Member:\(number)") == Member("\(number)"))
        }
        #expect(await fleet.b.collection(of: Member.self, forKey: key)?.count == there.count)
        #expect(await fleet.b.json(of: "Member:\(there[0])") != nil)
        #expect(await fleet.b.json(ofCollection: key) != nil)
        #expect(fleet.b.statistics.nearHits == before.nearHits + there.count + 3)
        #expect(fleet.b.statistics.roundTrips == before.roundTrips, "no server was asked")
        // What is on the server that is away is a miss, in a tree with others, too.
        #expect(await fleet.b.read(Member.self, "Member:\(away[0])") == nil)
        #expect(await fleet.b.read(Team.self, "Team:1") == nil)
        // The server that stays is still followed.
        try await fleet.a.set(Member("\(there[1])", "Ada"))
        #expect(
            await eventually {
                await fleet.b.read(Member.self, "Member:\(there[1])")?.name == "Ada"
            })
    }

    @Test("A server that comes back empty takes its own copies with it, and no others")
    func resetOfOne() async throws {
        let fleet = try await Fleet(servers: 2) {
            $0.timeout = .milliseconds(200)
            $0.maximumStaleness = .seconds(10)
        }
        defer { fleet.end() }
        try await fleet.a.set((0..<40).map { Member("\($0)") })
        let away = try members(0..<40, on: fleet.servers[0])
        let there = try members(0..<40, on: fleet.servers[1])
        try await warm(fleet.b, (0..<40).map { "Member:\($0)" })
        fleet.servers[0].kill()
        try fleet.servers[0].start()
        #expect(await eventually { fleet.b.statistics.resets == 1 })
        #expect(await fleet.b.waitUntilCurrent())
        let before = fleet.b.statistics
        for number in there {
            #expect(await fleet.b.read(Member.self, "Member:\(number)") == Member("\(number)"))
        }
        #expect(fleet.b.statistics.nearHits == before.nearHits + there.count)
        #expect(fleet.b.statistics.roundTrips == before.roundTrips, "no server was asked")
        for number in away {
            #expect(await fleet.b.read(Member.self, "Member:\(number)") == nil)
        }
        try await fleet.a.set(Member("\(away[0])", "again"))
        #expect(
            await eventually {
                await fleet.b.read(Member.self, "Member:\(away[0])")?.name == "again"
            })
    }

    @Test("A wrong password is a clear error")
    func wrongPassword() async throws {
        let server = try TestServer(password: "right")
        defer { server.remove() }
        var address = server.address
        address.password = "wrong"
        #expect {
            _ = try RedisConnection(address, timeout: .seconds(1))
        } throws: { error in
            guard case RedisError.denied = error else { return false }
            return "\(error)".contains("password")
        }
        let cache = try SharedCache(FleetConfiguration(servers: [address]))
        defer { cache.close() }
        #expect(await cache.read(Member.self, "Member:1") == nil)
        await #expect(throws: FleetError.self) { try await cache.set(Member("1")) }
        #expect(cache.statistics.misses == 1)
        let allowed = try SharedCache(FleetConfiguration(servers: [server.address]))
        defer { allowed.close() }
        try await allowed.set(Member("1"))
        #expect(await allowed.read(Member.self, "Member:1") == Member("1"))
    }

    @Test("A server of an old version, and one that speaks another protocol, are clear errors")
    func wrongServers() throws {
        let answers = [
            "$45\\r\\nredis_version:5.0.7\\r\\nrun_id:0123456789abcdef0\\r\\n", "HTTP/1.1 400",
        ]
        for (answer, isOld) in zip(answers, [true, false]) {
            let script = """
                import socket, sys
                server = socket.create_server(("127.0.0.1", 0))
                print(server.getsockname()[1], flush=True)
                server.settimeout(10)
                client = server.accept()[0]
                client.recv(1000)
                client.sendall(b"\(answer)\\r\\n")
                """
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["python3", "-c", script]
            process.standardOutput = output
            try process.run()
            let line = String(
                decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            let port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
            #expect {
                _ = try RedisConnection(
                    RedisAddress(host: "127.0.0.1", port: port), timeout: .seconds(1))
            } throws: { error in
                switch error as? RedisError {
                case .unsupportedVersion(let version): isOld && version == "5.0.7"
                case .malformed: !isOld
                default: false
                }
            }
        }
    }

    @Test("Values that are not intact records are counted misses, and writes replace them")
    func damagedValues() async throws {
        let fleet = try await Fleet(servers: 1)
        defer { fleet.end() }
        let server = fleet.servers[0]
        let values: [[UInt8]] = [[], [1], Array("not a record at all".utf8), [9] + Array(0..<60)]
        for (number, value) in values.enumerated() {
            let key = "espalier:n:Member:\(number)"
            try server.send("SET", key, value)
            #expect(await fleet.a.read(Member.self, "Member:\(number)") == nil)
            try await fleet.a.set(Member("\(number)", "new"))
            #expect(await fleet.b.read(Member.self, "Member:\(number)")?.name == "new")
        }
        #expect(fleet.a.statistics.damagedValues >= values.count)
        // A flipped byte in a record, and a record under another's name.
        let data = try #require(try server.send("GET", "espalier:n:Member:1").data)
        for position in data.indices {
            var flipped = data
            flipped[position] ^= 0x10
            #expect(throws: SharedRecordError.self) {
                _ = try SharedRecord(flipped, named: SharedName(.node, "Member:1"), SharedShapes())
            }
        }
        try server.send("SET", "espalier:n:Member:8", data)
        #expect(await fleet.a.read(Member.self, "Member:8") == nil)
    }

    @Test("A host that comes back after a restart keeps its copies, and follows what it has missed")
    func restart() async throws {
        let server = try TestServer()
        defer { server.remove() }
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "espalier-near-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        func open() async throws -> SharedCache {
            var configuration = FleetConfiguration(servers: [server.address])
            configuration.near = .directory(directory)
            configuration.maximumStaleness = .seconds(10)
            let cache = try SharedCache(configuration)
            #expect(await cache.waitUntilCurrent())
            return cache
        }
        let writer = try SharedCache(FleetConfiguration(servers: [server.address]))
        defer { writer.close() }
        try await writer.set([Member("1", "Ada"), Member("2", "Grace"), Member("3")])
        var host = try await open()
        for number in 1...3 {
            #expect(
                await eventually {
                    let hits = host.statistics.nearHits
                    _ = await host.read(Member.self, "Member:\(number)")
                    return host.statistics.nearHits > hits
                })
        }
        try await writer.delete("Member:3")
        #expect(await eventually { await host.read(Member.self, "Member:3") == nil })
        host.close()
        try await writer.set(Member("2", "Mary"))
        try await writer.set(Member("3", "new"))
        host = try await open()
        defer { host.close() }
        #expect(await host.read(Member.self, "Member:1") == Member("1", "Ada"))
        #expect(host.statistics.nearHits == 1, "what has not changed is near")
        #expect(host.statistics.resets == 0)
        #expect(await host.read(Member.self, "Member:2") == Member("2", "Mary"))
        #expect(await host.read(Member.self, "Member:3") == Member("3", "new"))
    }

    @Test("A record that is too large for the near cache does not leave its old copy there")
    func tooLargeForNear() async throws {
        let fleet = try await Fleet(servers: 1) {
            $0.nearConfiguration = Configuration(budget: .mebibytes(1))
        }
        defer { fleet.end() }
        try await fleet.a.set(Member("1", "short"))
        try await warm(fleet.a, ["Member:1"])
        var random = SystemRandomNumberGenerator()
        let text = String(
            decoding: (0..<400_000).map { _ in UInt8.random(in: 65...90, using: &random) },
            as: UTF8.self)
        try await fleet.a.set(Member("1", text))
        for _ in 0..<20 {
            #expect(await fleet.a.read(Member.self, "Member:1")?.name == text)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test("An entry of the changes that can't be read outdates the copies, and following goes on")
    func unreadableEntry() async throws {
        let fleet = try await Fleet(servers: 1)
        defer { fleet.end() }
        try await fleet.a.set(Member("1", "Ada"))
        try await warm(fleet.b, ["Member:1"])
        let server = fleet.servers[0]
        let number = try #require(try server.send("INCR", "espalier:clock").number)
        try server.send("XADD", "espalier:changes", "\(number)-0", "of", "a later version")
        #expect(await eventually { fleet.b.statistics.resets == 1 })
        #expect(await eventually { fleet.b.staleness.map { $0 < .milliseconds(200) } ?? false })
        #expect(await fleet.b.read(Member.self, "Member:1") == Member("1", "Ada"))
        try await fleet.a.set(Member("1", "Grace"))
        #expect(await eventually { await fleet.b.read(Member.self, "Member:1")?.name == "Grace" })
        #expect(fleet.b.statistics.resets == 1)
    }

    @Test(
        "Lengths in an entry of the changes that no entry has end no host",
        arguments: [
            "9223372036854775807:n:x,", "9223372036854775806:n:x,", "-1:n:x,", "5:n:x,", "3:n:x",
            "1:n,",
            "0:,", ":n:x,", "3:z:x,",
        ])
    func hostileEntry(names: String) async throws {
        let fleet = try await Fleet(servers: 1, hosts: 1)
        defer { fleet.end() }
        let server = fleet.servers[0]
        let number = try #require(try server.send("INCR", "espalier:clock").number)
        try server.send(
            "XADD", "espalier:changes", "\(number)-0", "version", "0123456789abcdef", "names", names
        )
        #expect(await eventually { fleet.a.statistics.resets == 1 })
        try await fleet.a.set(Member("1", "Ada"))
        #expect(await fleet.a.read(Member.self, "Member:1")?.name == "Ada")
    }

    @Test("A near cache is used by one host at a time; a closed cache refuses writes")
    func nearInUse() async throws {
        let server = try TestServer()
        defer { server.remove() }
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "espalier-near-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var configuration = FleetConfiguration(servers: [server.address])
        configuration.near = .directory(directory)
        let first = try SharedCache(configuration)
        #expect {
            _ = try SharedCache(configuration)
        } throws: {
            guard case FleetError.nearInUse(directory) = $0 else { return false }
            return true
        }
        try await first.set(Member("1"))
        first.close()
        let writes: [@Sendable () async throws -> Void] = [
            { try await first.set(Member("1")) },
            { try await first.delete("Member:1") },
            { _ = try await first.update(Member.self, "Member:1") { $0 } },
        ]
        for write in writes {
            await #expect {
                try await write()
            } throws: {
                guard case FleetError.closed = $0 else { return false }
                return true
            }
        }
        let second = try SharedCache(configuration)
        defer { second.close() }
        #expect(await second.waitUntilCurrent())
        #expect(await second.read(Member.self, "Member:1") == Member("1"))
    }

    @Test("A host that was away for longer than servers keep changes begins without copies")
    func trimmedChanges() async throws {
        let fleet = try await Fleet(servers: 1)
        defer { fleet.end() }
        try await fleet.a.set(Member("1", "Ada"))
        #expect(await fleet.b.read(Member.self, "Member:1") == Member("1", "Ada"))
        // As if a follower had been away: the changes that it asks for are gone.
        try fleet.servers[0].send("XTRIM", "espalier:changes", "MAXLEN", 0)
        try await fleet.a.set(Member("1", "Mary"))
        #expect(await eventually { await fleet.b.read(Member.self, "Member:1")?.name == "Mary" })
        try fleet.servers[0].send("DEL", "espalier:clock", "espalier:changes")
        try await fleet.a.set(Member("1", "Grace"))
        for host in fleet.hosts {
            #expect(await eventually { await host.read(Member.self, "Member:1")?.name == "Grace" })
            #expect(await eventually { host.statistics.resets > 0 })
        }
    }

    @Test("A server that has lost its clock, and not its changes, is followed from their end")
    func lostClock() async throws {
        let fleet = try await Fleet(servers: 1)
        defer { fleet.end() }
        for number in 0..<20 { try await fleet.a.set(Member("\(number)", "Ada")) }
        for host in fleet.hosts { #expect(await host.waitUntilCurrent()) }
        let before = fleet.hosts.map(\.statistics.resets)
        try fleet.servers[0].send("DEL", "espalier:clock")
        try await Task.sleep(for: .seconds(1))
        for (host, resets) in zip(fleet.hosts, before) {
            #expect(host.statistics.resets - resets <= 2)
        }
        try await fleet.a.set(Member("1", "Grace"))
        for host in fleet.hosts {
            #expect(await eventually { await host.read(Member.self, "Member:1")?.name == "Grace" })
        }
    }

    @Test("A host connects ever more rarely to a server that refuses its questions")
    func refusing() async throws {
        let fleet = try await Fleet(servers: 1)
        defer { fleet.end() }
        let host = fleet.hosts[0]
        #expect(await host.waitUntilCurrent())
        func connections() throws -> Int {
            let text = try fleet.servers[0].send("INFO", "stats").text ?? ""
            let line = text.split(separator: "\r\n").first {
                $0.hasPrefix("total_connections_received:")
            }
            return try #require(line?.split(separator: ":").last.flatMap { Int($0) })
        }
        try fleet.servers[0].send("DEL", "espalier:changes")
        try fleet.servers[0].send("SET", "espalier:changes", "no stream")
        let before = try connections()
        try await Task.sleep(for: .seconds(2))
        // Two hosts; at most eight attempts of each, as the pauses double.
        let count = try connections() - before
        #expect(count > 2 && count < 40, "\(count)")
        try fleet.servers[0].send("DEL", "espalier:changes")
        try await fleet.a.set(Member("1", "Ada"))
        #expect(await eventually { await host.read(Member.self, "Member:1")?.name == "Ada" })
    }

    @Test("The near cache does not remove the position that its host saves")
    func savedPosition() throws {
        let server = try TestServer()
        defer { server.remove() }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let near = try NormalizedCache(directory: folder.path)
        defer { near.close() }
        let file = try NearFile(directory: folder.path)
        let position = NearFile.Position(servers: [
            .init(name: "a", runIdentifier: "1", processed: 2)
        ])
        let isDone = Mutex(false)
        let commits = Thread {
            var number = 0
            while !isDone.withLock({ $0 }) {
                number += 1
                try? near.set(Member("\(number % 5)", "\(number)")).wait()
            }
        }
        commits.start()
        defer { isDone.withLock { $0 = true } }
        for _ in 0..<500 {
            file.remove()
            file.update(position)
            #expect(file.load(["a"])?.servers.first?.processed == 2)
        }
    }

    @Test("`warm` puts more near than fits one write, and counts what is near")
    func warmsMuch() async throws {
        let server = try TestServer()
        defer { server.remove() }
        var configuration = FleetConfiguration(servers: [server.address])
        let writer = try SharedCache(configuration)
        configuration.nearConfiguration.budget = .mebibytes(1)
        let reader = try SharedCache(configuration)
        defer {
            writer.close()
            reader.close()
        }
        let names = (0..<40).map { "Member:\($0)" }
        for number in 0..<40 {
            var generator = SystemRandomNumberGenerator()
            let text = (0..<8_000).map { _ in String(UInt8.random(in: 10...99, using: &generator)) }
            try await writer.set(Member("\(number)", text.joined()))
        }
        #expect(await reader.waitUntilCurrent())
        let (records, missing) = try await reader.warm(names)
        #expect(records == 40 && missing.isEmpty)
        let near = names.filter { reader.near.read(Member.self, $0) != nil }
        #expect(near.count == 40)
    }

    @Test("A server that evicts makes misses, and what is written again is read again")
    func eviction() async throws {
        let server = try TestServer(arguments: [
            "--maxmemory", "3mb", "--maxmemory-policy", "allkeys-lfu",
        ])
        defer { server.remove() }
        var configuration = FleetConfiguration(servers: [server.address])
        configuration.changeLimit = 100
        let writer = try SharedCache(configuration)
        let reader = try SharedCache(configuration)
        defer {
            writer.close()
            reader.close()
        }
        let text = String(
            decoding: (0..<4_000).map { _ in UInt8.random(in: 65...90) }, as: UTF8.self)
        for number in 0..<2_000 { try await writer.set(Member("\(number)", text)) }
        var found = 0
        for number in 0..<2_000 where await reader.read(Member.self, "Member:\(number)") != nil {
            found += 1
        }
        #expect(found > 20 && found < 1_900)
        try await writer.set(Member("0", "again"))
        #expect(await eventually { await reader.read(Member.self, "Member:0")?.name == "again" })
    }

    @Test("Records expire by their maximum age on all hosts, and stale reads still find them")
    func expiry() async throws {
        let time = ManualTime()
        let fleet = try await Fleet(servers: 1) { $0.milliseconds = { time.milliseconds } }
        defer { fleet.end() }
        try await fleet.a.set(Member("1", "Ada"), maxAge: .seconds(60))
        #expect(await fleet.b.read(Member.self, "Member:1") != nil)
        time.advance(by: 61_000)
        // The near caches use the system's clock: what they have is fetched anew here.
        let outcome = await freshHost(fleet, time).readOutcome(Member.self, "Member:1")
        guard case .miss(.expired) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        let stale = await freshHost(fleet, time)
            .readOutcome(Member.self, "Member:1", accepting: .stale)
        guard case .hit(let hit) = stale else {
            Issue.record("\(stale)")
            return
        }
        #expect(hit.isExpired)
    }

    private func freshHost(_ fleet: Fleet, _ time: ManualTime) async -> SharedCache {
        var configuration = FleetConfiguration(servers: fleet.servers.map(\.address))
        configuration.milliseconds = { time.milliseconds }
        do {
            return try SharedCache(configuration)
        } catch {
            Issue.record(error)
            return fleet.a
        }
    }
}
