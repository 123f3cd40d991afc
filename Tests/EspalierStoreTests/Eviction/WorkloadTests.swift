import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("Workloads of a full cache")
struct WorkloadTests {
    @Test(
        "A full cache of feeds stays within its budget, stores every write and answers every read",
        arguments: [1, 4],
        [Compression.none, .standard])
    func feeds(mebibytes: Int, compression: Compression) throws {
        try withCache(.forTests(budget: .mebibytes(mebibytes), compression: compression)) { cache in
            let watch = SizeWatch(cache.engine.directory.path)
            var random = SeededGenerator(seed: UInt64(mebibytes))
            let (people, recency) = (Zipf(count: 400), Zipf(count: 300))
            var (feeds, hits) = (0, 0)
            // Compressed records take some 20 bytes each. To evict twice the budget in bytes takes
            // ten times as long, and shows no more.
            while try cache.statistics().evictions.records < 2 * cache.budget.bytes / 200 {
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

    /// Fills a cache with trees of which hardly any is read again. Each is full of references back
    /// to its root, or else to one of its leaves.
    @Test("A full cache of stale cycles keeps what is read as well as one without cycles")
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

/// A feed as applications have them: new posts by people of whom some write most.
struct WorkloadFeed: NormalizedModel, Equatable {
    let id: Int
    let posts: [WorkloadPost]

    static func identifier(_ id: Int) -> String { "Feed:\(id)" }

    var modelIdentifier: String? { Self.identifier(id) }

    init(_ id: Int, posts count: Int, person: () -> Person) {
        self.id = id
        posts = (0..<count).map { WorkloadPost(id * count + $0, author: person(), fan: person()) }
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        posts = try decoder.decode(forKey: "posts")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(posts, forKey: "posts")
    }
}

struct WorkloadPost: NormalizedModel, Equatable {
    let id: Int
    let text: String
    let author: Person
    let comment: Message

    var modelIdentifier: String? { "Post:\(id)" }

    init(_ id: Int, author: Person, fan: Person) {
        self.id = id
        text = "post \(id) " + String(repeating: "says as much as posts do ", count: 36)
        self.author = author
        comment = Message("Comment:\(id)", from: fan)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        author = try decoder.decode(forKey: "author")
        comment = try decoder.decode(forKey: "comment")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(author, forKey: "author")
        try encoder.encode(comment, forKey: "comment")
    }
}

/// Draws ranks by Zipf's law: rank k with a probability proportional to 1 / k^0.99. Rank 0 is the
/// likeliest.
struct Zipf {
    private let sums: [Double]

    init(count: Int) {
        var sum = 0.0
        sums = (1...count).map { rank in
            sum += 1 / pow(Double(rank), 0.99)
            return sum
        }
    }

    func draw(_ random: inout SeededGenerator) -> Int {
        let target = Double.random(in: 0..<(sums.last ?? 1), using: &random)
        return sums.firstIndex { target < $0 } ?? 0
    }
}
