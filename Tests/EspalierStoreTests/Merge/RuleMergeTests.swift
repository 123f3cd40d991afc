import EspalierModels
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Rules of merges in every form of a write")
struct RuleMergeTests {
    /// Two versions of one issue, of which the older arrives later.
    private static let newer = Issue(
        title: "new", updatedAt: 9, state: .null, tags: ["a"], page: [1, 2], likes: 3,
        next: [Link("x")])
    private static let older = Issue(
        title: "old", updatedAt: 5, state: .value(1), tags: ["b", "a"], page: [2, 3], likes: 7,
        next: [Link("y"), Link("x")])
    private static let merged = Issue(
        title: "new", updatedAt: 9, state: .null, tags: ["a", "b"], page: [1, 2, 3], likes: 7,
        next: [Link("x"), Link("y")])

    enum Form: CaseIterable {
        case set, array, key, collection, append, transaction, ingest

        func write(_ issues: [Issue], to cache: NormalizedCache) async throws {
            switch self {
            case .set: for issue in issues { try await cache.set(issue, policy: .merge).committed }
            case .array: try await cache.set(issues, policy: .merge).committed
            case .key:
                for issue in issues {
                    try await cache.setModel(issue, forKey: "k", policy: .merge).committed
                }
            case .collection:
                try await cache.setCollection(issues, forKey: "c", policy: .merge).committed
            case .append:
                try await cache.append(issues, toCollection: "c", policy: .merge).committed
            case .transaction:
                try await cache.transaction { transaction in
                    for issue in issues { try transaction.set(issue, policy: .merge) }
                }
            case .ingest:
                let models = try await cache.ingest(
                    JSONEncoder().encode(issues), as: [Issue].self)
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
        #expect(await cache.read(Issue.self, "i") == Self.merged)
        try await form.write([Self.older], to: cache)
        #expect(await cache.read(Issue.self, "i") == Self.merged)
        try expectClean(cache)
        cache.close()
        let reopened = try scratch.open()
        #expect(await reopened.read(Issue.self, "i") == Self.merged)
        try await form.write([Self.older], to: reopened)
        #expect(await reopened.read(Issue.self, "i") == Self.merged)
        reopened.close()
    }

    @Test("A write that replaces stores what it is given")
    func replaces() throws {
        try withCache { cache in
            try cache.set(Self.newer, policy: .merge).wait()
            try cache.set(Self.older, policy: .replace).wait()
            #expect(cache.read(Issue.self, "i") == Self.older)
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
            try cache.set(Link("a", next: [Link("b")]), policy: .merge).wait()
            // "a" keeps its child "b", so that "b" and "a" refer to each other, and "c" to no one.
            let tree = Link("b", next: [Link("a", next: [Link("c")])])
            try cache.set(tree, policy: .merge).wait()
            try expectClean(cache)
            #expect(cache.read(Link.self, "a")?.next?.map(\.id) == ["b"])
            #expect(cache.read(Link.self, "c") != nil)
            let twice = [Link("d", next: [Link("e")]), Link("e", next: [Link("d")])]
            try cache.set(twice + [Link("d", next: [Link("f")])], policy: .merge).wait()
            try expectClean(cache)
            #expect(cache.read(Link.self, "d")?.next?.map(\.id) == ["e"])
        }
    }

    @Test("A deleted child leaves the array of a union, and comes back with the next merge")
    func deletedChild() throws {
        try withCache { cache in
            try cache.set(Self.newer, policy: .merge).wait()
            try cache.delete("x").wait()
            #expect(cache.read(Issue.self, "i")?.next == [])
            try cache.set(Self.newer, policy: .merge).wait()
            #expect(cache.read(Issue.self, "i")?.next == [Link("x")])
        }
    }
}

// MARK: - Models

struct Issue: Codable, NormalizedModel, Equatable {
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
    var next: [Link]?
    var modelIdentifier: String? { "i" }
}

/// A node that keeps its first neighbours.
struct Link: Codable, NormalizedModel, Equatable {
    static let mergeRules: MergeRules = ["next": .keepFirst]

    let id: String
    var next: [Link]?
    var modelIdentifier: String? { id }

    init(_ id: String, next: [Link]? = nil) { (self.id, self.next) = (id, next) }
}
