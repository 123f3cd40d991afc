import Espalier
import EspalierTestSupport
import Foundation
import Testing

/// A post as lists show it. `version` tells one write from another.
struct Article: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var version: Int
    var author: Author?
    var likes: [Author] = []

    var modelIdentifier: String? { "Article:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Self? {
        Article(
            id: id, version: version, author: author.flatMap { transform($0) as? Author },
            likes: likes.compactMap { transform($0) as? Author })
    }

    func forEach(_ visit: (any Model) -> Void) {
        if let author { visit(author) }
        likes.forEach(visit)
    }
}

struct Author: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var version: Int
    var modelIdentifier: String? { "Author:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// What another screen shows of an article.
struct Headline: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var version: Int
    var modelIdentifier: String? { "Article:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// A provider that shows no updates while it is told to refuse them.
final class StubbornProvider: DataProvider<Article> {
    var refuses = false

    override func modelUpdated(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {
        if !refuses { super.modelUpdated(model, updates: updates, context: context) }
    }
}

/// Whatever writes, in whichever order: when all writes have ended, each screen shows what the
/// cache has. No write undoes a later one.
@MainActor @Suite("Screens and cache end with the same models", .timeLimit(.minutes(10)))
final class ConvergenceTests {
    private let directory = NSTemporaryDirectory() + "espalier-convergence-" + UUID().uuidString
    private let cache: NormalizedCache
    private let manager: DataModelManager
    private let old = Author(id: 8, version: 1)
    private let new = Author(id: 8, version: 2)

    init() throws {
        cache = try NormalizedCache(directory: directory)
        manager = DataModelManager(cache: cache)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func until(_ condition: () -> Bool) async {
        for _ in 0..<5_000 where !condition() { try? await Task.sleep(for: .milliseconds(1)) }
        #expect(condition())
    }

    // MARK: Lists

    /// Shows a list of three posts, the first with an author, and the author.
    private func screens() async -> (CollectionDataProvider<Article>, DataProvider<Author>) {
        let list = CollectionDataProvider<Article>(dataModelManager: manager)
        let author = DataProvider<Author>(dataModelManager: manager)
        list.setData(
            [
                Article(id: 1, version: 1, author: old), Article(id: 2, version: 1),
                Article(id: 3, version: 1),
            ], cacheKey: "posts")
        author.setData(old)
        await manager.flush()
        return (list, author)
    }

    /// What is done to a list in the same turn of the main actor as an update, and before the list
    /// has the update.
    enum Step: String, CaseIterable {
        case move, remove, removeIt, append, updateOther, setWithoutIt

        @MainActor
        func apply(to list: CollectionDataProvider<Article>) {
            switch self {
            case .move: list.move(from: 0, to: 2)
            case .remove: list.remove(at: 1)
            case .removeIt: list.remove(at: list.firstIndex { $0.id == 1 } ?? 0)
            case .append: list.append([Article(id: 4, version: 1)])
            case .updateOther: list.update(Article(id: 3, version: 2), at: 2)
            case .setWithoutIt: list.setData([Article(id: 2, version: 1)], cacheKey: "posts")
            }
        }
    }

    @Test(
        "Edits of a list that has not seen an update do not undo it in the cache",
        arguments: [
            [Step.move], [.remove], [.append], [.updateOther], [.move, .removeIt],
            [.move, .setWithoutIt], [.move, .move, .append],
        ], ["in step", "evicted", "changed by others", "behind"])
    func updateThenEdit(steps: [Step], state: String) async throws {
        let (list, author) = await screens()
        switch state {
        case "evicted": try await cache.evictCollection(forKey: "posts").committed
        case "changed by others":
            cache.append([Article(id: 9, version: 1)], toCollection: "posts")
        case "behind":
            list.insert([Article(id: 7, version: 1)], at: 3, shouldCache: false)
            await manager.flush()
        default: break
        }
        manager.updateModel(new)
        for step in steps { step.apply(to: list) }
        await manager.flush()
        #expect(await cache.read(Author.self, "Author:8") == new)
        #expect(author.data == new)
        #expect(list.data.allSatisfy { $0.author == nil || $0.author == new })
        let stored = await cache.collection(of: Article.self, forKey: "posts")
        #expect(stored == list.data)
        #expect(try cache.verify().problems.isEmpty)
    }

    @Test("Lists of two types under one key have the same elements")
    func twoTypes() async {
        let (list, _) = await screens()
        let headlines = CollectionDataProvider<Headline>(dataModelManager: manager)
        await withCheckedContinuation { continuation in
            headlines.fetchDataFromCache(withCacheKey: "posts") { _, _ in continuation.resume() }
        }
        #expect(headlines.data.map(\.id) == [1, 2, 3])
        list.append([Article(id: 4, version: 1)])
        await manager.flush()
        await until { headlines.data.map(\.id) == [1, 2, 3, 4] }
        headlines.remove(at: 0)
        await manager.flush()
        await until { list.data.map(\.id) == [2, 3, 4] }
        let stored = await cache.collection(of: Article.self, forKey: "posts")
        #expect(stored?.map(\.id) == [2, 3, 4])
    }

    @Test("A provider that refuses an update gets the later ones of what it shows")
    func refused() async {
        let other = Author(id: 9, version: 1)
        let provider = StubbornProvider(dataModelManager: manager)
        provider.setData(Article(id: 1, version: 1, author: old))
        await manager.flush()
        provider.refuses = true
        manager.updateModel(Article(id: 1, version: 2, author: other))
        await manager.flush()
        provider.refuses = false
        #expect(provider.data?.author == old)
        manager.updateModel(new)
        await manager.flush()
        #expect(provider.data?.author == new)
    }

    @Test("A move does not undo what others have just written", arguments: [Step.move, .remove])
    func writeThenMove(step: Step) async throws {
        let (list, author) = await screens()
        try await cache.set(new).committed
        step.apply(to: list)
        await manager.flush()
        #expect(await cache.read(Author.self, "Author:8") == new)
        #expect(author.data == new && list.data.contains { $0.author == new })
    }

    @Test("The fields of other types stay when a list is sent again")
    func otherFields() async throws {
        try await cache.set(Pin(id: 1, image: "a", board: "garden")).committed
        let list = CollectionDataProvider<PinImage>(dataModelManager: manager)
        list.setData([PinImage(id: 1, image: "a")], cacheKey: "pins", policy: .merge)
        await manager.flush()
        cache.append([Pin(id: 2, image: "b")], toCollection: "pins")
        list.append([PinImage(id: 3, image: "c")])
        await manager.flush()
        #expect(list.data.map(\.id) == [1, 3])
        #expect(
            await cache.read(Pin.self, "Pin:1") == Pin(id: 1, image: "a", board: "garden"))
    }

    @Test("The models of an edit are stored even if the edit is out of date, and at its time")
    func outOfDate() async throws {
        let (list, author) = await screens()
        try await cache.deleteCollection(forKey: "posts").committed
        list.append([Article(id: 4, version: 1, author: new)])
        manager.updateModel(Author(id: 8, version: 3))
        await manager.flush()
        #expect(await cache.read(Author.self, "Author:8")?.version == 3)
        #expect(author.data?.version == 3)
        #expect(await cache.read(Article.self, "Article:4") == list.data.last)
    }

    // MARK: Deletions

    @Test("A list that is sent again does not bring back what others have deleted")
    func sentAgain() async throws {
        let list = CollectionDataProvider<Article>(dataModelManager: manager)
        for round in 0..<10 {
            list.setData(
                (1...3).map { Article(id: 10 * round + $0, version: 1) }, cacheKey: "posts")
            await manager.flush()
            // The edit is made before the list has heard of the deletion.
            let ticket = cache.delete("Article:\(10 * round + 2)")
            list.append([Article(id: 10 * round + 4, version: 1)])
            try await ticket.committed
            await manager.flush()
            let ids = [1, 3, 4].map { 10 * round + $0 }
            #expect(await cache.read(Article.self, "Article:\(10 * round + 2)") == nil)
            #expect(
                await cache.collection(of: Article.self, forKey: "posts")?.map(\.id) == ids)
            await until { list.data.map(\.id) == ids }
        }
    }

    /// Stores a list as a manager sends it again.
    private func sendAgain(_ models: [any SimpleModel]) async throws {
        let options = CacheWriteOptions(keepsModels: true)
        let error = await withCheckedContinuation { continuation in
            cache.setCollection(models, forKey: "list", options: options) {
                continuation.resume(returning: $0)
            }
        }
        if let error { throw error }
    }

    @Test("A list that is sent again lacks deleted models, and has those that were evicted")
    func sentAgainAfterDeletion() async throws {
        let articles = (1...3).map { Article(id: $0, version: 1) }
        cache.setCollection(articles, forKey: "list")
        try await cache.delete("Article:2").committed
        try await sendAgain(articles)
        #expect(await cache.collection(of: Article.self, forKey: "list")?.map(\.id) == [1, 3])
        #expect(await cache.read(Article.self, "Article:2") == nil)
        // A model whose required part was deleted is as good as deleted.
        let staff = (1...2).map { Staff(id: $0, name: "Ada", firm: Firm(id: $0)) }
        cache.setCollection(staff, forKey: "list")
        try await cache.delete("Firm:1").committed
        try await sendAgain(staff)
        #expect(await cache.collection(of: Staff.self, forKey: "list")?.map(\.id) == [2])
        #expect(await cache.read(Firm.self, "Firm:1") == nil)
        // What was evicted with its list is stored anew.
        cache.setCollection(articles, forKey: "list")
        try await cache.evictCollection(forKey: "list").committed
        try await cache.evict("Article:2").committed
        try await sendAgain(articles)
        #expect(await cache.collection(of: Article.self, forKey: "list") == articles)
        #expect(try cache.verify().problems.isEmpty)
    }

    /// How a node is deleted and written again.
    enum Rebirth: CaseIterable { case oneBatch, twoWrites, otherManager, sameManager }

    @Test(
        "A node that others delete and write again is gone from its old parents, and is shown",
        arguments: Rebirth.allCases)
    func writtenAgain(rebirth: Rebirth) async throws {
        let other = DataModelManager(cache: cache)
        let post = DataProvider<Article>(dataModelManager: manager)
        let posts = CollectionDataProvider<Article>(dataModelManager: manager)
        let authors = CollectionDataProvider<Author>(dataModelManager: manager)
        let ben = Author(id: 2, version: 1)
        let tree = Article(id: 1, version: 1, author: old, likes: [old, ben])
        post.setData(tree)
        posts.setData([tree, Article(id: 2, version: 1)], cacheKey: "posts")
        authors.setData([old, ben], cacheKey: "authors")
        await manager.flush()
        switch rebirth {
        case .oneBatch:
            cache.write { batch in
                batch.delete("Author:8")
                batch.set(new)
            }
        case .twoWrites:
            cache.delete("Author:8")
            cache.set(new)
        case .otherManager:
            other.deleteModel(old)
            other.updateModel(new)
        case .sameManager:
            manager.deleteModel(old)
            manager.updateModel(new)
        }
        await other.flush()
        await manager.flush()
        let orphaned = Article(id: 1, version: 1, likes: [ben])
        #expect(await cache.read(Article.self, "Article:1") == orphaned)
        #expect(await cache.read(Author.self, "Author:8") == new)
        #expect(post.data == orphaned)
        #expect(posts.data == [orphaned, Article(id: 2, version: 1)])
        #expect(authors.data == [ben])
        #expect(await cache.collection(of: Author.self, forKey: "authors") == [ben])
    }

    // MARK: Random changes

    @Test(
        "After random changes by screens, managers and the cache, all screens show what it has",
        arguments: [1, 3], [UInt64(11), 12])
    func walk(managerCount: Int, seed: UInt64) async throws {
        let managers = [manager] + (1..<managerCount).map { _ in DataModelManager(cache: cache) }
        let walk = ScreenWalk(cache, managers, seed)
        for round in 0..<60 {
            await walk.changeAtRandom()
            let differences = await walk.differences()
            guard differences.isEmpty else {
                Issue.record("round \(round): \(differences.prefix(3)), after \(walk.log)")
                return
            }
        }
        #expect(try cache.verify().problems.isEmpty)
    }
}

struct PinImage: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var image: String?
    var modelIdentifier: String? { "Pin:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// Screens of several managers over one cache, and random changes of all of them.
@MainActor
private final class ScreenWalk {
    private let cache: NormalizedCache
    private let managers: [DataModelManager]
    private var authors: [DataProvider<Author>] = []
    private var posts: [DataProvider<Article>] = []
    private var lists: [CollectionDataProvider<Article>] = []
    private var random: SeededGenerator
    private var version = 0
    private(set) var log: [String] = []

    init(_ cache: NormalizedCache, _ managers: [DataModelManager], _ seed: UInt64) {
        self.cache = cache
        self.managers = managers
        random = SeededGenerator(seed: seed)
        for manager in managers {
            for id in 0..<6 {
                let author = DataProvider<Author>(dataModelManager: manager)
                author.modelIdentifier = "Author:\(id)"
                authors.append(author)
                let post = DataProvider<Article>(dataModelManager: manager)
                post.modelIdentifier = "Article:\(id)"
                posts.append(post)
            }
            for number in 0..<4 {
                let list = CollectionDataProvider<Article>(dataModelManager: manager)
                list.setData([], cacheKey: "list \(number % 2)")
                lists.append(list)
            }
        }
    }

    private func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private func author(_ id: Int) -> Author {
        version += 1
        return Author(id: id, version: version)
    }

    /// Makes a post that does not contradict itself.
    private func post(_ id: Int) -> Article {
        let first = pick(5) > 0 ? author(pick(6)) : nil
        var likes: [Author] = []
        for id in Set((0..<pick(4)).map { _ in pick(6) }).sorted() {
            likes.append(id == first?.id ? first! : author(id))
        }
        version += 1
        return Article(id: id, version: version, author: first, likes: likes)
    }

    /// Makes a list whose posts do not contradict each other.
    private func list() -> [Article] {
        var known: [Int: Author] = [:]
        func same(_ author: Author) -> Author {
            if let other = known[author.id] { return other }
            known[author.id] = author
            return author
        }
        return (0..<pick(5)).map { id in
            let post = post(id)
            return Article(
                id: id, version: post.version, author: post.author.map(same),
                likes: post.likes.map(same))
        }
    }

    func changeAtRandom() async {
        log = []
        for _ in 0..<pick(40) {
            change()
            if pick(6) == 0 { await Task.yield() }
        }
    }

    private func change() {
        let manager = managers[pick(managers.count)]
        let list = lists[pick(lists.count)]
        let kind = pick(13)
        log.append("\(kind)")
        switch kind {
        case 0:
            let provider = authors[pick(authors.count)]
            if let data = provider.data { provider.setData(author(data.id)) }
        case 1:
            let provider = posts[pick(posts.count)]
            if let data = provider.data { provider.setData(post(data.id)) }
        case 2: manager.updateModel(author(pick(6)))
        case 3: manager.updateModel(post(pick(6)))
        case 4: cache.set(author(pick(6)))
        case 5: cache.set(post(pick(6)))
        case 6: if list.count < 12 { list.insert([post(pick(6))], at: pick(list.count + 1)) }
        case 7: if list.count > 0 { list.remove(at: pick(list.count)) }
        case 8: if list.count > 1 { list.move(from: pick(list.count), to: pick(list.count)) }
        case 9: if pick(4) == 0 { list.replaceData(with: self.list()) }
        case 10: if pick(3) == 0 { manager.deleteModel(author(pick(6))) }
        case 11: if list.count > 0 { cache.move(from: 0, to: 1, inCollection: "list 0") }
        default: if pick(6) == 0 { cache.evictCollection(forKey: "list \(pick(2))") }
        }
    }

    /// Waits until all writes have ended, and returns where screens and cache differ.
    func differences() async -> [String] {
        // What one manager has written at the end of its flush reaches the others with theirs.
        for _ in 0..<3 {
            for manager in managers { await manager.flush() }
        }
        var found: [String] = []
        for shown in authors.compactMap(\.data) {
            let stored = await cache.read(Author.self, "Author:\(shown.id)")
            if stored != shown { found.append("\(shown), cache \(stored as Any)") }
        }
        for shown in posts.compactMap(\.data) {
            let stored = await cache.read(Article.self, "Article:\(shown.id)")
            if stored != shown { found.append("\(shown), cache \(stored as Any)") }
        }
        for list in lists {
            // An evicted list stays on the screen.
            guard let stored = await cache.collection(of: Article.self, forKey: list.cacheKey ?? "")
            else { continue }
            if stored != list.data { found.append("list \(list.data), cache \(stored)") }
        }
        return found
    }
}
