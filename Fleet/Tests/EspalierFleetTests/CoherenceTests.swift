import Espalier
import EspalierRedis
import EspalierSharedRecords
import FleetFixtures
import Testing

@testable import EspalierFleet

@Suite("Copies and the commits of servers")
struct CoherenceTests {
    private let near: NormalizedCache
    private let coherence: Coherence
    private let ages = SharedAges(acceptsExpired: false, second: 0)

    init() throws {
        near = try NormalizedCache(inMemory: Configuration())
        coherence = Coherence(servers: 2, near: near, RecentWrites(), FleetCounters())
        for server in 0..<2 {
            #expect(!coherence.follow(server, runIdentifier: "first", clock: 10).isReset)
            coherence.confirm(server, 10, runIdentifier: "first", at: .now)
        }
    }

    private func copy(
        _ id: String, of server: Int = 0, clock: UInt64, epoch: Int = 0, name: String = "",
        by runIdentifier: String = "first"
    ) throws -> Coherence.Copy {
        let write = try SharedWrite(setting: [Member(id, name)])
        let version = RecordVersion(time: clock << 16, host: 1)
        let record = try #require(
            try write.changes(to: [:], version: version)[SharedName(.node, "Member:\(id)")])
        return Coherence.Copy(
            name: SharedName(.node, "Member:\(id)"), record: record, server: server, clock: clock,
            epoch: epoch, runIdentifier: runIdentifier)
    }

    private func isNear(_ id: String) -> Bool {
        let outcome: ReadOutcome<Member> = near.readOutcome(Member.self, "Member:\(id)")
        return outcome.value != nil
    }

    private var isCurrent: Bool { coherence.confirmed >= 0 }

    @Test("A copy that was fetched before its server lost its memory is not restored after it")
    func epochs() async throws {
        let epochs = coherence.epochs
        // The server comes back from a snapshot, and gives the same numbers to other commits.
        #expect(coherence.follow(0, runIdentifier: "second", clock: 8).isReset)
        coherence.outdateCopies(of: 0) { _ in true }
        let entries = (9...12).map {
            ChangeEntry(clock: $0, version: RecordVersion(time: $0, host: 2), names: [])
        }
        #expect(coherence.apply(entries, of: 0) != nil)
        #expect(await 0 == coherence.restore([try copy("1", clock: 10, epoch: epochs[0])]))
        #expect(!isNear("1"))
        #expect(
            await 1
                == coherence.restore([
                    try copy("2", clock: 10, epoch: coherence.epochs[0], by: "second")
                ]))
        #expect(isNear("2"))
        // The other server has lost nothing.
        #expect(await 1 == coherence.restore([try copy("3", of: 1, clock: 10, epoch: epochs[1])]))
        #expect(isNear("3"))
    }

    @Test("No copy of a server is current until all of them were given up")
    func givingUp() async throws {
        for (id, server) in [("1", 0), ("2", 1)] {
            let copy = try copy(id, of: server, clock: 10, epoch: 0)
            #expect(await 1 == coherence.restore([copy]))
        }
        #expect(isCurrent)
        #expect(coherence.position(of: ["a", "b"]) != nil)
        coherence.reset(0, to: 20)
        coherence.confirm(0, 20, runIdentifier: "first", at: .now)
        #expect(!isCurrent && coherence.confirmedByServer[0] < 0)
        #expect(coherence.confirmedByServer[1] >= 0)
        #expect(
            coherence.position(of: ["a", "b"]) == nil, "a later process must not go on from here")
        coherence.outdateCopies(of: 0) { $0.identifier == "Member:1" }
        #expect(!isNear("1") && isNear("2"))
        #expect(!isCurrent, "the server was not asked since")
        coherence.confirm(0, 20, runIdentifier: "first", at: .now)
        #expect(isCurrent)
        #expect(coherence.position(of: ["a", "b"]) != nil)
    }

    @Test("What another server's commits have changed is still known after a reset")
    func otherChanges() async throws {
        let name = SharedName(.node, "Member:1")
        let entry = ChangeEntry(
            clock: 11, version: RecordVersion(time: 11, host: 2), names: [name])
        #expect(coherence.apply([entry], of: 1) == [name])
        coherence.reset(0, to: 20)
        coherence.outdateCopies(of: 0) { _ in false }
        #expect(await 0 == coherence.restore([try copy("1", of: 1, clock: 10, epoch: 0)]))
        #expect(!isNear("1"))
        #expect(await 1 == coherence.restore([try copy("1", of: 1, clock: 11, epoch: 0)]))
    }

    @Test("Two hosts that write in the same millisecond are told apart")
    func sameTime() {
        let names = [1, 2].map { SharedName(.node, "Member:\($0)") }
        let versions = [1, 2].map { RecordVersion(time: 77, host: $0) }
        _ = coherence.announce(versions[0], on: 0)
        let entries = [
            ChangeEntry(clock: 11, version: versions[1], names: [names[1]]),
            ChangeEntry(clock: 12, version: versions[0], names: [names[0]]),
        ]
        #expect(coherence.apply(entries, of: 0) == [names[1]])
    }

    @Test("An own commit that was noted early is not forgotten when older ones are processed")
    func laterOwnCommit() async throws {
        coherence.note(ownCommit: [try copy("1", clock: 13, epoch: 0)])
        let name = SharedName(.node, "Member:1")
        let entry = ChangeEntry(
            clock: 11, version: RecordVersion(time: 11, host: 2), names: [name])
        #expect(coherence.apply([entry], of: 0) == [name])
        let next = ChangeEntry(clock: 12, version: RecordVersion(time: 12, host: 2), names: [])
        #expect(coherence.apply([next], of: 0) == [])
        #expect(await 0 == coherence.restore([try copy("1", clock: 12, epoch: 0)]))
    }

    private func entry(_ clock: UInt64, _ id: String, host: UInt64 = 1) -> ChangeEntry {
        ChangeEntry(
            clock: clock, version: RecordVersion(time: clock << 16, host: host),
            names: [SharedName(.node, "Member:\(id)")])
    }

    @Test("Own commits that follow each other are near at once, before the follower hears of them")
    func ownCommits() throws {
        for clock: UInt64 in 11...13 {
            coherence.note(ownCommit: [try copy("\(clock)", clock: clock)])
            #expect(isNear("\(clock)"))
        }
        _ = coherence.apply((11...13).map { entry($0, "\($0)") }, of: 0)
        #expect(isNear("11") && isNear("12") && isNear("13"))
        _ = coherence.apply([entry(14, "12", host: 2)], of: 0)
        #expect(!isNear("12"))
    }

    @Test("A host knows of its own commits without the follower, and of later ones of others not")
    func confirmation() throws {
        let coherence = Coherence(servers: 1, near: near, RecentWrites(), FleetCounters())
        _ = coherence.follow(0, runIdentifier: "first", clock: 10)
        coherence.note(ownCommit: [try copy("1", clock: 11)])
        coherence.confirm(0, 12, runIdentifier: "first", at: .now)
        #expect(coherence.confirmed < 0)
        coherence.confirm(0, 11, runIdentifier: "first", at: .now)
        #expect(coherence.confirmed >= 0)
    }

    @Test("An own commit behind one that the host does not know leaves no older copy, and waits")
    func ownCommitAhead() async throws {
        #expect(await 2 == coherence.restore([try copy("1", clock: 10), try copy("2", clock: 10)]))
        coherence.note(ownCommit: [try copy("1", clock: 12, name: "new")])
        #expect(!isNear("1") && isNear("2"))
        #expect(await name("1", accepting: .stale) == "new", "not even as a stale copy")
        // Commit 11 of another host; with it the next own commit follows what is known.
        _ = coherence.apply([entry(11, "2", host: 2)], of: 0)
        #expect(!isNear("2"))
        coherence.note(ownCommit: [try copy("3", clock: 13)])
        #expect(isNear("3"))
        #expect(await eventually { isNear("1") })
        #expect(await name("1") == "new")
        _ = coherence.apply([entry(12, "1"), entry(13, "3")], of: 0)
        #expect(isNear("1") && isNear("3"))
    }

    private func name(_ id: String, accepting freshness: Freshness = .fresh) async -> String? {
        await near.readOutcome(Member.self, "Member:\(id)", accepting: freshness).value?.name
    }

    @Test("Of a record that a write leaves as it was, no older copy is left")
    func unchanged() async throws {
        #expect(await 2 == coherence.restore([try copy("1", clock: 10), try copy("2", clock: 10)]))
        let names = ["1", "2"].map { SharedName(.node, "Member:\($0)") }
        // Another host's commit 11 has changed record 1, of which the follower has not heard.
        coherence.note(
            unchanged: [(name: names[0], server: 0, clock: 11), (names[1], server: 0, clock: 10)])
        #expect(!isNear("1") && isNear("2"))
        // A fetch of before must not bring it back.
        #expect(await 0 == coherence.restore([try copy("1", clock: 10)]))
    }

    @Test("A commit on another process than the one that is followed is no own commit of that one")
    func otherProcess() async throws {
        #expect(await 1 == coherence.restore([try copy("1", clock: 10)]))
        coherence.note(ownCommit: [try copy("2", clock: 11, by: "before the failover")])
        #expect(!isNear("2"))
        _ = coherence.apply([entry(11, "1", host: 2)], of: 0)
        #expect(!isNear("1"))
        // Nor is what was fetched from there restored: this process has given 11 to another commit.
        #expect(await 0 == coherence.restore([try copy("3", clock: 11, by: "before the failover")]))
    }

    @Test("A number that an own commit had does not hide another host's commit")
    func sameNumber() async throws {
        #expect(await 1 == coherence.restore([try copy("1", clock: 10)]))
        coherence.note(ownCommit: [try copy("2", clock: 11)])
        _ = coherence.apply([entry(11, "1", host: 2)], of: 0)
        #expect(!isNear("1"))
    }

    @Test("An own commit of before a reset leaves no older copy", arguments: [true, false])
    func ownCommitBeforeReset(isFollowed: Bool) async throws {
        #expect(await 1 == coherence.restore([try copy("1", clock: 10)]))
        if isFollowed { coherence.reset(0, to: 20) } else { coherence.stopFollowing(0) }
        coherence.note(ownCommit: [try copy("1", clock: 11, name: "new")])
        #expect(await name("1") == nil)
        // What was fetched before must not come back.
        #expect(await 0 == coherence.restore([try copy("1", clock: 10)]))
    }

    @Test("An own record that the near cache refuses leaves no older copy, not for a moment")
    func refusedRecord() async throws {
        var configuration = Configuration()
        configuration.limits.maximumBytes = 5_000
        let near = try NormalizedCache(inMemory: configuration)
        let coherence = Coherence(
            servers: 1, near: near, RecentWrites(), FleetCounters(), limits: configuration.limits)
        _ = coherence.follow(0, runIdentifier: "first", clock: 10)
        let copies = try ["1", "2"].map { try copy($0, clock: 10) }
        #expect(await 2 == coherence.restore(copies))
        let record = try copy("1", clock: 11, name: String(repeating: "n", count: 10_000))
        coherence.note(ownCommit: [record])
        #expect(await near.read(Member.self, "Member:1") == nil)
        #expect(await coherence.hasOutdatedCopies(of: 0))
        #expect(await near.read(Member.self, "Member:2") == Member("2"))
    }

    @Test("A change that the near cache refuses makes its copies outdated, and no others")
    func refusedChange() async throws {
        var configuration = Configuration()
        configuration.limits.maximumBytes = 5_000
        let near = try NormalizedCache(inMemory: configuration)
        // As if the records of the near cache were larger than those of servers.
        let coherence = Coherence(servers: 1, near: near, RecentWrites(), FleetCounters())
        _ = coherence.follow(0, runIdentifier: "first", clock: 10)
        let copies = try ["1", "2"].map { try copy($0, clock: 10) }
        #expect(await 2 == coherence.restore(copies))
        let record = try copy("1", clock: 11, name: String(repeating: "n", count: 10_000))
        coherence.note(ownCommit: [record])
        #expect(await coherence.hasOutdatedCopies(of: 0))
        #expect(await near.read(Member.self, "Member:1") == nil)
        #expect(await near.read(Member.self, "Member:2") == Member("2"))
        #expect(!coherence.mustOutdateCopies(of: 0))
        #expect(coherence.position(of: ["a"]) != nil)
    }

    @Test("While a change of copies has failed, a later process must not go on from here")
    func failedPosition() async throws {
        near.close()
        #expect(coherence.position(of: ["a", "b"]) != nil)
        coherence.note(ownCommit: [try copy("1", clock: 11)])
        #expect(await eventually { coherence.position(of: ["a", "b"]) == nil })
    }

    @Test("Nothing is current while the near cache fails to make copies outdated")
    func nearFails() async throws {
        let name = SharedName(.node, "Member:1")
        #expect(await 1 == coherence.restore([try copy("1", clock: 10, epoch: 0)]))
        near.close()
        let entry = ChangeEntry(
            clock: 11, version: RecordVersion(time: 11, host: 2), names: [name])
        #expect(coherence.apply([entry], of: 0) == [name])
        #expect(await !coherence.hasOutdatedCopies(of: 0))
        #expect(await coherence.hasOutdatedCopies(of: 1))
        coherence.confirm(0, 11, runIdentifier: "first", at: .now)
        #expect(coherence.confirmedByServer[0] < 0)
        #expect(coherence.mustOutdateCopies(of: 0))
        #expect(!coherence.outdateCopies(of: 0) { _ in true })
        #expect(coherence.mustOutdateCopies(of: 0), "the follower tries again")
        coherence.confirm(0, 11, runIdentifier: "first", at: .now)
        #expect(coherence.confirmedByServer[0] < 0)
        #expect(coherence.confirmedByServer[1] >= 0)
    }

    @Test("A change of copies that fails during a sweep makes the follower sweep once more")
    func failureDuringSweep() async throws {
        let copy = try copy("1", clock: 10, epoch: 0)
        #expect(await 1 == coherence.restore([copy]))
        coherence.reset(0, to: 20)
        coherence.outdateCopies(of: 0) { _ in
            // As if the heartbeat had found the failure.
            coherence.reset(0, to: 21)
            return true
        }
        #expect(coherence.mustOutdateCopies(of: 0))
        coherence.outdateCopies(of: 0) { _ in true }
        #expect(!coherence.mustOutdateCopies(of: 0))
    }

    @Test("Of commits with a gap between them none counts, not even those before the gap")
    func gap() async throws {
        #expect(await 1 == coherence.restore([try copy("1", clock: 10)]))
        #expect(coherence.apply([entry(11, "1", host: 2), entry(13, "2", host: 2)], of: 0) == nil)
        let before = coherence.confirmedByServer[0]
        coherence.confirm(0, 11, runIdentifier: "first", at: .now)
        #expect(coherence.confirmedByServer[0] == before)
        #expect(isNear("1"), "the caller resets the server")
        #expect(coherence.apply([entry(11, "1", host: 2)], of: 0) != nil)
        #expect(!isNear("1"))
    }

    @Test("A last commit before those that were known is one of a server that has lost commits")
    func lostCommits() throws {
        let known = coherence.known(of: 0)
        func noteLoss(_ clock: UInt64, by runIdentifier: String = "first") -> Bool {
            coherence.noteLoss(of: 0, clock, runIdentifier: runIdentifier, after: known)
        }
        #expect(!noteLoss(10) && !noteLoss(11))
        #expect(!noteLoss(9, by: "before the failover"))
        #expect(isCurrent)
        #expect(noteLoss(9))
        #expect(!isCurrent && coherence.position(of: ["a", "b"]) == nil)
        coherence.outdateCopies(of: 0) { _ in true }
        coherence.confirm(0, 9, runIdentifier: "first", at: .now)
        #expect(!isCurrent, "the follower has to begin anew")
        #expect(coherence.follow(0, runIdentifier: "first", clock: 12).isReset)
        coherence.outdateCopies(of: 0) { _ in true }
        #expect(!coherence.hasLostCommits(0) && !noteLoss(9), "that was asked before the reset")
        coherence.confirm(0, 12, runIdentifier: "first", at: .now)
        #expect(isCurrent)
    }

    @Test("A tree that changes all the time is no stale hit while servers answer")
    func contended() async throws {
        let fleet = try await Fleet(servers: 1, hosts: 1)
        defer { fleet.end() }
        @Sendable func read(_ freshness: Freshness, _ error: FleetError) -> Member? {
            fleet.a.staleOutcome(.node(Member.self, "Member:1"), freshness, error).value
        }
        let unavailable = FleetError.unavailable(server: "", .malformed(""))
        // When the host begins to follow the server, all its copies become outdated once.
        let isFresh = await eventually {
            try? await fleet.a.set(Member("1", "Ada"))
            return read(.fresh, unavailable) != nil
        }
        #expect(isFresh)
        #expect(read(.fresh, .contended(attempts: 1)) == nil)
        #expect(read(.stale, .contended(attempts: 1)) != nil)
    }

    @Test("Nothing is current before the near cache was emptied, if that was asked for")
    func emptied() async throws {
        let coherence = Coherence(servers: 1, near: near, RecentWrites(), FleetCounters())
        near.close()
        coherence.beginWithoutCopies(near.removeAll())
        #expect(!coherence.follow(0, runIdentifier: "first", clock: 10).isReset)
        #expect(await !coherence.hasOutdatedCopies(of: 0))
        coherence.confirm(0, 10, runIdentifier: "first", at: .now)
        #expect(coherence.confirmed < 0)
        #expect(coherence.mustOutdateCopies(of: 0))
    }

    @Test("An error in place of the last commit's number is no reason to give up copies")
    func refusedNumber() throws {
        #expect(throws: RedisError.refused("LOADING")) {
            _ = try RecordServer.clock(.error("LOADING"))
        }
        #expect(throws: RedisError.self) {
            _ = try RecordServer.clock(.bytes([UInt8]("x".utf8)))
        }
        #expect(try RecordServer.clock(.null) == 0)
        #expect(try RecordServer.clock(.bytes([UInt8]("17".utf8))) == 17)
    }

    @Test("A reset ends the waits for commits of before")
    func waits() async {
        let coherence = coherence
        async let waited = coherence.wait(for: 50, of: 0, atMost: .seconds(60))
        try? await Task.sleep(for: .milliseconds(500))
        coherence.reset(0, to: 60)
        #expect(await !waited)
    }
}
