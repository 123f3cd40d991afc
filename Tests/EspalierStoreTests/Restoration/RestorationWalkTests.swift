import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Random caches are restored whole")
struct RestorationWalkTests {
    @Test(
        "Restoring a random cache in parts of any size and order gives the same cache",
        arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<4 {
            let walk = try OperationWalk(seed: seed * 100 + UInt64(round))
            let contents = try walk.contents(afterSteps: 800)
            try withCache { cache in
                let records =
                    round % 2 == 0 ? contents.records : contents.records.shuffled(using: &random)
                let size = Int.random(in: 1...max(2, records.count), using: &random)
                try cache.restore(records, inPartsOf: size)
                #expect(try CacheContents(of: cache).byName == contents.byName)
                try cache.restore(records.shuffled(using: &random), inPartsOf: records.count)
                #expect(try CacheContents(of: cache).byName == contents.byName)
            }
        }
    }
}

extension OperationWalk {
    /// Returns the records of a cache after `count` random operations.
    func contents(afterSteps steps: Int) throws -> CacheContents {
        var contents: CacheContents?
        try run(steps: steps) { contents = try CacheContents(of: $0) }
        guard let contents else { throw Missing() }
        return contents
    }
}
