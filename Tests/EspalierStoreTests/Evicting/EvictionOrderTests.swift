import Testing

@Suite("Eviction takes what was accessed longest ago, and never breaks a tree")
struct EvictionOrderTests {
    @Test(
        "as if every access had touched every record it reached",
        arguments: 1...8 as ClosedRange<UInt64>)
    func order(seed: UInt64) throws {
        let walk = try EvictionWalk(seed: seed)
        try walk.run(steps: 12_500)
        #expect(walk.oracle.differences == [])
        #expect(walk.oracle.evicted > 10_000)
        #expect(walk.oracle.evictedCycles > 100)
        #expect(walk.hits > 500)
        #expect(walk.budgetChanges > 10)
    }

    @Test("so that a wrong rule is found out", arguments: EagerOracle.Flaw.allCases)
    func canary(flaw: EagerOracle.Flaw) throws {
        let walk = try EvictionWalk(seed: 1, flaw: flaw)
        try walk.run(steps: 12_500)
        #expect(walk.oracle.differences != [])
    }
}
