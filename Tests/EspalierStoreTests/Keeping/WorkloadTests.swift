import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("A cache that is always full")
struct WorkloadTests {
    @Test(
        "of feeds stays within its budget, takes every write and answers every read",
        arguments: [1, 4],
        [Compression.none, .standard])
    func feeds(mebibytes: Int, compression: Compression) throws {
        try withCache(.forTests(budget: .mebibytes(mebibytes), compression: compression)) { cache in
            let watch = SizeWatch(cache.engine.directory.path)
            var random = SeededGenerator(seed: UInt64(mebibytes))
            let (people, recency) = (Zipf(count: 400), Zipf(count: 300))
            var (feeds, hits) = (0, 0)
            while try cache.statistics().evictions.bytes.bytes < 2 * cache.budget.bytes {
                for _ in 0..<20 {
                    let feed = WorkloadFeed(feeds, posts: 20) {
                        let number = people.draw(&random)
                        return Person(
                            "Person:\(number)", "Person number \(number), with a picture somewhere")
                    }
                    #expect(code(cache.set(feed)) == nil)
                    feeds += 1
                    for _ in 0..<3 {
                        let outcome = cache.readOutcome(
                            WorkloadFeed.self,
                            WorkloadFeed.identifier(feeds - 1 - recency.draw(&random)))
                        if outcome.value?.posts.count == 20 {
                            hits += 1
                        } else {
                            #expect(outcome.reason == .notFound)
                        }
                    }
                }
            }
            #expect(watch.stop() <= cache.budget)
            let statistics = try cache.statistics()
            #expect(statistics.droppedWrites == [:])
            #expect(statistics.hits == hits && hits > feeds)
            #expect(statistics.fill > 0.4)
            #expect(Set(statistics.misses.keys).isSubset(of: ["notFound"]))
        }
    }

    /// Trees of which hardly any is read again, each full of references back to its root, or else
    /// to a leaf of it.
    @Test("of stale cycles keeps what is read as well as one without any")
    func cycles() throws {
        let plain = try hitRate(backPointers: false)
        let cyclic = try hitRate(backPointers: true)
        #expect(plain.hits > 0.3 && plain.hits < 0.97)
        #expect(abs(plain.hits - cyclic.hits) <= 0.01, "\(plain) \(cyclic)")
        #expect(plain.groups == 0 && cyclic.groups > 300)
    }

    private func hitRate(backPointers: Bool) throws -> (hits: Double, groups: Int) {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            var random = SeededGenerator(seed: 7)
            let popularity = Zipf(count: 60)
            let text = String(repeating: "x", count: 300)
            func tree(_ name: String) -> Branch {
                let leaf = Branch("\(name)-leaf", text)
                let children = (0..<12).map {
                    Branch("\(name)-\($0)", text, [Branch(stub: backPointers ? name : leaf.id)])
                }
                return Branch(name, text, [leaf] + children)
            }
            var (hits, reads) = (0, 0)
            for number in 0..<600 {
                #expect(code(cache.set(tree("stale:\(number)"))) == nil)
                for _ in 0..<3 {
                    let name = "hot:\(popularity.draw(&random))"
                    reads += 1
                    if cache.read(Branch.self, name)?.children.count == 13 { hits += 1; continue }
                    #expect(code(cache.set(tree(name))) == nil)
                }
            }
            #expect(try cache.statistics().droppedWrites == [:])
            return (Double(hits) / Double(reads), try cache.statistics().evictions.groups)
        }
    }
}
