import Espalier
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
        _ id: String, of server: Int = 0, clock: UInt64, epoch: Int
    ) throws -> Coherence.Copy {
        let write = try SharedWrite(setting: [Member(id)])
        let version = RecordVersion(time: clock << 16, host: 1)
        let record = try #require(
            try write.changes(to: [:], version: version)[SharedName(.node, "Member:\(id)")])
        return Coherence.Copy(
            name: SharedName(.node, "Member:\(id)"), record: record, server: server, clock: clock,
            epoch: epoch)
    }

    private func isNear(_ id: String) -> Bool {
        let outcome: ReadOutcome<Member> = near.readOutcome(Member.self, "Member:\(id)")
        return outcome.value != nil
    }

    private var isCurrent: Bool { coherence.isCurrent(within: 60_000_000_000) }

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
            await 1 == coherence.restore([try copy("2", clock: 10, epoch: coherence.epochs[0])]))
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
        #expect(!isCurrent && !coherence.areCurrent([0], within: 60_000_000_000))
        #expect(coherence.areCurrent([1], within: 60_000_000_000))
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
        coherence.announce(versions[0], on: 0)
        let entries = [
            ChangeEntry(clock: 11, version: versions[1], names: [names[1]]),
            ChangeEntry(clock: 12, version: versions[0], names: [names[0]]),
        ]
        #expect(coherence.apply(entries, of: 0) == [names[1]])
    }

    @Test("An own commit that was noted early is not forgotten when older ones are processed")
    func laterOwnCommit() async throws {
        coherence.outdate([try copy("1", clock: 13, epoch: 0)])
        let name = SharedName(.node, "Member:1")
        let entry = ChangeEntry(
            clock: 11, version: RecordVersion(time: 11, host: 2), names: [name])
        #expect(coherence.apply([entry], of: 0) == [name])
        let next = ChangeEntry(clock: 12, version: RecordVersion(time: 12, host: 2), names: [])
        #expect(coherence.apply([next], of: 0) == [])
        #expect(await 0 == coherence.restore([try copy("1", clock: 12, epoch: 0)]))
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
        #expect(!coherence.areCurrent([0], within: 60_000_000_000))
        #expect(coherence.mustOutdateCopies(of: 0))
        #expect(!coherence.outdateCopies(of: 0) { _ in true })
        #expect(coherence.mustOutdateCopies(of: 0), "the follower tries again")
        coherence.confirm(0, 11, runIdentifier: "first", at: .now)
        #expect(!coherence.areCurrent([0], within: 60_000_000_000))
        #expect(coherence.areCurrent([1], within: 60_000_000_000))
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

    @Test("A reset ends the waits for commits of before")
    func waits() async {
        let coherence = coherence
        async let waited = coherence.wait(for: 50, of: 0, atMost: .seconds(60))
        try? await Task.sleep(for: .milliseconds(20))
        coherence.reset(0, to: 60)
        #expect(await !waited)
    }
}
