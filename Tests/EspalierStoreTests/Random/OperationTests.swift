import EspalierTestSupport
import Testing

@testable import EspalierStore

/// Compares the engine with a dictionary over 120,000 random operations, and shows that the
/// comparison would detect a difference.
@Suite("Random operations")
struct OperationTests {
    @Test(
        "Random operations on a cache give what the oracle gives",
        arguments: [101, 102, 103, 104] as [UInt64])
    func againstOracle(seed: UInt64) throws {
        let walk = try OperationWalk(seed: seed)
        try walk.run(steps: 30_000)
        #expect(walk.differences == [], "seed \(seed)")
        #expect(walk.counts.values.allSatisfy { $0 > 100 }, "\(walk.counts)")
        #expect(walk.hits > 2_000 && walk.misses.count >= 3, "\(walk.hits) hits, \(walk.misses)")
        #expect(walk.cuts > 50)
    }

    #if Encryption
    @Test("Random operations on an encrypted cache give what the oracle gives")
    func encrypted() throws {
        let walk = try OperationWalk(seed: 105, .encrypted())
        try walk.run(steps: 30_000)
        #expect(walk.differences == [])
        #expect(walk.hits > 2_000 && walk.misses.count >= 3, "\(walk.hits) hits, \(walk.misses)")
    }
    #endif

    @Test(
        "The comparison with the oracle detects an oracle that is wrong in one rule",
        arguments: OperationWalk.Flaw.allCases)
    func canary(flaw: OperationWalk.Flaw) throws {
        let walk = try OperationWalk(seed: 7, flaw: flaw)
        try walk.run(steps: 4_000)
        #expect(!walk.differences.isEmpty)
    }
}
