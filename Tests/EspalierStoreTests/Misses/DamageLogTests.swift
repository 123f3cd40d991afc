import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("The log of damaged records")
struct DamageLogTests {
    private let some = [Handle(3), Handle(1)]

    @Test("Only the first damaged record wakes the writer, which gets a deadline for it")
    func deadline() throws {
        let log = DamageLog()
        #expect(!log.add([], in: "g"))
        #expect(log.deadline == nil)
        #expect(log.add(some, in: "g"))
        #expect(!log.add([Handle(2)], in: "g"))
        let deadline = try #require(log.deadline)
        #expect(deadline <= .now + DamageLog.delay)
        #expect(log.waiting(atMost: 2, in: "g") == [Handle(1), Handle(2)])
        log.finish([Handle(1), Handle(2)], lost: [Handle(1)], in: "g")
        #expect(log.waiting(atMost: 2, in: "g") == [Handle(3)])
        #expect(log.deadline != nil)
        log.finish([Handle(3)], lost: [Handle(3)], in: "g")
        #expect(log.deadline == nil)
    }

    @Test("A record that was found intact is checked again by the next commit and demands none")
    func whole() {
        let log = DamageLog()
        #expect(log.add(some, in: "g"))
        log.finish(some, lost: [], in: "g")
        #expect(!log.add(some, in: "g"))
        #expect(log.deadline == nil)
        #expect(log.waiting(atMost: 9, in: "g") == some.sorted())
        // Records that were never checked come first.
        #expect(log.add([Handle(7)], in: "g"))
        #expect(log.waiting(atMost: 1, in: "g") == [Handle(7)])
        log.finish([Handle(7), Handle(1)], lost: [Handle(7), Handle(1)], in: "g")
        // The record was lost, refilled and damaged again.
        #expect(log.add([Handle(1)], in: "g"))
    }

    @Test("A failed commit postpones the deadline, and another generation begins anew")
    func failing() throws {
        let log = DamageLog()
        #expect(log.add(some, in: "g"))
        let before = try #require(log.deadline)
        log.postpone()
        #expect(try #require(log.deadline) > before)
        #expect(log.add([Handle(9)], in: "h"))
        log.finish([Handle(9)], lost: [], in: "g")
        #expect(log.waiting(atMost: 9, in: "h") == [Handle(9)])
    }

    @Test("Only postponing moves the deadline, and not putting entries back")
    func once() throws {
        let rig = try CommitterRig(.forTests)
        let (generation, logs) = (try rig.holder.current(), rig.committer.logs)
        #expect(logs.damage.add(some, in: generation.name))
        let before = try #require(logs.deadline)
        let taken = logs.take(
            atMost: 9, cycles: 9, damaged: 9, in: generation, transaction: 1, scanHandle: 0)
        #expect(taken.damaged == some.sorted())
        logs.putBack(taken, in: generation)
        #expect(logs.deadline == before)
        logs.postpone()
        #expect(try #require(logs.deadline) > before)
    }

    @Test("Damage in an earlier generation sets no deadline")
    func leftBehind() {
        let log = DamageLog()
        #expect(log.add(some, in: "g"))
        #expect(log.waiting(atMost: 9, in: "h").isEmpty)
        #expect(log.deadline == nil)
    }

    @Test("A damage log keeps a bounded number of records")
    func bounded() {
        let log = DamageLog()
        #expect(log.add((1...10_000).map { Handle($0) }, in: "g"))
        #expect(log.waiting(atMost: .max, in: "g").count == DamageLog.limit)
    }
}
