import Feeds
import Testing

@testable import Comparison

@Suite("Simulated caches")
struct SimulationTests {
    @Test("An exact LRU evicts the entry that was not asked for for longest")
    func leastRecentlyUsed() {
        // 1 2 | 1 hits, 3 evicts 2, 1 hits, 2 misses and evicts 3, 3 misses
        #expect(ExactLRU(capacity: 2).hits(of: [1, 2, 1, 3, 1, 2, 3]).share == 2.0 / 7)
        #expect(ExactLRU(capacity: 1).hits(of: [1, 1, 1, 1]).share == 3.0 / 4)
        #expect(ExactLRU(capacity: 2).hits(of: [1, 2, 3, 1, 2, 3]).share == 0)
        #expect(ExactLRU(capacity: 2).hits(of: []).share == 0)
    }

    @Test("The offline optimum evicts the entry that is needed last")
    func offlineOptimum() {
        // 3 is needed last and is not kept; 1 and 2 hit.
        #expect(OfflineOptimum(capacity: 2).hits(of: [1, 2, 3, 1, 2, 3]).share == 2.0 / 6)
        #expect(OfflineOptimum(capacity: 2).hits(of: []).share == 0)
    }

    @Test("An exact LRU never has more hits than the offline optimum", arguments: 1...20)
    func bound(seed: UInt64) {
        var random = SplitMix64(state: seed)
        let table = ZipfTable(count: 50)
        let accesses = (0..<500).map { _ in table.draw(&random) }
        for capacity in [1, 5, 20, 50] {
            let optimum = OfflineOptimum(capacity: capacity).hits(of: accesses).share
            #expect(optimum >= ExactLRU(capacity: capacity).hits(of: accesses).share)
        }
        #expect(
            ExactLRU(capacity: 50).hits(of: accesses).share
                == OfflineOptimum(capacity: 50).hits(of: accesses).share,
            "with room for everything both hit the same")
    }
}
