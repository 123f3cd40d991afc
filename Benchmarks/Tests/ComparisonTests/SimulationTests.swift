import Feeds
import Testing

@testable import Comparison

@Suite("What eviction is measured against")
struct SimulationTests {
    @Test("the least recently used goes")
    func leastRecentlyUsed() {
        // 1 2 | 1 hits, 3 evicts 2, 1 hits, 2 misses and evicts 3, 3 misses
        #expect(ExactLRU.hitRate(of: [1, 2, 1, 3, 1, 2, 3], capacity: 2) == 2.0 / 7)
        #expect(ExactLRU.hitRate(of: [1, 1, 1, 1], capacity: 1) == 3.0 / 4)
        #expect(ExactLRU.hitRate(of: [1, 2, 3, 1, 2, 3], capacity: 2) == 0)
        #expect(ExactLRU.hitRate(of: [], capacity: 2) == 0)
    }

    @Test("who knows the future lets go of what is needed last")
    func offlineOptimal() {
        // 3 is needed last and is not kept; 1 and 2 hit.
        #expect(OfflineOptimal.hitRate(of: [1, 2, 3, 1, 2, 3], capacity: 2) == 2.0 / 6)
        #expect(OfflineOptimal.hitRate(of: [], capacity: 2) == 0)
    }

    @Test("no rule is better than who knows the future", arguments: 1...20)
    func bound(seed: UInt64) {
        var random = SplitMix64(state: seed)
        let table = ZipfTable(count: 50)
        let accesses = (0..<500).map { _ in table.draw(&random) }
        for capacity in [1, 5, 20, 50] {
            let optimal = OfflineOptimal.hitRate(of: accesses, capacity: capacity)
            #expect(optimal >= ExactLRU.hitRate(of: accesses, capacity: capacity))
        }
        #expect(
            ExactLRU.hitRate(of: accesses, capacity: 50)
                == OfflineOptimal.hitRate(of: accesses, capacity: 50),
            "with room for all there is nothing to choose")
    }
}
