#if CommandLine
import EspalierFixtures
import Testing

@testable import EspalierBench

@Suite("Simulated caches")
struct SimulationTests {
    private func trace(_ accesses: [Int]) -> FeedTrace { FeedTrace(accesses: accesses) }

    @Test("An exact LRU evicts the entry that was not asked for for longest")
    func lru() {
        let trace = trace([1, 2, 3, 1, 4, 2, 1])
        #expect(
            ExactLRU(capacity: 3).hits(of: trace.accesses) == [
                false, false, false, true, false, false, true,
            ])
        #expect(
            ExactLRU(capacity: 1).hits(of: [1, 1, 2, 1]) == [false, true, false, false])
    }

    @Test("The offline optimum evicts the entry that is asked for last, or never admits it")
    func optimum() {
        #expect(
            OfflineOptimum(capacity: 2).hits(of: [1, 2, 3, 1, 2]) == [
                false, false, false, true, true,
            ])
        #expect(
            OfflineOptimum(capacity: 1).hits(of: [1, 2, 1, 2, 1]) == [
                false, false, true, false, true,
            ])
    }

    @Test("A simulated cache with room for everything hits all repeats, and one without room none")
    func capacities() {
        let trace = trace([1, 2, 1, 3, 2, 1])
        for hits in [
            ExactLRU(capacity: 3).hits(of: trace.accesses),
            OfflineOptimum(capacity: 3).hits(of: trace.accesses),
        ] {
            #expect(hits == [false, false, true, false, true, true])
            #expect(trace.hitRate(hits) == 1)
        }
        #expect(!ExactLRU(capacity: 0).hits(of: trace.accesses).contains(true))
        #expect(!OfflineOptimum(capacity: 0).hits(of: trace.accesses).contains(true))
    }

    /// The most hits that any choice of what to keep can have.
    private func mostHits(_ accesses: ArraySlice<Int>, _ cached: Set<Int>, capacity: Int) -> Int {
        guard let feed = accesses.first else { return 0 }
        let hit = cached.contains(feed) ? 1 : 0
        let all = cached.union([feed])
        let choices = all.count > capacity ? all.map { all.subtracting([$0]) } : [all]
        return hit
            + (choices.map { mostHits(accesses.dropFirst(), $0, capacity: capacity) }.max() ?? 0)
    }

    @Test("No choice of entries hits more often than the offline optimum")
    func exhaustive() {
        var random = SplitMix64(state: 5)
        for _ in 0..<200 {
            let accesses = (0..<9).map { _ in Int(random.next() % 5) }
            let capacity = 1 + Int(random.next() % 3)
            let optimum = OfflineOptimum(capacity: capacity).hits(of: accesses).count(
                where: \.self)
            #expect(
                optimum == mostHits(accesses[...], [], capacity: capacity),
                "\(accesses), \(capacity)")
            #expect(
                ExactLRU(capacity: capacity).hits(of: accesses).count(where: \.self)
                    <= optimum)
        }
    }

    @Test("An exact LRU agrees with the plain rule on long traces")
    func plainRule() {
        var random = SplitMix64(state: 6)
        let accesses = (0..<3_000).map { _ in Int(random.next() % 40) }
        var order: [Int] = []
        let expected = accesses.map { feed in
            let isHit = order.contains(feed)
            order.removeAll { $0 == feed }
            order.append(feed)
            if order.count > 13 { order.removeFirst() }
            return isHit
        }
        #expect(ExactLRU(capacity: 13).hits(of: accesses) == expected)
    }

    @Test("The hit rate counts repeated accesses, from the first access that counts")
    func rate() {
        var trace = trace([1, 2, 1, 3, 2, 1])
        let hits = [false, false, true, false, false, true]
        #expect(trace.hitRate(hits) == 2 / 3.0)
        trace.firstCounted = 4
        #expect(trace.hitRate(hits) == 0.5)
        #expect(FeedTrace().hitRate([]) == 0)
    }
}
#endif
