import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("A collection is set and fetched")
struct SettingCollectionsTests {
    let rig = Rig()

    @Test("Elements are shown at once")
    func set() async {
        let provider = await rig.collection()
        #expect(provider.data == [] && provider.count == 0 && provider.cacheKey == nil)
        provider.setData([.named(1, "a"), .named(2, "b")], cacheKey: nil)
        #expect(provider.data.ids == [1, 2] && provider[1].name == "b" && provider.count == 2)
        provider.setData([], cacheKey: nil)
        #expect(provider.isEmpty)
        await rig.flush()
        #expect(rig.cache.calls == [])
    }

    @Test("Elements are saved under the key with the context, unless the caller declines")
    func caching() async {
        let provider = await rig.collection()
        provider.setData([.named(1, "a")], cacheKey: "key", context: "context")
        provider.setData([.named(2, "b")], cacheKey: "key", shouldCache: false)
        provider.insert([.named(3, "c")], at: 0, shouldCache: false)
        await rig.flush()
        #expect(rig.cache.calls == ["set all key"] && rig.cache.contexts == ["context"])
        #expect(provider.cacheKey == "key" && provider.data.ids == [3, 2])
    }

    @Test("A repeated element stays repeated, in order")
    func twice() async {
        let model = ParentModel.named(1, "a")
        let provider = await rig.collection()
        provider.setData([model, model], cacheKey: "key")
        provider.append([model, .named(2, "b"), model])
        await rig.flush()
        #expect(provider.data.ids == [1, 1, 1, 2, 1])
        #expect(rig.cache.collection("key", ParentModel.self)?.ids == [1, 1, 1, 2, 1])
        let delegate = Delegate()
        provider.delegate = delegate
        rig.manager.updateModel(ParentModel.named(1, "new"))
        await rig.flush()
        #expect(provider.data.names == ["new", "new", "new", "b", "new"])
        #expect(delegate.changes == [.changes([4, 2, 1, 0].map { .update(index: $0) })])
        provider.remove(at: 1)
        #expect(provider.data.ids == [1, 1, 2, 1])
    }

    @Test("Elements without identifier are kept, and never updated")
    func inline() async {
        let delegate = Delegate()
        let provider = await rig.collection(of: ChildModel.self, delegate)
        provider.setData([.row(nil, "a"), .row(1, "b"), .row(nil, "a")], cacheKey: "key")
        rig.manager.updateModel(ChildModel.row(nil, "new"))
        rig.manager.updateModel(ChildModel.row(1, "new"))
        await rig.flush()
        #expect(provider.data.map(\.name) == ["a", "new", "a"])
        #expect(delegate.changes == [.changes([.update(index: 1)])])
    }

