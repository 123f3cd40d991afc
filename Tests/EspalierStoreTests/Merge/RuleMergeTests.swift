import EspalierModels
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Rules of merges in every form of a write")
struct RuleMergeTests {
    /// Two versions of one bulletin, of which the older arrives later.
    private static let newer = Bulletin(
        title: "new", updatedAt: 9, state: .null, tags: ["a"], page: [1, 2], likes: 3,
        next: [Hop("x")])
    private static let older = Bulletin(
        title: "old", updatedAt: 5, state: .value(1), tags: ["b", "a"], page: [2, 3], likes: 7,
        next: [Hop("y"), Hop("x")])
    private static let merged = Bulletin(
        title: "new", updatedAt: 9, state: .null, tags: ["a", "b"], page: [1, 2, 3], likes: 7,
        next: [Hop("x"), Hop("y")])

    enum Form: CaseIterable {
        case set, array, key, collection, append, transaction, ingest

        func write(_ bulletins: [Bulletin], to cache: NormalizedCache) async throws {
            switch self {
            case .set:
                for bulletin in bulletins {
                    try await cache.set(bulletin, policy: .merge).committed
                }
            case .array: try await cache.set(bulletins, policy: .merge).committed
            case .key:
                for bulletin in bulletins {
                    try await cache.setModel(bulletin, forKey: "k", policy: .merge).committed
                }
            case .collection:
                try await cache.setCollection(bulletins, forKey: "c", policy: .merge).committed
            case .append:
                try await cache.append(bulletins, toCollection: "c", policy: .merge).committed
            case .transaction:
                try await cache.transaction { transaction in
                    for bulletin in bulletins { try transaction.set(bulletin, policy: .merge) }
                }
            case .ingest:
                let models = try await cache.ingest(
                    JSONEncoder().encode(bulletins), as: [Bulletin].self)
                #expect(models.last == merged)
            }
        }
    }

    @Test(
        "The record follows the rules, once or twice, and after reopening", arguments: Form.allCases
    )
    func forms(_ form: Form) async throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try await form.write([Self.newer, Self.older], to: cache)
        #expect(await cache.read(Bulletin.self, "i") == Self.merged)
        try await form.write([Self.older], to: cache)
        #expect(await cache.read(Bulletin.self, "i") == Self.merged)
        try expectClean(cache)
        cache.close()
        let reopened = try scratch.open()
        #expect(await reopened.read(Bulletin.self, "i") == Self.merged)
        try await form.write([Self.older], to: reopened)
        #expect(await reopened.read(Bulletin.self, "i") == Self.merged)
        reopened.close()
    }

    @Test("A write that replaces stores what it is given")
    func replaces() throws {
        try withCache { cache in
            try cache.set(Self.newer, policy: .merge).wait()
            try cache.set(Self.older, policy: .replace).wait()
            #expect(cache.read(Bulletin.self, "i") == Self.older)
        }
    }

    @Test("A node that occurs thousands of times grows to what it has, and not to the sum")
    func manyOccurrences() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            // Two nodes in turns, so that neither stands at the end of the tree.
            let articles = (0..<2_000).map { number in
                var article = Article(id: "node:\(number % 2)")
                article.tags = ["tag \(number)"]
                return article
            }
            try cache.set(articles, policy: .merge).wait()
            for node in 0..<2 {
                let tags = cache.read(Article.self, "node:\(node)")?.tags
                #expect(tags == (0..<1_000).map { "tag \($0 * 2 + node)" })
            }
            try expectClean(cache)
        }
    }

    @Test("A merge that the rules leave without effect writes no record")
    func unchanged() throws {
        try withCache { cache in
            try cache.set([Self.newer, Self.older], policy: .merge).wait()
            let before = try cache.statistics().recordsWritten
            try cache.set(Self.older, policy: .merge).wait()
            #expect(try cache.statistics().recordsWritten == before)
        }
    }

    @Test("A rule that keeps an older child leaves a clean cache, whatever cycle that closes")
    func cycle() throws {
        try withCache { cache in
            try cache.set(Hop("a", next: [Hop("b")]), policy: .merge).wait()
            // "a" keeps its child "b", so that "b" and "a" refer to each other, and "c" to no one.
            let tree = Hop("b", next: [Hop("a", next: [Hop("c")])])
            try cache.set(tree, policy: .merge).wait()
            try expectClean(cache)
            #expect(cache.read(Hop.self, "a")?.next?.map(\.id) == ["b"])
            #expect(cache.read(Hop.self, "c") != nil)
            let twice = [Hop("d", next: [Hop("e")]), Hop("e", next: [Hop("d")])]
            try cache.set(twice + [Hop("d", next: [Hop("f")])], policy: .merge).wait()
            try expectClean(cache)
            #expect(cache.read(Hop.self, "d")?.next?.map(\.id) == ["e"])
        }
    }

    @Test("A deleted child leaves the array of a union, and comes back with the next merge")
    func deletedChild() throws {
        try withCache { cache in
            try cache.set(Self.newer, policy: .merge).wait()
            try cache.delete("x").wait()
            #expect(cache.read(Bulletin.self, "i")?.next == [])
            try cache.set(Self.newer, policy: .merge).wait()
            #expect(cache.read(Bulletin.self, "i")?.next == [Hop("x")])
        }
    }
}

// MARK: - Models

struct Bulletin: Codable, NormalizedModel, Equatable {
    static let mergeRules: MergeRules = [
        "title": .newest(by: "updatedAt"), "state": .newest(by: "updatedAt"), "tags": .union,
        "page": .append, "next": .union,
        "likes": .combined { (old: Int, new: Int) in max(old, new) },
    ]

    var title: String?
    var updatedAt: Int?
    var state: Field<Int>
    var tags: [String]?
    var page: [Int]?
    var likes: Int?
    var next: [Hop]?
    var modelIdentifier: String? { "i" }
}

/// A node that keeps its first neighbours.
struct Hop: Codable, NormalizedModel, Equatable {
    static let mergeRules: MergeRules = ["next": .keepFirst]

    let id: String
    var next: [Hop]?
    var modelIdentifier: String? { id }

    init(_ id: String, next: [Hop]? = nil) { (self.id, self.next) = (id, next) }
}
