import Espalier
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

/// A pin as three lists of a server describe it: each fetches other fields.
struct Pin: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var image: String?
    var board: String?
    var recipe: String?

    var modelIdentifier: String? { "Pin:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// Whatever changes a model, and wherever: all screens show what the cache has.
@MainActor @Suite("Screens follow the cache")
final class OneTruthTests {
    private let directory = NSTemporaryDirectory() + "espalier-truth-" + UUID().uuidString
    private let cache: NormalizedCache
    private let manager: DataModelManager

    init() throws {
        cache = try NormalizedCache(directory: directory)
        manager = DataModelManager(cache: cache)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func provider<T: SimpleModel>(of type: T.Type, _ key: String) async throws
        -> DataProvider<T>
    {
        let provider = DataProvider<T>(dataModelManager: manager)
        _ = try await provider.fetch(key)
        return provider
    }

    /// Waits until the provider shows `model`.
    private func expect<T: SimpleModel & Equatable>(
        _ model: T?, in provider: DataProvider<T>, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        var shown: [T?] = []
        for await value in provider.values {
            shown.append(value)
            if value == model { return }
        }
        Issue.record("the provider ended with \(shown)", sourceLocation: sourceLocation)
    }

    // MARK: Partial models

    @Test(
        "A partial model of a provider keeps the fields that it lacks: on disk and on all screens")
    func superset() async throws {
        try await cache.set(Pin(id: 123, image: "old", board: "garden")).committed
        let first = try await provider(of: Pin.self, "Pin:123")
        let second = try await provider(of: Pin.self, "Pin:123")
        first.merge(Pin(id: 123, image: "new", recipe: "jam"))
        let merged = Pin(id: 123, image: "new", board: "garden", recipe: "jam")
        await expect(merged, in: first)
        await expect(merged, in: second)
        #expect(await cache.read(Pin.self, "Pin:123") == merged)
        // In memory the partial model was never shown.
        #expect(first.data == merged)
    }

    @Test("A manager whose policy is to merge does so in every call that names no policy")
    func managersPolicy() async throws {
        let manager = DataModelManager(cache: cache, writePolicy: .merge)
        try await cache.set(Pin(id: 1, board: "garden")).committed
        let provider = DataProvider<Pin>(dataModelManager: manager)
        provider.setData(Pin(id: 1, image: "a"))
        await expect(Pin(id: 1, image: "a", board: "garden"), in: provider)
        manager.updateModel(Pin(id: 1, recipe: "jam"))
        await expect(Pin(id: 1, image: "a", board: "garden", recipe: "jam"), in: provider)
        manager.updateModels([Pin(id: 1, image: "b"), Pin(id: 2, image: "c")])
        await expect(Pin(id: 1, image: "b", board: "garden", recipe: "jam"), in: provider)
        #expect(await cache.read(Pin.self, "Pin:2") == Pin(id: 2, image: "c"))
    }

    @Test("A provider shows a partial model until it is merged, even if the merge changes nothing")
    func mergeWithoutChange() async throws {
        let full = Pin(id: 1, image: "a", board: "garden")
        try await cache.set(full).committed
        let provider = DataProvider<Pin>(dataModelManager: manager)
        provider.merge(Pin(id: 1, image: "a"))
        #expect(provider.data == Pin(id: 1, image: "a"))
        await expect(full, in: provider)
    }

    // MARK: Writes beside the manager

    @Test("A write of the cache reaches the screens that show the model, also deep in a tree")
    func cacheWrite() async throws {
        let message = Message(id: 1, text: "Hello", sender: Person(id: 1, name: "Ada"))
        try await cache.set(message).committed
        let screen = try await provider(of: Message.self, "Message:1")
        try await cache.set(Person(id: 1, name: "Grace")).committed
        await expect(
            Message(id: 1, text: "Hello", sender: Person(id: 1, name: "Grace")), in: screen)
    }

    @Test("A model that the cache deletes leaves the screens, and an evicted one stays")
    func deletionAndEviction() async throws {
        try await cache.set([Pin(id: 1, image: "a"), Pin(id: 2, image: "b")]).committed
        let first = try await provider(of: Pin.self, "Pin:1")
        let second = try await provider(of: Pin.self, "Pin:2")
        try await cache.evict("Pin:2").committed
        try await cache.delete("Pin:1").committed
        await expect(nil, in: first)
        await manager.flush()
        #expect(second.data == Pin(id: 2, image: "b"))
    }

    @Test("A node that one type can't be read as stays on the screens of other types")
    func unreadableAsOneType() async throws {
        try await cache.set(Staff(id: 1, name: "Ada", firm: Firm(id: 1))).committed
        let staff = try await provider(of: Staff.self, "Staff:1")
        let card = try await provider(of: StaffCard.self, "Staff:1")
        let cards = CollectionDataProvider<StaffCard>(dataModelManager: manager)
        cards.setData([StaffCard(id: 1, name: "Ada")], cacheKey: "cards", policy: .merge)
        await manager.flush()
        try await cache.delete("Firm:1").committed
        await expect(nil, in: staff)
        #expect(card.data?.name == "Ada")
        let renamed = StaffCard(id: 1, name: "Grace")
        try await cache.set(renamed, policy: .merge).committed
        await expect(renamed, in: card)
        await manager.flush()
        #expect(cards.data == [renamed] && staff.data == nil)
        cards.append([StaffCard(id: 2, name: "Ben")])
        await manager.flush()
        #expect(
            await cache.collection(of: StaffCard.self, forKey: "cards")?.map(\.name)
                == ["Grace", "Ben"])
        // The firm is back: so is the whole model.
        try await cache.set(Staff(id: 1, name: "Grace", firm: Firm(id: 1))).committed
        await expect(Staff(id: 1, name: "Grace", firm: Firm(id: 1)), in: staff)
    }

    @Test("A child that another type has replaced is read for the screens of the other types")
    func replacedAsAnotherType() async throws {
        try await cache.set([Author(id: 1, version: 1), Author(id: 2, version: 2)]).committed
        try await cache.set(Story(id: 1, title: "old", author: Author(id: 1, version: 1))).committed
        let story = try await provider(of: Story.self, "Story:1")
        let card = DataProvider<StoryCard>(dataModelManager: manager)
        card.setData(StoryCard(id: 1, title: "old", author: AuthorName(id: 2)), policy: .replace)
        await expect(Story(id: 1, title: "old", author: Author(id: 2, version: 2)), in: story)
        card.setData(StoryCard(id: 1, title: "new", author: AuthorName(id: 1)), policy: .replace)
        await expect(Story(id: 1, title: "new", author: Author(id: 1, version: 1)), in: story)
    }

    @Test("A node that is deleted and stored again inside of another one stays on its screens")
    func deletedAndStored() async throws {
        try await cache.set(Staff(id: 1, name: "Ada", firm: Firm(id: 1))).committed
        let staff = try await provider(of: Staff.self, "Staff:1")
        let firm = try await provider(of: Firm.self, "Firm:1")
        try await cache.transaction {
            try $0.delete("Firm:1")
            try $0.set(Staff(id: 1, name: "Grace", firm: Firm(id: 1)))
        }
        await expect(Staff(id: 1, name: "Grace", firm: Firm(id: 1)), in: staff)
        await manager.flush()
        #expect(firm.data == Firm(id: 1))
    }

    @Test("A batch listener gets all that another writer has deleted")
    func batchDeletion() async throws {
        final class Listener: ConsistencyManagerListener {
            var model: (any ConsistencyManagerModel)?
            init(_ model: any ConsistencyManagerModel) { self.model = model }
            func currentModel() -> (any ConsistencyManagerModel)? { model }
            func modelUpdated(
                _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
            ) { self.model = model }
        }
        let pins = (1...3).map { Pin(id: $0, image: "a") }
        try await cache.set(pins).committed
        let listeners = pins.map { Listener($0) }
        let batch = BatchListener(
            listeners: listeners, consistencyManager: manager.consistencyManager)
        try await cache.transaction {
            try $0.delete("Pin:1")
            try $0.set(Pin(id: 2, image: "b"))
            try $0.delete("Pin:3")
        }
        await manager.flush()
        #expect(listeners[0].model == nil && listeners[2].model == nil)
        #expect(listeners[1].model as? Pin == Pin(id: 2, image: "b"))
        withExtendedLifetime(batch) {}
    }

    @Test("The cache ends with the last update, wherever a list was edited in between")
    func updateAroundMove() async throws {
        let old = [Pin(id: 1, image: "0"), Pin(id: 2, image: "0")]
        let list = CollectionDataProvider<Pin>(dataModelManager: manager)
        list.setData(old, cacheKey: "pins")
        await manager.flush()
        for step in 1...20 {
            manager.updateModel(Pin(id: 1, image: "a\(step)"))
            list.move(from: 0, to: 1)
            manager.updateModel(Pin(id: 1, image: "b\(step)"))
            await manager.flush()
            let expected = Pin(id: 1, image: "b\(step)")
            #expect(list.data.contains(expected))
            #expect(await cache.read(Pin.self, "Pin:1") == expected)
        }
    }

    @Test("An answer to a request that began before an update in one step is out of date")
    func updateDuringRequest() async throws {
        try await cache.set(Counter(id: 1, count: 1)).committed
        let network = StepNetwork<Counter>()
        let provider = DataProvider<Counter>(dataModelManager: manager)
        let task = Task {
            try await provider.fetch("Counter:1", policy: .networkThenCache) {
                try await network.ask()
            }
        }
        await network.calls.reaches(1)
        try await manager.update(Counter.self, "Counter:1") { Counter(id: 1, count: $0.count + 1) }
        network.answer(1, with: .success(Counter(id: 1, count: 1)))
        _ = try await task.value
        await manager.flush()
        #expect(await cache.read(Counter.self, "Counter:1")?.count == 2)
        await expect(Counter(id: 1, count: 2), in: provider)
    }

    @Test("When the cache is emptied, the screens show nothing and their delegates hear of it")
    func removeAll() async throws {
        final class Delegate: DataProviderDelegate {
            var calls = 0
            func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {
                calls += 1
            }
        }
        try await cache.set(Pin(id: 1, image: "a")).committed
        try await cache.setCollection([Pin(id: 1, image: "a")], forKey: "pins").committed
        let pin = try await provider(of: Pin.self, "Pin:1")
        let pins = CollectionDataProvider<Pin>(dataModelManager: manager)
        _ = try await pins.fetch("pins")
        #expect(pins.data.count == 1)
        let delegate = Delegate()
        pin.delegate = delegate
        try await cache.removeAll().committed
        await expect(nil, in: pin)
        #expect(delegate.calls == 1)
        await manager.flush()
        #expect(pins.data.isEmpty)
    }

    @Test("A collection that others change in the cache is shown as it is then")
    func collection() async throws {
        try await cache.setCollection([Pin(id: 1), Pin(id: 2)], forKey: "pins").committed
        let pins = CollectionDataProvider<Pin>(dataModelManager: manager)
        _ = try await pins.fetch("pins")
        var changes = pins.changes.makeAsyncIterator()
        try await cache.append([Pin(id: 3)], toCollection: "pins").committed
        _ = await changes.next()
        #expect(pins.data.map(\.id) == [1, 2, 3])
    }

    @Test("A provider that waits for a model shows it when the cache gets it")
    func awaited() async throws {
        let provider = DataProvider<Pin>(dataModelManager: manager)
        provider.modelIdentifier = "Pin:7"
        try await cache.set(Pin(id: 7, image: "x")).committed
        await expect(Pin(id: 7, image: "x"), in: provider)
    }

    @Test("Two managers over one cache show the same")
    func managers() async throws {
        let other = DataModelManager(cache: cache)
        let mine = DataProvider<Pin>(dataModelManager: manager)
        let theirs = DataProvider<Pin>(dataModelManager: other)
        mine.setData(Pin(id: 1, image: "a"))
        await manager.flush()
        _ = try await theirs.fetch("Pin:1")
        theirs.setData(Pin(id: 1, image: "b"))
        await expect(Pin(id: 1, image: "b"), in: mine)
        mine.setData(Pin(id: 1, image: "c"))
        await expect(Pin(id: 1, image: "c"), in: theirs)
    }

    @Test("A screen never goes back to an older model while its own writes and others' alternate")
    func neverBack() async throws {
        let own = DataProvider<Counter>(dataModelManager: manager)
        own.setData(Counter(id: 1, count: 0))
        await manager.flush()
        let watcher = try await provider(of: Counter.self, "Counter:1")
        async let shown = Self.counts(of: watcher, upTo: 400)
        for _ in 0..<200 {
            try await cache.update(Counter.self, "Counter:1") {
                Counter(id: 1, count: $0.count + 1)
            }
            try await manager.update(Counter.self, "Counter:1") {
                Counter(id: 1, count: $0.count + 1)
            }
        }
        let counts = await shown
        #expect(counts == counts.sorted())
        #expect(counts.last == 400)
    }

    private static func counts(of provider: DataProvider<Counter>, upTo last: Int) async -> [Int] {
        var counts: [Int] = []
        for await change in provider.changes {
            counts.append(change.data?.count ?? -1)
            if change.data?.count == last { break }
        }
        return counts
    }

    @Test("Own writes win over older ones of others, whatever the order in which they are read")
    func ownWrites() async throws {
        let provider = DataProvider<Counter>(dataModelManager: manager)
        for round in 0..<200 {
            cache.set(Counter(id: 1, count: -round))
            provider.setData(Counter(id: 1, count: round))
            #expect(provider.data?.count == round)
            if round % 20 == 0 { await manager.flush() }
            #expect(provider.data?.count == round)
        }
        await manager.flush()
        #expect(provider.data?.count == 199)
        #expect(await cache.read(Counter.self, "Counter:1")?.count == 199)
    }

    @Test("After random writes of both, every screen is what a fresh read gives")
    func random() async throws {
        let providers = (0..<20).map { _ in DataProvider<Pin>(dataModelManager: manager) }
        for id in 0..<20 { cache.set(Pin(id: id, image: "0")) }
        for (id, provider) in providers.enumerated() { _ = try await provider.fetch("Pin:\(id)") }
        var generator = SystemRandomNumberGenerator()
        for step in 0..<500 {
            let id = Int.random(in: 0..<20, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: cache.set(Pin(id: id, image: "c\(step)"))
            case 1: cache.set(Pin(id: id, board: "c\(step)"), policy: .merge)
            case 2: providers[id].merge(Pin(id: id, recipe: "m\(step)"))
            case 3: manager.updateModel(Pin(id: id, image: "u\(step)"))
            case 4:
                _ = try? await manager.update(Pin.self, "Pin:\(id)") { [step] in
                    Pin(id: $0.id, image: "a\(step)", board: $0.board, recipe: $0.recipe)
                }
            default: providers[id].setData(Pin(id: id, image: "s\(step)"))
            }
        }
        // What the last commits have changed may still be under way.
        for (id, provider) in providers.enumerated() {
            await manager.flush()
            let stored = await cache.read(Pin.self, "Pin:\(id)")
            await expect(stored, in: provider)
        }
    }

    // MARK: Outcomes

    @Test("A write that the cache refuses is told by the manager")
    func failures() async throws {
        struct Large: Codable, NormalizedModel, Model, Equatable {
            var id: Int
            var text: String
            var modelIdentifier: String? { "Large:\(id)" }
            func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
            func forEach(_ visit: (any Model) -> Void) {}
        }
        var failures = manager.failures().makeAsyncIterator()
        let text = String(repeating: "t", count: 20 << 20)
        let provider = DataProvider<Large>(dataModelManager: manager)
        provider.setData(Large(id: 1, text: text))
        let failure = await failures.next()
        #expect(failure?.names == ["Large:1"])
        #expect((failure?.error as? CacheError)?.code == .treeTooLarge)
        provider.merge(Large(id: 1, text: text))
        #expect(await failures.next()?.names == ["Large:1"])
    }

    @Test("A manager that does not follow its cache can't update in one step, and says so")
    func notFollowing() async throws {
        let manager = DataModelManager(cacheDelegate: cache)
        await #expect(throws: DataProviderError.notShared) {
            try await manager.update(Pin.self, "Pin:1") { $0 }
        }
        let provider = DataProvider<Pin>(dataModelManager: manager)
        provider.merge(Pin(id: 1, image: "a"))
        #expect(provider.data == Pin(id: 1, image: "a"))
    }
}

