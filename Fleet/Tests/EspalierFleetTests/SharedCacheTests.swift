import Espalier
import EspalierRedis
import EspalierSharedRecords
import FleetFixtures
import Foundation
import Synchronization
import Testing

@testable import EspalierFleet

/// Two servers and two hosts.
struct Fleet {
    let servers: [TestServer]
    let hosts: [SharedCache]
    var a: SharedCache { hosts[0] }
    var b: SharedCache { hosts[1] }

    init(
        servers serverCount: Int = 2, hosts hostCount: Int = 2,
        _ change: (inout FleetConfiguration) -> Void = { _ in }
    ) async throws {
        servers = try (0..<serverCount).map { _ in try TestServer() }
        let addresses = servers.map(\.address)
        hosts = try (0..<hostCount).map { index in
            var configuration = FleetConfiguration(servers: addresses)
            configuration.host = UInt64(index + 1)
            change(&configuration)
            return try SharedCache(configuration)
        }
        for host in hosts { #expect(await host.waitUntilCurrent()) }
    }

    /// Returns the first number for which `name` is that of a record on a server.
    func number(on server: Int, _ name: (Int) -> SharedName) throws -> String {
        let ring = Ring(servers.map { "127.0.0.1:\($0.port)" })
        let number = (0..<1_000).first { ring.server(of: name($0)) == server }
        return String(try #require(number))
    }

    /// Returns the bytes that the servers have under a key.
    func value(_ key: String) throws -> [UInt8]? {
        try servers.compactMap { try $0.send("GET", "espalier:\(key)").data }.first
    }

    func end() {
        for host in hosts { host.close() }
        for server in servers { server.remove() }
    }
}

/// A number that tasks count up.
final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add(_ number: Int = 1) { count.withLock { $0 += number } }
}

func eventually(
    _ limit: Duration = .seconds(5), _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if try await condition() { return true }
        try? await Task.sleep(for: .milliseconds(1))
    }
    return try await condition()
}

