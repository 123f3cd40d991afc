import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Cycles of more records than a search looks at")
struct UnsearchableCycleTests {
    private static let budget = ByteCount.mebibytes(8)

    /// Makes a cycle of 34,201 records, more than `EvictionPolicy` searches, and another record
    /// below it.
    private func makeLargeCycle(_ rig: CommitterRig) throws {
        try rig.set(Branch("top", ""))
        for mid in 0..<200 {
            let leaves = (0..<170).map { Branch("\(mid)-\($0)", "", [Branch(stub: "top")]) }
            try rig.set(Branch("mid:\(mid)", "", leaves))
        }
        let mids = (0..<200).map { Branch(stub: "mid:\($0)") }
        try rig.set(Branch("top", "", mids + [Branch("below", "")]))
    }

    /// Writes so many bytes of other records.
    private func fill(_ rig: CommitterRig, bytes: Int, _ afterEach: () throws -> Void = {}) throws {
        let text = String(repeating: "x", count: 20_000)
        for number in 0..<bytes / 20_000 {
            // A slice of the scan may hold pages for longer than a write waits.
            var attempts = 0
            while code({ try rig.set(Branch("x:\(number)", text)) }) == .pagesHeld, attempts < 400 {
                attempts += 1
                Thread.sleep(forTimeInterval: 0.05)
            }
            try afterEach()
        }
    }

    private static let members = ["top", "mid:7", "3-3", "199-169"]

    private func expectGone(
        _ names: [String] = members + ["below"], from rig: CommitterRig, in generation: Generation
    ) throws {
        for name in names {
            #expect(try rig.handle(name) == nil, "\(name) is still there")
        }
        #expect(try rig.holder.current() === generation)
        #expect(try rig.verify().isClean)
    }

    @Test("A large cycle that nothing refers to is evicted when it was not accessed for long")
    func inTurn() throws {
        let rig = try CommitterRig(.forTests(budget: Self.budget))
        try makeLargeCycle(rig)
        let generation = try rig.holder.current()
        // The writer is idle between the writes.
        try fill(rig, bytes: 3 * Self.budget.bytes) {
            while rig.committer.maintain(isIdle: true) {}
        }
        try expectGone(from: rig, in: generation)
        #expect(try rig.read(.node, "x:1200", touching: false))
    }

    /// The records of the cycle that are there.
    private func names(in rig: CommitterRig) throws -> [String] {
        let leaves = (0..<200).flatMap { mid in (0..<170).map { "\(mid)-\($0)" } }
        let mids = (0..<200).map { "mid:\($0)" }
        return try (["top"] + mids + leaves).filter { try rig.handle($0) != nil }
    }

    @Test("The records of a large cycle that are accessed stay, and the others go")
    func accessed() throws {
        let rig = try CommitterRig(.forTests(budget: Self.budget))
        try makeLargeCycle(rig)
        let generation = try rig.holder.current()
        // Its scan would hold pages while the cache is trimmed.
        rig.committer.logs.cycleCollector.close()
        try fill(rig, bytes: 2 * Self.budget.bytes) {
            let handle = try #require(try rig.handle("mid:7"))
            _ = rig.committer.logs.accesses.touch(handle, in: generation.lineageName)
        }
        let leaves = (0..<170).map { "7-\($0)" }
        #expect(try Set(names(in: rig)) == Set(["top", "mid:7"] + leaves))
        #expect(try rig.holder.current() === generation)
        #expect(try rig.verify().isClean)
    }

    @Test("A large cycle stays as long as a pin outside keeps it")
    func referred() throws {
        let rig = try CommitterRig(.forTests(budget: Self.budget))
        try makeLargeCycle(rig)
        try rig.set(Branch("root", "", [Branch(stub: "3-3")]))
        try rig.commit(.pin(.init(.node, "root")))
        let generation = try rig.holder.current()
        rig.committer.logs.cycleCollector.close()
        try fill(rig, bytes: 2 * Self.budget.bytes)
        for name in ["root", "top", "199-169"] { #expect(try rig.handle(name) != nil) }
        try rig.commit(.unpin(.init(.node, "root")))
        try rig.commit(.trim(to: .kibibytes(128)))
        #expect(try names(in: rig).count < 1_000)
        #expect(try rig.holder.current() === generation)
        #expect(try rig.verify().isClean)
    }

    @Test("The eviction of a large cycle goes on after reopening")
    func reopened() throws {
        let rig = try CommitterRig(.forTests(budget: Self.budget))
        try makeLargeCycle(rig)
        var commits = 0
        for _ in 0..<1_000 {
            guard try rig.handle("top") != nil else { break }
            // Some of the names go with each.
            let generation = try rig.holder.current()
            try rig.committer.commitOnce(
                .init(
                    operations: [], goal: .pages(0, .budget), evictionSteps: 400,
                    relistsBlocked: true), in: generation)
            commits += 1
            if commits == 3 { try rig.reopen() }
        }
        #expect(commits > 3)
        try expectGone(Self.members, from: rig, in: try rig.holder.current())
    }

    @Test("A trim ends although others store as much as it evicts")
    func trimLimit() throws {
        var limit = TrimLimit(excess: 3)
        let allowed = limit.transactions
        let moving = EvictionProgress(steps: 1, removals: 1)
        var count = 1
        while limit.allowsMore(after: moving) { count += 1 }
        #expect(count == allowed)
        // Records are moved to a later time again and again, and nothing is removed.
        limit = TrimLimit(excess: 1 << 20)
        count = 1
        while limit.allowsMore(after: EvictionProgress(steps: 1)) { count += 1 }
        #expect(count == 64)
        limit = TrimLimit(excess: 3)
        let mayContinue = limit.allowsMore(after: EvictionProgress())
        #expect(!mayContinue)
    }

    @Test("A trim in a cache that is refilled as fast ends", .timeLimit(.minutes(2)))
    func refilled() throws {
        let rig = try CommitterRig(.forTests(budget: .mebibytes(1)))
        let text = String(repeating: "x", count: 7_000)
        for number in 0..<40 { try rig.set(Branch("b:\(number)", text)) }
        let used = try rig.holder.current().environment.read { try $0.pages().used }
        var number = 0
        var isRefilling = false
        rig.onCommit = { [unowned rig] changes in
            guard !isRefilling, !changes.victims.isEmpty else { return }
            isRefilling = true
            for _ in 0..<3 {
                number += 1
                try? rig.set(Branch("c:\(number)", text))
            }
            isRefilling = false
        }
        try rig.commit(.trim(to: ByteCount((used - 5) * 4_096 + Generation.sideFiles)))
        rig.onCommit = nil
        #expect(number > 0)
        #expect(try rig.verify().isClean)
    }
}