struct Firm: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var modelIdentifier: String? { "Firm:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

struct Staff: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var name: String
    var firm: Firm
    var modelIdentifier: String? { "Staff:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? {
        (transform(firm) as? Firm).map { Staff(id: id, name: name, firm: $0) }
    }
    func forEach(_ visit: (any Model) -> Void) { visit(firm) }
}

struct StaffCard: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var name: String
    var modelIdentifier: String? { "Staff:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// A story with its author, whose record another screen has as a `StoryCard`.
struct Story: Codable, NormalizedModel, ProjectedModel, Equatable {
    var id: Int
    var title: String
    var author: Author
    var modelIdentifier: String? { "Story:\(id)" }

    func storedValue(_ name: String) -> Any? {
        name == "title" ? title : name == "author" ? author : nil
    }
    func merge(_ model: any Model) -> any Model {
        if let story = model as? Story { return story }
        guard let other = model as? any ProjectedModel else { return self }
        var new = self
        ModelMembers.take(&new.title, named: "title", from: other)
        ModelMembers.take(&new.author, named: "author", from: other)
        return new
    }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? {
        (transform(author) as? Author).map { Story(id: id, title: title, author: $0) }
    }
    func forEach(_ visit: (any Model) -> Void) { visit(author) }
}

struct StoryCard: Codable, NormalizedModel, ProjectedModel, Equatable {
    var id: Int
    var title: String
    var author: AuthorName
    var modelIdentifier: String? { "Story:\(id)" }

    func storedValue(_ name: String) -> Any? {
        name == "title" ? title : name == "author" ? author : nil
    }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? {
        (transform(author) as? AuthorName).map { StoryCard(id: id, title: title, author: $0) }
    }
    func forEach(_ visit: (any Model) -> Void) { visit(author) }
}

struct AuthorName: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var modelIdentifier: String? { "Author:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

struct Counter: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var count: Int
    var modelIdentifier: String? { "Counter:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}
