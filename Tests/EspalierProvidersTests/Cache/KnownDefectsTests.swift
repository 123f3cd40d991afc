import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

/// The known defects of RocketData, by name. None of them occurs here.
@MainActor @Suite("The known defects of RocketData do not occur")
struct KnownDefectsTests {
    typealias Provider = CollectionDataProvider<ParentModel>
    let rig = Rig()

    @Test("Concurrent calls of the cache keep their order")
    func cacheCallsOutOfOrder() async {
        let provider = rig.single()
        for name in 0..<200 {
            provider.setData(.named(1, "\(name)"))
            rig.manager.cacheModel(ParentModel.named(1, "\(name)"), forKey: "k", context: nil)
        }
        rig.manager.deleteModel(ParentModel(id: 1))
        provider.setData(.named(1, "last"))
        provider.setData(.named(2, "other"))
        rig.manager.deleteModel(ParentModel(id: 2))
        await rig.flush()
        let expected = (0..<200).flatMap { _ in ["set ParentModel:1", "set k"] }
        #expect(
            rig.cache.calls
                == expected + [
                    "delete ParentModel:1", "set ParentModel:1", "set ParentModel:2",
                    "delete ParentModel:2",
                ])
        #expect(rig.cache.model("ParentModel:1") == ParentModel.named(1, "last"))
        #expect(rig.cache.model("ParentModel:2", ParentModel.self) == nil)
    }

    @Test("The cache is not called on the main thread")
    func mainThread() async {
        let cache = ThreadCache()
        let rig = Rig(cache)
        rig.single().setData(.named(1, "a"))
        let list = await rig.collection("key")
        list.append([.named(1, "a")])
        _ = try? await rig.single().fetch("k")
        await rig.flush()
        #expect(cache.onMain.withLock { $0 } == [false, false, false, false])
    }

    @Test("An edit is not sent as the whole collection to a cache that accepts edits")
    func everyEditRewriting() async {
        let rig = Rig(EditingCache())
        let provider = await rig.collection("key")
        provider.append([.named(1, "a"), .named(2, "b")])
        provider.insert([.named(3, "c")], at: 0)
        provider.update(.named(4, "d"), at: 1)
        provider.remove(at: 2)
        provider.append([.named(5, "e")])
        await rig.flush()
        #expect(rig.cache.count("edit key") == 5 && rig.cache.count("set all") == 0)
        #expect(rig.cache.collection("key") == provider.data && provider.data.ids == [3, 4, 5])
        provider.setData([.named(6, "f")], cacheKey: "key")
        await rig.flush()
        #expect(rig.cache.count("set all") == 1 && rig.cache.collection("key") == provider.data)
        #expect(rig.cache.calls.last == "flush")
    }

    @Test("A fetch that misses sets cacheKey")
    func fetchMissLeavesCacheKeyNil() async throws {
        let provider = await rig.collection()
        #expect(try await provider.fetch("key") == nil)
        #expect(provider.cacheKey == "key")
        provider.append([.named(1, "a")])
        await rig.flush()
        #expect(rig.cache.collection("key", ParentModel.self)?.ids == [1])
    }

    @Test("Two providers whose fetches missed are siblings")
    func siblingsAfterMiss() async {
        let delegate = Delegate()
        let (a, b) = (await rig.collection("key"), await rig.collection("key", delegate))
        a.append([.named(1, "a")])
        #expect(b.data.ids == [1] && delegate.changes == [.changes([.insert(index: 0)])])
    }

    @Test("A static append after a miss is saved")
    func staticAppendAfterMiss() async {
        Provider.append([.named(1, "a")], cacheKey: "key", dataModelManager: rig.manager)
        await rig.flush()
        #expect(rig.cache.collection("key", ParentModel.self)?.ids == [1])
    }

    @Test(
        "A fetch completes with an error if the cache never calls its completion",
        arguments: [false, true])
    func completionNeverCalled(again: Bool) async {
        let rig = Rig(HeldCache())
        let provider = rig.single()
        let list = await rig.collection()
        var replies: [String] = []
        provider.fetchDataFromCache(withCacheKey: "one") { model, error in
            let isNoAnswer = error.map { "\($0 as? DataProviderError == .noAnswer)" }
            replies.append("one \(model?.name ?? "-") \(isNoAnswer ?? "-")")
        }
        list.fetchDataFromCache(withCacheKey: "all") { elements, error in
            let isNoAnswer = error.map { "\($0 as? DataProviderError == .noAnswer)" }
            replies.append("all \(elements?.count ?? -1) \(isNoAnswer ?? "-")")
        }
        Provider.append([.named(5, "")], cacheKey: "append", dataModelManager: rig.manager) {
            replies.append("append \($0 == nil)")
        }
        Provider.removeAtIndex({ _ in 0 }, cacheKey: "remove", dataModelManager: rig.manager) {
            replies.append("remove \($0 == nil)")
        }
        await rig.cache.waitForReads(4)
        if again {
            for _ in 0..<2 {
                rig.cache.reply("one", ParentModel.named(1, "a"), again: true)
                rig.cache.reply("all", all: [ParentModel.named(1, "a")], again: true)
                rig.cache.reply("append", all: nil, again: true)
                rig.cache.reply("remove", all: nil, again: true)
            }
            await rig.flush()
        }
        rig.cache.drop()
        await rig.flush()
        #expect(
            replies.sorted()
                == (again
                    ? ["all 1 -", "append true", "one a -", "remove false"]
                    : ["all -1 true", "append false", "one - true", "remove false"]))
    }

    @Test("A deletion also deletes the models that require it from the cache")
    func cascadingDeletes() async {
        rig.cache.put([ParentModel(id: 5, requiredChild: .row(3)), .named(6, "stays")], "key")
        let (a, b) = (rig.single(), rig.single())
        a.setData(ParentModel(id: 1, requiredChild: .row(3)))
        b.setData(ParentModel(id: 1, requiredChild: .row(3)))
        let list = await rig.collection("key")
        rig.manager.deleteModel(ChildModel.row(3), context: "context")
        await rig.flush()
        #expect(a.data == nil && list.data.ids == [6])
        #expect(rig.cache.collection("key", ParentModel.self)?.ids == [6])
        #expect(rig.cache.model("ParentModel:1", ParentModel.self) == nil)
        #expect(
            rig.cache.calls.filter { $0.hasPrefix("delete") }.sorted()
                == ["delete ChildModel:3", "delete ParentModel:1", "delete ParentModel:5"])
        #expect(rig.cache.count("set all") == 1 && rig.cache.contexts.last == "context")
    }

    @Test("A cascade does not delete a model that was saved since")
    func cascadeAndSavedAnew() async {
        let a = rig.single()
        a.setData(ParentModel(id: 1, requiredChild: .row(3)))
        rig.manager.deleteModel(ChildModel.row(3))
        a.setData(ParentModel(id: 1, name: "anew", requiredChild: .row(4)))
        await rig.flush()
        #expect(a.data?.name == "anew" && rig.cache.model("ParentModel:1") == a.data)
    }

    @Test("Cascades of many deletions save all changed collections")
    func manyCascades() async {
        let list = await rig.collection("key")
        list.setData([.named(0, "a"), .named(500, "stays"), .named(1, "b")], cacheKey: "key")
        for id in 0..<200 { rig.manager.deleteModel(ParentModel(id: id)) }
        await rig.flush()
        #expect(list.data.ids == [500] && rig.cache.collection("key") == list.data)
    }

    @Test("A cascade reaches a collection that is being fetched, also behind later updates")
    func cascadeWhileFetching() async {
        let rig = Rig(HeldCache())
        let list = await rig.collection()
        list.fetchDataFromCache(withCacheKey: "key") { _, _ in }
        await rig.cache.waitForReads(1)
        rig.manager.deleteModel(ParentModel(id: 1))
        rig.manager.updateModel(ParentModel.named(2, "new"))
        rig.cache.reply("key", all: [ParentModel(id: 1), ParentModel(id: 2)])
        await rig.flush()
        #expect(list.data.names == ["new"])
        #expect(rig.cache.calls.last == "set all key [\"ParentModel:2\"]")
    }

    @Test("A deletion that does not go to the cache has no cascade there")
    func cascadeWithoutCache() async {
        let (a, list) = (rig.single(), await rig.collection("key"))
        a.setData(ParentModel(id: 1, requiredChild: .row(3)))
        list.setData([ParentModel(id: 2, requiredChild: .row(3))], cacheKey: "key")
        rig.manager.deleteModel(ChildModel.row(3), updateCache: false)
        await rig.flush()
        #expect(a.data == nil && list.isEmpty)
        #expect(
            rig.cache.calls.filter { $0.hasPrefix("delete") } == []
                && rig.cache.count("set all") == 1)
    }

    @Test("A cache that accepts edits is not told of a cascade")
    func cascadeInEngine() async {
        let rig = Rig(EditingCache())
        let (a, list) = (rig.single(), await rig.collection("key"))
        a.setData(ParentModel(id: 1, requiredChild: .row(3)))
        list.setData([ParentModel(id: 2, requiredChild: .row(3)), .named(3, "c")], cacheKey: "key")
        rig.manager.deleteModel(ChildModel.row(3))
        await rig.flush()
        #expect(
            list.data.ids == [3] && rig.cache.count("delete") == 1
                && rig.cache.count("set all") == 1)
    }
}

/// Records whether it is called on the main thread.
private final class ThreadCache: CacheDelegate {
    let onMain = Guarded<[Bool]>([])

    private func record() { onMain.withLock { $0.append(isMainThread) } }

    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
        record()
        completion(nil, nil)
    }
    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) { record() }
    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) {
        record()
        completion(nil, nil)
    }
    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {
        record()
    }
    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) { record() }
}