@Suite("Hosts of a fleet share one cache", .serialized)
struct SharedCacheTests {
    @Test("What one host writes, another reads")
    func writeAndRead() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        let team = Team("1", "red", lead: Member("1", "Ada"), [Member("2", "Grace"), Member("3")])
        try await fleet.a.set(team)
        #expect(await fleet.b.read(Team.self, "Team:1") == team)
        #expect(await fleet.a.read(Team.self, "Team:1") == team)
        #expect(await fleet.b.read(Member.self, "Member:2") == Member("2", "Grace"))
        #expect(await fleet.b.read(Team.self, "Team:2") == nil)
        let isNear = await eventually {
            #expect(await fleet.a.read(Team.self, "Team:1") == team)
            return fleet.a.statistics.nearHits >= 1
        }
        #expect(isNear)
    }

    @Test("A person changed on one host is changed in the trees of another")
    func change() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        try await fleet.a.set(Team("1", "red", [Member("1", "Ada"), Member("2", "Grace")]))
        _ = await fleet.b.read(Team.self, "Team:1")
        let isNear = await eventually {
            let before = fleet.b.statistics.nearHits
            _ = await fleet.b.read(Team.self, "Team:1")
            return fleet.b.statistics.nearHits > before
        }
        #expect(isNear)
        try await fleet.a.update(Member.self, "Member:2") { Member($0.id, "Mary", count: 1) }
        // The host that wrote reads what it wrote.
        #expect(await fleet.a.read(Team.self, "Team:1")?.members[1].name == "Mary")
        #expect(
            await eventually {
                await fleet.b.read(Team.self, "Team:1")?.members[1].name == "Mary"
            })
    }

    @Test(
        "JSON from servers and from copies is that of a cache, and shows the changes of all hosts")
    func json() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        let (a, b) = (fleet.a, fleet.b)
        let alone = try NormalizedCache(inMemory: Configuration())
        defer { alone.close() }
        func expect(_ team: Team, _ host: SharedCache) async throws {
            try await alone.set(team).committed
            let forms: [(depth: Int, paths: [String], nulls: Bool)] = [
                (.max, [], false), (1, [], true), (.max, ["members.name", "lead"], true),
            ]
            for form in forms {
                let expected = await alone.json(
                    of: "Team:1", depth: form.depth, leavingOut: form.paths,
                    includesNulls: form.nulls)
                let isSame = await eventually {
                    await host.json(
                        of: "Team:1", depth: form.depth, leavingOut: form.paths,
                        includesNulls: form.nulls) == expected
                }
                #expect(isSame && expected != nil)
            }
        }
        var team = Team("1", "red", lead: Member("1", "Ada"), [Member("2", "Grace"), Member("3")])
        #expect(await b.json(of: "Team:1") == nil)
        try await a.set(team)
        for _ in 0..<2 { for host in fleet.hosts { try await expect(team, host) } }
        let isNear = await eventually {
            let before = b.statistics.nearHits
            _ = await b.json(of: "Team:1")
            return b.statistics.nearHits > before
        }
        #expect(isNear)
        // A change of another host reaches the copies; the host's own is there at once.
        try await a.update(Member.self, "Member:2") { Member($0.id, "Mary", count: 1) }
        team.members[0] = Member("2", "Mary", count: 1)
        try await expect(team, a)
        try await expect(team, b)
        try await a.delete("Member:3")
        team.members.removeLast()
        for host in fleet.hosts { try await expect(team, host) }
        // Collections.
        try await a.setCollection([Member("8", "Alan"), Member("9")], forKey: "list")
        try await alone.setCollection([Member("8", "Alan"), Member("9")], forKey: "list").committed
        let list = await alone.json(ofCollection: "list")
        for host in fleet.hosts + fleet.hosts {
            #expect(await host.json(ofCollection: "list") == list)
        }
        #expect(await b.json(ofCollection: "none") == nil)
    }

    @Test("A deleted node leaves the trees of all hosts, and returns when it is written again")
    func delete() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        let team = Team("1", "red", lead: Member("1"), [Member("1"), Member("2")])
        try await fleet.a.set(team)
        #expect(await fleet.b.read(Team.self, "Team:1") == team)
        try await fleet.a.delete("Member:1")
        for host in fleet.hosts {
            #expect(
                await eventually {
                    await host.read(Team.self, "Team:1") == Team("1", "red", [Member("2")])
                })
            #expect(await host.read(Member.self, "Member:1") == nil)
        }
        // Long enough for the tree to be near.
        try await Task.sleep(for: .milliseconds(50))
        #expect(await fleet.b.read(Team.self, "Team:1")?.members.count == 1)
        try await fleet.a.set(Member("1", "Ada"))
        for host in fleet.hosts {
            #expect(await eventually { await host.read(Team.self, "Team:1")?.lead?.name == "Ada" })
        }
    }

    @Test("Collections and keys are shared, and edits count what a read returns")
    func collections() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        let (a, b) = (fleet.a, fleet.b)
        try await a.setCollection([Member("1"), Member("2")], forKey: "team")
        #expect(await b.collection(of: Member.self, forKey: "team")?.map(\.id) == ["1", "2"])
        try await b.append([Member("3")], toCollection: "team")
        #expect(
            await eventually {
                await a.collection(of: Member.self, forKey: "team")?.map(\.id) == ["1", "2", "3"]
            })
        try await a.delete("Member:1")
        try await b.edit(.insert([Member("4")], at: 1), ofCollection: "team")
        for host in fleet.hosts {
            #expect(
                await eventually {
                    await host.collection(of: Member.self, forKey: "team")?.map(\.id)
                        == ["2", "4", "3"]
                })
        }
        await #expect(throws: SharedWriteError.self) {
            try await b.edit(.remove(at: 9), ofCollection: "team")
        }
        try await a.setModel(Member("5", "key"), forKey: "me")
        let me = await b.modelOutcome(Member.self, forKey: "me").value
        #expect(me == Member("5", "key"))
        try await b.deleteModel(forKey: "me")
        #expect(await eventually { await a.modelOutcome(Member.self, forKey: "me").value == nil })
        #expect(await a.read(Member.self, "Member:5") != nil)
        try await a.deleteCollection(forKey: "team")
        #expect(await eventually { await b.collection(of: Member.self, forKey: "team") == nil })
    }

    @Test("An update finds what another host has set again after a deletion of this one")
    func updateAfterDeletion() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        for number in 1...20 {
            let identifier = "Member:\(number)"
            try await fleet.a.set(Member("\(number)", "Ada"))
            try await fleet.a.delete(identifier)
            try await fleet.b.set(Member("\(number)", "Grace"))
            let updated = try await fleet.a.update(Member.self, identifier) { member in
                var member = member
                member.count += 1
                return member
            }
            #expect(updated.name == "Grace" && updated.count == 1)
        }
        await #expect(throws: FleetError.self) {
            try await fleet.a.update(Member.self, "Member:none") { $0 }
        }
    }

    @Test("Keys that begin with a character that joins the one before it are shared")
    func joiningCharacters() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        for key in ["\u{301}key", "\u{200D}key", "\u{FE0F}", "k:\u{301}"] {
            try await fleet.a.setModel(Member("1", "Ada"), forKey: key)
            #expect(await fleet.b.modelOutcome(Member.self, forKey: key).value?.name == "Ada")
            try await fleet.a.deleteModel(forKey: key)
            #expect(
                await eventually {
                    await fleet.b.modelOutcome(Member.self, forKey: key).value == nil
                })
        }
        #expect(fleet.hosts.allSatisfy { $0.statistics.resets == 0 })
    }

    @Test("No update of two hosts is lost")
    func counting() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        try await fleet.a.set(Member("1"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for host in fleet.hosts {
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<25 {
                            try await host.update(Member.self, "Member:1") { member in
                                var member = member
                                member.count += 1
                                return member
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for host in fleet.hosts {
            #expect(await eventually { await host.read(Member.self, "Member:1")?.count == 200 })
        }
        #expect(fleet.hosts.map(\.statistics.conflicts).reduce(0, +) > 0)
    }

    @Test("A feed of 601 nodes takes at most five round trips, and is near afterwards")
    func feed() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        let feed = Feed.sample(posts: 100)
        let identifier = try #require(feed.modelIdentifier)
        try await fleet.a.set(feed)
        // The first read of the process has to learn the shapes, too.
        _ = await fleet.b.read(FeedPerson.self, feed.posts[0].author.modelIdentifier ?? "")
        let before = fleet.b.statistics.roundTrips
        let read = await fleet.b.read(Feed.self, identifier)
        #expect(read == feed)
        #expect(fleet.b.statistics.roundTrips - before <= 5)
        #expect(
            await eventually {
                let hits = fleet.b.statistics.nearHits
                _ = await fleet.b.read(Feed.self, identifier)
                return fleet.b.statistics.nearHits > hits
            })
        let condition = try fleet.b.near.verify()
        #expect(condition.problems.isEmpty)
    }

    // MARK: What servers do not have

    @Test("What a server has evicted is deleted on all hosts")
    func deleteEvicted() async throws {
        let fleet = try await Fleet(servers: 1) { $0.maximumStaleness = .seconds(10) }
        defer { fleet.end() }
        let (a, b) = (fleet.a, fleet.b)
        try await a.set([Member("1", "Ada"), Member("2")])
        try await a.setModel(Member("2"), forKey: "me")
        try await a.setCollection([Member("2")], forKey: "list")
        func found(_ host: SharedCache) async -> Int {
            let model = await host.read(Member.self, "Member:1")
            let key = await host.modelOutcome(Member.self, forKey: "me").value
            let list = await host.collection(of: Member.self, forKey: "list")
            return (model == nil ? 0 : 1) + (key == nil ? 0 : 1) + (list == nil ? 0 : 1)
        }
        let isNear = await eventually {
            let hits = b.statistics.nearHits
            return await found(b) == 3 && b.statistics.nearHits == hits + 3
        }
        #expect(isNear)
        for key in ["n:Member:1", "k:me", "c:list"] {
            #expect(try fleet.servers[0].send("DEL", "espalier:\(key)").number == 1)
        }
        #expect(await found(b) == 3, "copies of the last state")
        try await a.delete("Member:1")
        try await a.deleteModel(forKey: "me")
        try await a.deleteCollection(forKey: "list")
        for host in fleet.hosts { #expect(await eventually { await found(host) == 0 }) }
        // A second deletion finds the tombstone.
        let commits = try fleet.value("clock")
        try await b.delete("Member:1")
        #expect(try fleet.value("clock") == commits)
    }

    @Test("A tree of any depth is put near", arguments: [0, 1, 5, Int.max])
    func warm(depth: Int) async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        try await fleet.a.set(Team("1", "red", [Member("1"), Member("2")]))
        // The test does not wait for a task that never ends.
        let records = Counter()
        let host = fleet.b
        Task.detached { records.add(try await host.warm(["Team:1"], depth: depth).records) }
        #expect(await eventually { records.value == (depth == 0 ? 1 : 3) })
    }

    @Test("Durations of any length are accepted, and a retention of zero is none")
    func durations() async throws {
        for duration in [Duration.seconds(Int.max), .seconds(1 << 40)] {
            #expect(duration.nanoseconds == .max)
            #expect((Moment.now + duration).nanoseconds == .max)
        }
        #expect(Duration.seconds(-Int64.max).nanoseconds == .min)
        #expect(Duration.milliseconds(1_500).nanoseconds == 1_500_000_000)
        for retention in [Duration.seconds(Int.max), .zero, .seconds(60)] {
            let fleet = try await Fleet(servers: 1, hosts: 1) {
                $0.maximumStaleness = .seconds(Int.max)
                $0.staleLimit = .seconds(Int.max)
                $0.tombstoneLifetime = .seconds(Int.max)
                $0.retention = retention
            }
            defer { fleet.end() }
            try await fleet.a.set([Member("1", "Ada"), Member("2")])
            try await fleet.a.delete("Member:2")
            #expect(await fleet.a.read(Member.self, "Member:1")?.name == "Ada")
            #expect(await fleet.a.read(Member.self, "Member:2") == nil)
            func lifetime(_ id: String) throws -> Int {
                try fleet.servers[0].send("PTTL", "espalier:n:Member:\(id)").number ?? 0
            }
            #expect(try lifetime("2") > 1 << 40)
            let left = try lifetime("1")
            #expect(retention == .zero ? left == -1 : left > 50_000)
        }
    }

    // MARK: Writes over several servers

    @Test("An append whose records are on two servers is made once, however often hosts meet")
    func appendOverServers() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        let key = try fleet.number(on: 0) { SharedName(.collection, "\($0)") }
        let id = try fleet.number(on: 1) { SharedName(.node, "Member:\($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (writer, host) in (fleet.hosts + fleet.hosts).enumerated() {
                group.addTask {
                    for number in 0..<25 {
                        let member = Member(id, "\(writer)", count: number)
                        try await host.append([member], toCollection: key)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(fleet.hosts.map(\.statistics.conflicts).reduce(0, +) > 0)
        for host in fleet.hosts {
            let isDone = await eventually {
                await host.collection(of: Member.self, forKey: key)?.count == 100
            }
            let count = await host.collection(of: Member.self, forKey: key)?.count
            #expect(isDone, "\(count ?? 0) elements")
        }
    }

    @Test("An update of records on two servers counts once on each, or tells that a part is done")
    func updateOverServers() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        let ids = try (0..<2).map { server in
            try fleet.number(on: server) { SharedName(.node, "Member:\($0)") }
        }
        try await fleet.a.set(Team("1", "red", ids.map { Member($0) }))
        let (whole, parts, single) = (Counter(), Counter(), Counter())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for host in fleet.hosts {
                group.addTask {
                    for _ in 0..<50 {
                        do {
                            try await host.update(Team.self, "Team:1") { team in
                                var team = team
                                for index in team.members.indices { team.members[index].count += 1 }
                                return team
                            }
                            whole.add()
                        } catch FleetError.partlyDone(let server) {
                            #expect(server == "127.0.0.1:\(fleet.servers[1].port)")
                            parts.add()
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<100 {
                        try await host.update(Member.self, "Member:\(ids[1])") { member in
                            var member = member
                            member.count += 1
                            return member
                        }
                        single.add()
                    }
                }
            }
            try await group.waitForAll()
        }
        let expected = [whole.value + parts.value, whole.value + single.value]
        for host in fleet.hosts {
            let isExpected = await eventually {
                await host.read(Team.self, "Team:1")?.members.map(\.count) == expected
            }
            let found = await host.read(Team.self, "Team:1")?.members.map(\.count) ?? []
            #expect(isExpected, "\(found) and not \(expected)")
        }
    }

    // MARK: Clocks

    /// Two hosts, of which the clock of the first is an hour ahead.
    private func fleetWithWrongClock() async throws -> Fleet {
        try await Fleet(servers: 1) { configuration in
            guard configuration.host == 1 else { return }
            let now = configuration.milliseconds
            configuration.milliseconds = { now() + 3_600_000 }
        }
    }

    @Test("Copies of what a host with a clock ahead has written become outdated like others")
    func clockAhead() async throws {
        let fleet = try await fleetWithWrongClock()
        defer { fleet.end() }
        try await fleet.a.set(Member("1", "Ada"))
        let isNear = await eventually {
            let hits = fleet.b.statistics.nearHits
            _ = await fleet.b.read(Member.self, "Member:1")
            return fleet.b.statistics.nearHits > hits
        }
        #expect(isNear)
        try await fleet.a.set(Member("1", "Mary"))
        #expect(
            await eventually(.seconds(2)) {
                // Reads of fresh records alone do not compare dates in the future.
                let outcome = await fleet.b.readOutcome(
                    Member.self, "Member:1", accepting: .stale)
                return outcome.value?.name == "Mary"
            })
        #expect(await fleet.b.read(Member.self, "Member:1")?.name == "Mary")
    }

    @Test("The clock of a host that is wrong does not change the versions of other records")
    func wrongClock() async throws {
        let fleet = try await fleetWithWrongClock()
        defer { fleet.end() }
        func version(_ id: String) throws -> RecordVersion {
            let bytes = try #require(try fleet.value("n:Member:\(id)"))
            return try #require(RecordVersion(bytes: Array(bytes[2..<18])))
        }
        try await fleet.a.set(Member("1", "Ada"))
        var last = try version("1")
        for number in 1...10 {
            try await fleet.b.set(Member("1", "Mary", count: number))
            #expect(try version("1") > last)
            last = try version("1")
            try await fleet.b.set(Member("2", "Grace", count: number))
            let now = UInt64(Date().timeIntervalSince1970 * 1_000)
            #expect(try version("2").milliseconds <= now + 1_000)
        }
        #expect(last.host == 2)
        #expect(try version("1").milliseconds > version("2").milliseconds + 3_000_000)
    }
}
