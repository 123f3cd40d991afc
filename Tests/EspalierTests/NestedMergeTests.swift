import Espalier
import Foundation
import Testing

/// A writer that lists send in parts, and that posts contain.
struct Writer: Codable, NormalizedModel, Model, Equatable {
    static var writePolicy: WritePolicy { .merge }

    var id: Int
    var name: String?
    var city: String?

    var modelIdentifier: String? { "Writer:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// A post, which is replaced, with a writer, which is merged.
struct Post: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var text: String?
    var author: Writer?

    var modelIdentifier: String? { "Post:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? {
        Post(id: id, text: text, author: author.flatMap { transform($0) as? Writer })
    }
    func forEach(_ visit: (any Model) -> Void) { if let author { visit(author) } }
}

/// A page of posts, which has no identifier and is stored under a key.
struct Page: Codable, NormalizedModel, Model, Equatable {
    var posts: [Post]

    var modelIdentifier: String? { nil }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? {
        Page(posts: posts.compactMap { transform($0) as? Post })
    }
    func forEach(_ visit: (any Model) -> Void) { posts.forEach(visit) }
}

/// No other screen ever shows less of a node that merges than the cache has.
@MainActor @Suite("Screens of models with nodes that merge")
final class NestedMergeTests {
    private let cache: NormalizedCache
    private let manager: DataModelManager
    private let whole = Writer(id: 1, name: "Ada", city: "Rome")
    private let partial = Writer(id: 1, name: "Ann")
    private let merged = Writer(id: 1, name: "Ann", city: "Rome")

    init() throws {
        cache = try NormalizedCache(inMemory: Configuration())
        manager = DataModelManager(cache: cache)
    }

    deinit { cache.close() }

    /// Returns what a screen of the writer shows while `body` runs, until it shows the merged one.
    private func shown(_ body: () async throws -> Void) async throws -> [Writer?] {
        try await cache.set(Post(id: 1, text: "long", author: whole)).committed
        let screen = DataProvider<Writer>(dataModelManager: manager)
        _ = try await screen.fetch("Writer:1")
        var values = screen.values.makeAsyncIterator()
        try await body()
        await manager.flush()
        var shown: [Writer?] = []
        while let value = await values.next() {
            shown.append(value)
            if value == merged { break }
        }
        #expect(await cache.read(Writer.self, "Writer:1") == merged)
        return shown
    }

    private func expectNeverLess(
        _ shown: [Writer?], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(shown == [whole, merged] || shown == [merged], sourceLocation: sourceLocation)
    }

    @Test("A model that a provider sets")
    func set() async throws {
        let post = DataProvider<Post>(dataModelManager: manager)
        expectNeverLess(
            try await shown { post.setData(Post(id: 1, author: partial)) })
        #expect(post.data == Post(id: 1, author: merged))
        #expect(await cache.read(Post.self, "Post:1") == Post(id: 1, author: merged))
    }

    @Test("A model that a provider sets over the one that it shows")
    func setAgain() async throws {
        let post = DataProvider<Post>(dataModelManager: manager)
        expectNeverLess(
            try await shown {
                _ = try await post.fetch("Post:1")
                post.setData(Post(id: 1, author: partial))
            })
        #expect(post.data == Post(id: 1, author: merged))
    }

    @Test("A change of what a provider shows is shown at once, so that the next can be based on it")
    func changes() async throws {
        try await cache.set(Post(id: 1, text: "long", author: whole)).committed
        let post = DataProvider<Post>(dataModelManager: manager)
        _ = try await post.fetch("Post:1")
        let partial = partial
        func change(_ body: (inout Post) -> Void) throws {
            var new = try #require(post.data)
            body(&new)
            post.setData(new)
        }
        try change { $0.text = "new" }
        try change { $0.author = partial }
        #expect(post.data?.text == "new")
        await manager.flush()
        #expect(await cache.read(Post.self, "Post:1") == Post(id: 1, text: "new", author: merged))
    }

    @Test("Models that a manager updates, those that merge and others")
    func update() async throws {
        expectNeverLess(
            try await shown {
                manager.updateModels([Post(id: 1, author: partial), Pin(id: 1, image: "a")])
            })
        #expect(await cache.read(Post.self, "Post:1") == Post(id: 1, author: merged))
        #expect(await cache.read(Pin.self, "Pin:1") == Pin(id: 1, image: "a"))
        manager.updateModel(Post(id: 1, text: "new", author: partial))
        await manager.flush()
        #expect(await cache.read(Post.self, "Post:1") == Post(id: 1, text: "new", author: merged))
    }

