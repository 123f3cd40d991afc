import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("A single provider is fetched")
struct FetchingTests {
    let rig = Rig()

    /// The arguments of the completion.
    private func fetch(
        _ provider: DataProvider<ParentModel>, _ key: String?, listen: Bool = false,
        context: String? = nil
    ) async -> (ParentModel?, (any Error)?) {
        await withCheckedContinuation { continuation in
            provider.fetchDataFromCache(
                withCacheKey: key, listenToModelIdentifier: listen, context: context
            ) {
                continuation.resume(returning: ($0, $1))
            }
        }
    }

    @Test("A hit is shown without a call of the delegate, and the cache gets the context")
    func hit() async {
        rig.cache.put(ParentModel.named(1, "cached"))
        let delegate = Delegate()
        let provider = rig.single(ParentModel.self, delegate)
        let (model, error) = await fetch(provider, "ParentModel:1", context: "context")
        #expect(model?.name == "cached" && error == nil && provider.data == model)
        #expect(delegate.calls == 0 && rig.cache.contexts == ["context"])
    }

    @Test("A fetched model is kept consistent")
    func listens() async {
        rig.cache.put(ParentModel.named(1, "cached"))
        let provider = rig.single()
        _ = await fetch(provider, "ParentModel:1")
        rig.manager.updateModel(ParentModel.named(1, "new"))
        await rig.flush()
        #expect(provider.data?.name == "new")
    }

    @Test("A miss has neither model nor error, an error is reported, and both read again")
    func missThenHit() async {
        let provider = rig.single()
        var (model, error) = await fetch(provider, "ParentModel:1")
        #expect(model == nil && error == nil && provider.data == nil)
        rig.cache.fail("ParentModel:1", CacheFailure(number: 7))
        (model, error) = await fetch(provider, "ParentModel:1")
        #expect(model == nil && error as? CacheFailure == CacheFailure(number: 7))
        rig.cache.fail("ParentModel:1", nil)
        rig.cache.put(ParentModel.named(1, "cached"))
        (model, error) = await fetch(provider, "ParentModel:1")
        #expect(model?.name == "cached" && error == nil && rig.cache.count("get") == 3)
    }

    @Test("A miss keeps the shown model")
    func missLeaves() async {
        let provider = rig.single()
        provider.setData(.named(1, "shown"))
        let (model, error) = await fetch(provider, "ParentModel:2")
        #expect(model == nil && error == nil && provider.data?.name == "shown")
    }

    @Test("A fetch of the shown model completes at once, and reads nothing")
    func shown() async {
        let provider = rig.single()
        provider.setData(.named(1, "a"))
        var result: ParentModel?
        provider.fetchDataFromCache(withCacheKey: "ParentModel:1") { model, _ in result = model }
        #expect(result?.name == "a")
        await rig.flush()
        #expect(rig.cache.count("get") == 0)
    }

    @Test("Two fetches in sequence read once")
    func twice() async {
        rig.cache.put(ParentModel.named(1, "cached"))
        let provider = rig.single()
        _ = await fetch(provider, "ParentModel:1")
        let (model, error) = await fetch(provider, "ParentModel:1")
        #expect(model?.name == "cached" && error == nil && rig.cache.count("get") == 1)
    }

    @Test("A single fetch without key passes the context to the cache each time")
    func withoutKey() async {
        rig.cache.state.withLock {
            $0.byContext = ["a": ParentModel.named(1, "by a"), "b": ParentModel.named(2, "by b")]
        }
        let provider = rig.single()
        #expect(await fetch(provider, nil, context: "a").0?.name == "by a")
        #expect(await fetch(provider, nil, context: "b").0?.name == "by b")
        #expect(rig.cache.calls == ["get nil", "get nil"])
    }

    @Test("A model under a key other than its identifier is found and kept consistent")
    func otherKey() async {
        rig.cache.put(ParentModel.named(1, "cached"), "front page")
        let provider = rig.single()
        #expect(await fetch(provider, "front page").0?.name == "cached")
        rig.manager.updateModel(ParentModel.named(1, "new"))
        await rig.flush()
        #expect(provider.data?.name == "new")
    }

    @Test("A model of another type is a miss")
    func otherType() async {
        rig.cache.put(ChildModel.row(1), "key")
        #expect(await fetch(rig.single(), "key").0 == nil)
    }

    @Test("An awaited fetch returns a hit, returns nil for a miss, and throws an error")
    func async() async throws {
        rig.cache.put(ParentModel.named(1, "cached"))
        rig.cache.fail("broken", CacheFailure())
        #expect(try await rig.single().fetch("ParentModel:1")?.name == "cached")
        #expect(try await rig.single().fetch("ParentModel:2") == nil)
        await #expect(throws: CacheFailure()) { try await rig.single().fetch("broken") }
    }

    @Test("The manager reads and saves without notifying providers")
    func managersFunctions() async {
        let delegate = Delegate()
        let provider = rig.single(ParentModel.self, delegate)
        provider.setData(.named(1, "shown"), updateCache: false)
        rig.manager.cacheModel(ParentModel.named(1, "cached"), forKey: "k", context: "c")
        rig.manager.cacheCollection([ParentModel.named(2, "b")], forKey: "all", context: nil)
        var (model, models): (ParentModel?, [ParentModel]?)
        rig.manager.modelFromCache("k", context: nil) { (found: ParentModel?, _) in model = found }
        rig.manager.collectionFromCache("all", context: nil) { (found: [ParentModel]?, _) in
            models = found
        }
        await rig.flush()
        #expect(model?.name == "cached" && models?.names == ["b"])
        #expect(provider.data?.name == "shown" && delegate.calls == 0)
        #expect(rig.cache.calls == ["set k", "set all all", "get k", "get all all"])
    }
}
