import Espalier
import Foundation
import Testing

/// What the cache itself answers: types that it can't store, partial lists, reasons of misses.
@MainActor @Suite("Outcomes of the cache reach the providers")
final class OutcomeTests {
    private let directory = NSTemporaryDirectory() + "espalier-outcomes-" + UUID().uuidString
    private let cache: NormalizedCache
    private let manager: DataModelManager

    init() throws {
        cache = try NormalizedCache(directory: directory)
        manager = DataModelManager(cache: cache)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Waits until `condition` holds.
    private func until(
        _ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let start = ContinuousClock.now
        while !condition() {
            guard ContinuousClock.now - start < .seconds(10) else {
                Issue.record("It did not become true.", sourceLocation: sourceLocation)
                return
            }
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    // MARK: Types that can't be stored

    /// Neither `Codable` nor a `NormalizedModel`.
    private struct Opaque: SimpleModel, Equatable {
        let id: Int
        var modelIdentifier: String? { "Opaque:\(id)" }
    }

    @MainActor
    private final class Delegate: DataProviderDelegate, CollectionDataProviderDelegate {
        var failures: [SaveFailure] = []
        func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {}
        func collectionDataProviderHasUpdatedData<T>(
            _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
            context: Any?
        ) {}
        func dataProvider<T>(_ dataProvider: DataProvider<T>, failedToSave failure: SaveFailure) {
            failures.append(failure)
        }
        func collectionDataProvider<T>(
            _ dataProvider: CollectionDataProvider<T>, failedToSave failure: SaveFailure
        ) { failures.append(failure) }
    }

    private static func isNotStorable(_ error: (any Error)?) -> Bool {
        guard case .notFlattened(.notStorable)? = (error as? CacheError)?.code else { return false }
        return true
    }

    @Test(
        "A type that can't be stored is an error of its first write, whatever the manager",
        arguments: [true, false])
    func notStorable(follows: Bool) async throws {
        let manager = follows ? manager : DataModelManager(cacheDelegate: cache)
        var failures = manager.failures().makeAsyncIterator()
        let delegate = Delegate()
        let provider = DataProvider<Opaque>(dataModelManager: manager)
        provider.delegate = delegate
        provider.setData(Opaque(id: 1))
        #expect(Self.isNotStorable(await failures.next()?.error))
        #expect(provider.data == Opaque(id: 1))
        await #expect(throws: CacheError.self) { try await provider.save(Opaque(id: 2)) }
        await #expect(throws: CacheError.self) {
            try await provider.save(Opaque(id: 3), policy: .merge)
        }
        let list = CollectionDataProvider<Opaque>(dataModelManager: manager)
        list.delegate = delegate
        await #expect(throws: CacheError.self) {
            try await list.save([Opaque(id: 4)], cacheKey: "opaque")
        }
        await #expect(throws: CacheError.self) {
            try await manager.saving { list.append([Opaque(id: 5)]) }
        }
        await manager.flush()
        #expect(delegate.failures.count == 5)
        #expect(delegate.failures.allSatisfy { Self.isNotStorable($0.error) })
        await #expect(throws: MissReason.self) {
            _ = try await DataProvider<Opaque>(dataModelManager: manager).fetch("Opaque:1")
        }
    }

    @Test("A closed cache is an error of every write and of every fetch")
    func closed() async throws {
        let provider = DataProvider<Pin>(dataModelManager: manager)
        cache.close()
        await #expect(throws: CacheError.self) { try await provider.save(Pin(id: 1)) }
        await #expect(throws: CacheError.self) {
            try await manager.saving { manager.deleteModel(Pin(id: 1)) }
        }
        await #expect(throws: MissReason.self) { _ = try await provider.fetchOutcome("Pin:2") }
    }

    // MARK: Partial models in lists

    @Test("A list that is set, appended to and edited with partial models shows the merged ones")
    func partialLists() async throws {
        for id in 1...4 { try await cache.set(Pin(id: id, image: "old", board: "b")).committed }
        let pin = DataProvider<Pin>(dataModelManager: manager)
        _ = try await pin.fetch("Pin:1")
        var shown: [String?] = []
        let list = CollectionDataProvider<Pin>(dataModelManager: manager)
        let twin = CollectionDataProvider<Pin>(dataModelManager: manager)
        list.setData([Pin(id: 1, image: "new")], cacheKey: "pins", policy: .merge)
        _ = try await twin.fetch("pins")
        shown.append(pin.data?.board)
        list.append([Pin(id: 2, recipe: "jam")], policy: .merge)
        list.insert([Pin(id: 3, recipe: "pie")], at: 0, policy: .merge)
        list.update(Pin(id: 1, recipe: "tea"), at: 1, policy: .merge)
        shown.append(pin.data?.board)
        let merged = [
            Pin(id: 3, image: "old", board: "b", recipe: "pie"),
            Pin(id: 1, image: "new", board: "b", recipe: "tea"),
            Pin(id: 2, image: "old", board: "b", recipe: "jam"),
        ]
        await until { list.data == merged }
        #expect(twin.data == merged)
        await until { pin.data == merged[1] }
        // Another screen never had less than the cache.
        #expect(shown == ["b", "b"])
        #expect(await cache.collection(of: Pin.self, forKey: "pins") == merged)
        list.replaceData(with: [Pin(id: 4, recipe: "rye")], policy: .merge)
        await until { twin.data == [Pin(id: 4, image: "old", board: "b", recipe: "rye")] }
    }

    @Test("A merge that changes nothing in the cache completes the list all the same")
    func unchangedMerge() async throws {
        let full = Pin(id: 1, image: "a", board: "b")
        try await cache.setCollection([full], forKey: "pins").committed
        let list = CollectionDataProvider<Pin>(dataModelManager: manager)
        list.setData([Pin(id: 1, image: "a")], cacheKey: "pins", policy: .merge)
        await until { list.data == [full] }
        list.update(Pin(id: 1, board: "b"), at: 0, policy: .merge)
        #expect(list.data == [Pin(id: 1, board: "b")])
        await until { list.data == [full] }
    }

    @Test("Each call chooses its policy: over that of the manager, and that over the type's")
    func policies() async throws {
        let merging = DataModelManager(cache: cache, writePolicy: .merge)
        try await cache.set(Pin(id: 1, image: "a", board: "b")).committed
        let provider = DataProvider<Pin>(dataModelManager: merging)
        try await provider.save(Pin(id: 1, image: "c"))
        #expect(await cache.read(Pin.self, "Pin:1")?.board == "b")
        try await provider.save(Pin(id: 1, image: "d"), policy: .replace)
        #expect(await cache.read(Pin.self, "Pin:1") == Pin(id: 1, image: "d"))
        #expect(provider.data == Pin(id: 1, image: "d"))
        let list = CollectionDataProvider<Pin>(dataModelManager: merging)
        try await list.save([Pin(id: 1, board: "e")], cacheKey: "pins")
        #expect(await cache.read(Pin.self, "Pin:1") == Pin(id: 1, image: "d", board: "e"))
        try await merging.saving { list.update(Pin(id: 1, recipe: "f"), at: 0, policy: .replace) }
        #expect(await cache.read(Pin.self, "Pin:1") == Pin(id: 1, recipe: "f"))
    }

    /// Another view of a pin.
    private struct Card: Codable, NormalizedModel, Model, Equatable {
        let id: Int
        let image: String?
        var modelIdentifier: String? { "Pin:\(id)" }
        func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
        func forEach(_ visit: (any Model) -> Void) {}
    }

    @Test("What a provider replaces reaches the screens that show the record as another type")
    func anotherType() async throws {
        try await cache.set(Pin(id: 1, image: "a", board: "b")).committed
        let card = DataProvider<Card>(dataModelManager: manager)
        _ = try await card.fetch("Pin:1")
        let waiting = DataProvider<Card>(dataModelManager: manager)
        waiting.modelIdentifier = "Pin:2"
        let provider = DataProvider<Pin>(dataModelManager: manager)
        provider.setData(Pin(id: 1, image: "new"))
        await until { card.data?.image == "new" }
        provider.setData(Pin(id: 2, image: "first"))
        await until { waiting.data?.image == "first" }
        card.setData(Card(id: 1, image: "last"))
        let again = DataProvider<Pin>(dataModelManager: manager)
        _ = try await again.fetch("Pin:1")
        card.setData(Card(id: 1, image: nil))
        await until { again.data == Pin(id: 1) }
    }

    @Test("A list that is sent again keeps what others have written into its models")
    func sentAgain() async throws {
        let list = CollectionDataProvider<Pin>(dataModelManager: manager)
        try await list.save([Pin(id: 1, image: "a"), Pin(id: 2)], cacheKey: "pins")
        try await manager.saving {
            // The list changes in the cache, and a model of it: the screen knows neither yet.
            cache.setCollection([Pin(id: 2)], forKey: "pins")
            cache.set(Pin(id: 1, image: "new"))
            list.append([Pin(id: 3, image: "c")])
        }
        #expect(await cache.read(Pin.self, "Pin:1")?.image == "new")
        #expect(await cache.read(Pin.self, "Pin:3")?.image == "c")
    }

    // MARK: Misses

    /// A pin whose recipe is required.
    private struct Recipe: Codable, NormalizedModel, Model, Equatable {
        let id: Int
        let recipe: String
        let steps: [String]
        var modelIdentifier: String? { "Pin:\(id)" }
        func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
        func forEach(_ visit: (any Model) -> Void) {}
    }

    @Test("A fetch says which fields are missing, and what was never stored")
    func misses() async throws {
        try await cache.set(Pin(id: 1, image: "a")).committed
        let provider = DataProvider<Recipe>(dataModelManager: manager)
        guard case .miss(.incomplete(let fields)?) = try await provider.fetchOutcome("Pin:1") else {
            Issue.record("\(String(describing: provider.missReason))")
            return
        }
        #expect(fields.count == 1 || fields.count == 2)
        #expect(fields.contains { $0.description.contains("steps") })
        guard case .miss(.notFound) = try await provider.fetchOutcome("Pin:9") else {
            Issue.record("\(String(describing: provider.missReason))")
            return
        }
        let list = CollectionDataProvider<Recipe>(dataModelManager: manager)
        try await cache.setCollection([Pin(id: 1)], forKey: "pins").committed
        guard case .miss(.incomplete) = try await list.fetchOutcome("pins") else {
            Issue.record("\(String(describing: list.missReason))")
            return
        }
    }
}
