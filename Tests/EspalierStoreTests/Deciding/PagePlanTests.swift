import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("How pages are shared out")
struct PagePlanTests {
    /// From the smallest budget to the largest: every one up to 4,096 pages, then ever fewer.
    private static var capacities: [Int] {
        var capacities = Array(250...4_096)
        while let last = capacities.last, last < 16_777_215 {
            capacities.append(min(last + last / 512, 16_777_215))
        }
        return capacities
    }

    private static func capacity(mebibytes: Int) -> Int {
        // LMDB never uses the last page.
        Generation.mapSize(for: .mebibytes(mebibytes)) / 4_096 - 1
    }

    @Test("eviction begins above where it ends, and that leaves more than the reserve")
    func order() {
        for capacity in Self.capacities {
            let plan = PagePlan(capacity: capacity)
            let isInOrder =
                0 < plan.low && plan.low < plan.high && plan.high + plan.reserve < capacity
            #expect(isInOrder, "\(capacity) pages")
            if !isInOrder { return }
        }
    }

    @Test("a commit's free pages fit one page of LMDB's list, and the reserve an eviction's paths")
    func limits() {
        for capacity in Self.capacities {
            let plan = PagePlan(capacity: capacity)
            guard (24...400).contains(plan.evictionLimit), (24...96).contains(plan.reserve),
                (16 << 10...1 << 20).contains(plan.groupBytes)
            else {
                Issue.record("\(capacity) pages: \(plan)")
                return
            }
        }
    }

    @Test("more pages are never used less")
    func growth() {
        var before = PagePlan(capacity: 249)
        for capacity in 250...70_000 {
            let plan = PagePlan(capacity: capacity)
            guard plan.high >= before.high, plan.reserve >= before.reserve,
                plan.groupBytes >= before.groupBytes
            else {
                Issue.record("\(before), \(plan)")
                return
            }
            before = plan
        }
    }

    @Test(
        "caches can be filled as far as is said", arguments: [(1, 50), (4, 64), (16, 86), (64, 92)])
    func shares(mebibytes: Int, percent: Int) {
        let plan = PagePlan(capacity: Self.capacity(mebibytes: mebibytes))
        #expect(plan.high * 100 / plan.capacity == percent)
    }

    @Test(
        "and are kept full",
        arguments: [(1, 0.49), (4, 0.55), (16, 0.78), (64, 0.88), (1_024, 0.95)])
    func kept(mebibytes: Int, share: Double) {
        let plan = PagePlan(capacity: Self.capacity(mebibytes: mebibytes))
        #expect(Double(plan.low) >= share * Double(plan.capacity))
    }
}