    @Test("A hit is shown without a call of the delegate, and a second fetch reads nothing")
    func hit() async throws {
        rig.cache.put([ParentModel.named(1, "a")], "key")
        let delegate = Delegate()
        let provider = await rig.collection(of: ParentModel.self, delegate)
        #expect(try await provider.fetch("key", context: "context")?.names == ["a"])
        #expect(provider.data.names == ["a"] && provider.cacheKey == "key" && delegate.calls == 0)
        var again: [ParentModel]?
        provider.fetchDataFromCache(withCacheKey: "key") { elements, _ in again = elements }
        #expect(
            again?.names == ["a"] && rig.cache.calls == ["get all key"]
                && rig.cache.contexts == ["context"])
    }

    @Test("A fetch after setting reads nothing, even if an empty array was set")
    func setThenFetch() async {
        let provider = await rig.collection()
        provider.setData([], cacheKey: "key")
        var result: [ParentModel]?
        provider.fetchDataFromCache(withCacheKey: "key") { elements, _ in result = elements }
        #expect(result == [])
        await rig.flush()
        #expect(rig.cache.count("get") == 0)
    }

    @Test("A miss has neither elements nor error, an error is reported, and both read again")
    func miss() async throws {
        let provider = await rig.collection()
        #expect(try await provider.fetch("key") == nil)
        rig.cache.fail("key", CacheFailure(number: 1))
        await #expect(throws: CacheFailure(number: 1)) { try await provider.fetch("key") }
        rig.cache.fail("key", nil)
        rig.cache.put([ParentModel.named(1, "a")], "key")
        #expect(try await provider.fetch("key")?.ids == [1])
        #expect(rig.cache.count("get") == 3)
    }

    @Test("A fetch without key passes the context to the cache each time")
    func withoutKey() async throws {
        rig.cache.state.withLock {
            $0.byContext = ["a": ParentModel.named(1, "by a"), "b": ParentModel.named(2, "by b")]
        }
        let provider = await rig.collection()
        #expect(try await provider.fetch(nil, context: "a")?.names == ["by a"])
        #expect(try await provider.fetch(nil, context: "b")?.names == ["by b"])
        #expect(provider.data.names == ["by b"] && provider.cacheKey == nil)
    }

    @Test("Fetched elements are kept consistent")
    func listens() async {
        rig.cache.put([ParentModel.named(1, "a"), .named(2, "b")], "key")
        let provider = await rig.collection("key")
        rig.manager.updateModel(ParentModel.named(2, "new"))
        await rig.flush()
        #expect(provider.data.names == ["a", "new"])
    }

    @Test("A provider that changes its key shows and saves only the last collection")
    func keyToKey() async throws {
        rig.cache.put([ParentModel.named(1, "a")], "first")
        let (mover, stayer) = (await rig.collection("first"), await rig.collection("first"))
        let delegate = Delegate()
        mover.delegate = delegate
        mover.setData([.named(2, "b")], cacheKey: "second")
        stayer.append([.named(3, "c")])
        #expect(mover.data.ids == [2] && stayer.data.ids == [1, 3] && delegate.calls == 0)
        mover.append([.named(4, "d")])
        #expect(try await mover.fetch("first")?.ids == [1, 3])
        #expect(mover.cacheKey == "first")
        await rig.flush()
        #expect(rig.cache.collection("second", ParentModel.self)?.ids == [2, 4])
        #expect(rig.cache.collection("first", ParentModel.self)?.ids == [1, 3])
        mover.setData([.named(9, "own")], cacheKey: nil)
        stayer.append([.named(5, "e")])
        #expect(mover.data.ids == [9] && stayer.data.ids == [1, 3, 5])
    }

    @Test("A fetch that misses keeps the shown elements and their key")
    func missWhileShowing() async throws {
        let provider = await rig.collection()
        provider.setData([.named(1, "a")], cacheKey: "key")
        #expect(try await provider.fetch("other") == nil)
        #expect(provider.data.ids == [1] && provider.cacheKey == "key")
    }

    @Test("One key with two element types is two collections")
    func types() async {
        let parents = await rig.collection("key")
        let children = await rig.collection("key", of: ChildModel.self)
        parents.append([.named(1, "a")])
        children.append([.row(1, "b")])
        #expect(parents.count == 1 && children.count == 1)
    }

    @Test("A provider that was neither set nor fetched gets changes of its siblings")
    func untouched() async {
        let delegate = Delegate()
        let provider = await rig.collection(of: ParentModel.self, delegate)
        provider.append([.named(1, "a")])
        rig.manager.updateModel(ParentModel.named(1, "new"), context: "context")
        await rig.flush()
        #expect(provider.data.names == ["new"] && delegate.contexts == ["context"])
    }

    @Test("An index outside the collection traps")
    func outside() async {
        await #expect(processExitsWith: .failure) {
            await MainActor.run { twoRows().insert([.row(3)], at: 3) }
        }
        await #expect(processExitsWith: .failure) {
            await MainActor.run { twoRows().update(.row(3), at: 2) }
        }
        await #expect(processExitsWith: .failure) {
            await MainActor.run { twoRows().remove(at: -1) }
        }
        await #expect(processExitsWith: .success) {
            await MainActor.run { twoRows().insert([.row(3)], at: 2) }
        }
    }

    @Test("Overrides of the functions that save and fetch are called")
    func overriding() async throws {
        let manager = CountingProxy(cacheDelegate: rig.cache)
        let single = DataProvider<ParentModel>(dataModelManager: manager)
        single.setData(.named(1, "a"))
        single.setData(.named(1, "b"), updateCache: false)
        let list = CollectionDataProvider<ParentModel>(dataModelManager: manager)
        list.setData([.named(1, "a")], cacheKey: "key")
        list.append([.named(2, "b")])
        _ = try await list.fetch("other")
        _ = try await single.fetch("other")
        await manager.flush()
        #expect(
            manager.counts.withLock { $0 } == [
                "model", "collection", "collection", "from all", "from",
            ])
        #expect(rig.cache.collection("key", ParentModel.self)?.ids == [1, 2])
    }
}

private final class CountingProxy: DataModelManager, @unchecked Sendable {
    // `@unchecked` as its superclass is: its own state is guarded.
    let counts = Guarded<[String]>([])

    override func cacheModel(
        _ model: any SimpleModel, forKey cacheKey: String, context: (any Sendable)?
    ) {
        counts.withLock { $0.append("model") }
        super.cacheModel(model, forKey: cacheKey, context: context)
    }

    override func cacheCollection<T: SimpleModel>(
        _ collection: [T], forKey cacheKey: String, context: (any Sendable)?
    ) {
        counts.withLock { $0.append("collection") }
        super.cacheCollection(collection, forKey: cacheKey, context: context)
    }

    override func modelFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable (T?, (any Error)?) -> Void
    ) {
        counts.withLock { $0.append("from") }
        super.modelFromCache(cacheKey, context: context, completion: completion)
    }

    override func collectionFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable ([T]?, (any Error)?) -> Void
    ) {
        counts.withLock { $0.append("from all") }
        super.collectionFromCache(cacheKey, context: context, completion: completion)
    }
}

@MainActor
private func twoRows() -> CollectionDataProvider<ChildModel> {
    let provider = CollectionDataProvider<ChildModel>(
        dataModelManager: DataModelManager(cacheDelegate: MemoryCache()))
    provider.setData([.row(1), .row(2)], cacheKey: nil)
    return provider
}