    @Test("Elements that a collection gets in one step or in several")
    func collection() async throws {
        let posts = CollectionDataProvider<Post>(dataModelManager: manager)
        expectNeverLess(
            try await shown {
                posts.setData([Post(id: 1, author: partial)], cacheKey: "posts")
                posts.append([Post(id: 2, text: "2", author: Writer(id: 1))])
                posts.update(Post(id: 2, author: Writer(id: 1)), at: 1)
                posts.insert([Post(id: 3, author: Writer(id: 1))], at: 0)
            })
        let stored = [
            Post(id: 3, author: merged), Post(id: 1, author: merged), Post(id: 2, author: merged),
        ]
        #expect(await cache.collection(of: Post.self, forKey: "posts") == stored)
        for await value in posts.values where value == stored { break }
    }

    @Test("An answer of the network")
    func answer() async throws {
        let post = DataProvider<Post>(dataModelManager: manager)
        let partial = partial
        expectNeverLess(
            try await shown {
                _ = try await post.fetch("Post:1", policy: .networkThenCache) {
                    Post(id: 1, author: partial)
                }
            })
        #expect(await cache.read(Post.self, "Post:1") == Post(id: 1, author: merged))
    }

    @Test("An answer of the network that has no identifier")
    func answerUnderKey() async throws {
        let page = DataProvider<Page>(dataModelManager: manager)
        let partial = partial
        expectNeverLess(
            try await shown {
                _ = try await page.fetch("first page", policy: .networkThenCache) {
                    Page(posts: [Post(id: 1, author: partial)])
                }
            })
        let stored = await cache.modelOutcome(Page.self, forKey: "first page").value
        #expect(stored == Page(posts: [Post(id: 1, author: merged)]))
    }

    @Test("A provider shows each answer that has no identifier, whatever it showed before")
    func answersUnderKeys() async throws {
        let page = DataProvider<Page>(dataModelManager: manager)
        func answer(_ key: String, _ policy: FetchPolicy, _ id: Int) async throws {
            let answer = Page(posts: [Post(id: id, author: whole)])
            #expect(try await page.fetch(key, policy: policy) { answer } == answer)
            #expect(page.data == answer)
        }
        try await answer("first page", .networkThenCache, 1)
        try await answer("first page", .networkThenCache, 2)
        try await answer("second page", .networkThenCache, 3)
        await manager.flush()
        let again = Page(posts: [Post(id: 4, author: whole)])
        var values = page.values.makeAsyncIterator()
        _ = try await page.fetch("second page", policy: .cacheAndNetwork) { again }
        while let value = await values.next(), value != again {}
        #expect(page.data == again)
    }

    @Test("A flush of the manager ends while others commit without end", .timeLimit(.minutes(1)))
    func flushWhileOthersCommit() async throws {
        try await cache.set(whole).committed
        let screen = DataProvider<Writer>(dataModelManager: manager)
        _ = try await screen.fetch("Writer:1")
        let others = Task.detached { [cache] in
            var round = 0
            while !Task.isCancelled {
                round += 1
                try await cache.set(Writer(id: 1, name: "name \(round)")).committed
            }
        }
        for _ in 0..<5 { await manager.flush() }
        others.cancel()
        _ = await others.result
    }

    @Test("A flush of the manager waits for what others have committed before")
    func flush() async throws {
        try await cache.set(whole).committed
        let screen = DataProvider<Writer>(dataModelManager: manager)
        _ = try await screen.fetch("Writer:1")
        for round in 0..<300 {
            let name = "name \(round)"
            try await cache.set(Writer(id: 1, name: name)).committed
            await manager.flush()
            #expect(screen.data?.name == name)
        }
    }

    @Test("A policy of the call or of the manager applies to every node")
    func given() async throws {
        try await cache.set(Post(id: 1, text: "long", author: whole)).committed
        let post = DataProvider<Post>(dataModelManager: manager)
        post.setData(Post(id: 1, author: partial), policy: .replace)
        await manager.flush()
        #expect(await cache.read(Writer.self, "Writer:1") == partial)
        try await cache.set(whole, policy: .replace).committed
        let replacing = DataModelManager(cache: cache, writePolicy: .replace)
        replacing.updateModel(Post(id: 1, author: partial))
        await replacing.flush()
        #expect(await cache.read(Writer.self, "Writer:1") == partial)
        let merging = DataModelManager(cache: cache, writePolicy: .merge)
        merging.updateModel(Post(id: 1, text: "old"))
        merging.updateModel(Post(id: 1))
        await merging.flush()
        #expect(await cache.read(Post.self, "Post:1")?.text == "old")
    }
}
