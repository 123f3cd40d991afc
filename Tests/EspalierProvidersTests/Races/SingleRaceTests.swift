import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("Single providers survive races")
struct SingleRaceTests {
    let rig = Rig(HeldCache())
    let delegate = Delegate()

    //  main                        cache
    //  fetch 1
    //                              reads 1 "old"
    //  set 1 "newer"
    //                              replies
    @Test(
        "A reply after a newer set shows the model that was set", arguments: [false, true])
    func setWhileFetching(toNil: Bool) async {
        let provider = rig.single(ParentModel.self, delegate)
        var results: [ParentModel?] = []
        provider.fetchDataFromCache(withCacheKey: "ParentModel:1") { model, _ in
            results.append(model)
        }
        await rig.cache.waitForReads(1)
        provider.setData(toNil ? nil : .named(1, "newer"))
        rig.cache.reply("ParentModel:1", ParentModel.named(1, "old"))
        await rig.flush()
        #expect(results.count == 1 && results[0]?.name == (toNil ? nil : "newer"))
        #expect(provider.data?.name == (toNil ? nil : "newer") && delegate.calls == 0)
    }

    @Test("An error after a newer set is not reported")
    func errorAfterSet() async {
        let provider = rig.single()
        var result: (ParentModel?, (any Error)?)
        provider.fetchDataFromCache(withCacheKey: "ParentModel:1") { result = ($0, $1) }
        await rig.cache.waitForReads(1)
        provider.setData(.named(1, "set"))
        rig.cache.reply("ParentModel:1", nil, error: CacheFailure())
        await rig.flush()
        #expect(result.0?.name == "set" && result.1 == nil)
    }

    //  main                        cache
    //  shows 1; fetch 2
    //  fetch 1: shown already
    //                              replies 2: the past
    @Test("A fetch of what is shown makes an earlier fetch out of date")
    func fetchOfShown() async {
        let provider = rig.single()
        provider.setData(.named(1, "one"))
        var results: [Int?] = []
        for id in [2, 1] {
            provider.fetchDataFromCache(withCacheKey: "ParentModel:\(id)") { model, _ in
                results.append(model?.id)
            }
        }
        await rig.cache.waitForReads(1)
        rig.cache.reply("ParentModel:2", ParentModel.named(2, "two"))
        await rig.flush()
        #expect(provider.data?.id == 1 && results == [1, 1])
    }

    //  main                        cache
    //  fetch 1, fetch 2
    //                              replies 2
    //                              replies 1: the past
    @Test(
        "Of two single fetches the later one counts, whatever the order of replies",
        arguments: [false, true])
    func twoFetches(reversed: Bool) async {
        let provider = rig.single()
        var results: [Int?] = []
        for id in 1...2 {
            provider.fetchDataFromCache(withCacheKey: "ParentModel:\(id)") { model, _ in
                results.append(model?.id)
            }
        }
        await rig.cache.waitForReads(2)
        for id in reversed ? [2, 1] : [1, 2] {
            rig.cache.reply("ParentModel:\(id)", ParentModel.named(id, ""))
            let count = results.count
            await until { results.count > count }
        }
        await rig.flush()
        #expect(provider.data?.id == 2 && results == (reversed ? [2, 2] : [1, 2]))
    }

    //  main                        cache
    //  fetch 1
    //                              reads 1 with child 3 "old"
    //  post child 3 "new"
    //                              replies
    @Test(
        "A fetched model catches up with updates during the read",
        arguments: [false, true])
    func caughtUp(delivered: Bool) async {
        let provider = rig.single(ParentModel.self, delegate)
        provider.fetchDataFromCache(withCacheKey: "ParentModel:1") { _, _ in }
        await rig.cache.waitForReads(1)
        rig.manager.updateModel(ChildModel.row(3, "newer"), context: "older")
        rig.manager.updateModel(ChildModel.row(3, "newest"), context: "context")
        if delivered { await rig.manager.consistencyManager.flush() }
        rig.cache.reply("ParentModel:1", ParentModel(id: 1, requiredChild: .row(3, "old")))
        await rig.flush()
        #expect(
            provider.data?.requiredChild.name == "newest" && delegate.contexts.last == "context")
    }

    //  main                        cache
    //  fetch 1
    //                              reads 1
    //  delete 1, or its child
    //                              replies
    @Test(
        "A model that is deleted during its fetch is deleted in the provider",
        arguments: [false, true])
    func deletedWhileFetching(byChild: Bool) async {
        let provider = rig.single(ParentModel.self, delegate)
        provider.fetchDataFromCache(withCacheKey: "ParentModel:1") { _, _ in }
        await rig.cache.waitForReads(1)
        if byChild {
            rig.manager.deleteModel(ChildModel.row(3))
        } else {
            rig.manager.deleteModel(ParentModel(id: 1))
        }
        await rig.manager.consistencyManager.flush()
        rig.cache.reply("ParentModel:1", ParentModel(id: 1, requiredChild: .row(3)))
        await rig.flush()
        #expect(provider.data == nil)
    }

    //  main                        consistency manager
    //  shows 1 with child 3
    //  post child 3 "new"
    //                              reads what is shown: child 3 "old"
    //  another version of 1 comes from the cache
    //                              has rebuilt the first version, which is not shown any more
    @Test("An update for another version does not restore that version", arguments: 0..<20)
    func otherVersion(_ round: Int) async {
        let provider = rig.single(ParentModel.self, delegate)
        provider.setData(ParentModel(id: 1, name: "first", requiredChild: .row(3, "old")))
        await rig.manager.consistencyManager.flush()
        provider.fetchDataFromCache(withCacheKey: "front page") { _, _ in }
        await rig.cache.waitForReads(1)
        rig.manager.updateModel(ChildModel.row(3, "new"))
        for _ in 0..<round { await Task.yield() }
        rig.cache.reply(
            "front page", ParentModel(id: 1, name: "second", requiredChild: .row(3, "old")))
        await rig.flush()
        #expect(provider.data == ParentModel(id: 1, name: "second", requiredChild: .row(3, "new")))
    }

    //  any thread                  main                        cache
    //  post 1, save 1 ...
    //                              fetch: between post and save
    //                                                          reads 1 before it is saved, or after
    //                              catches up if necessary
    @Test("A fetch during concurrent updates misses none")
    func fetchAmidUpdates() async throws {
        let rig = Rig()
        let manager = rig.manager
        manager.updateModel(ChildModel.row(1, "first"))
        for _ in 0..<50 {
            let posting = Task.detached {
                for number in 0..<20 { manager.updateModel(ChildModel.row(1, "\(number)")) }
            }
            let provider = rig.single(ChildModel.self)
            _ = try await provider.fetch("ChildModel:1")
            await posting.value
            await rig.flush()
            #expect(provider.data?.name == "19")
        }
    }

    //  any thread                  main
    //  post, post, ...             set, delete, ...
    //                              everything delivered: memory and cache agree
    @Test("Concurrent updates leave memory and cache equal")
    func manyThreads() async {
        let rig = Rig()
        let (provider, list) = (
            rig.single(ChildModel.self), await rig.collection("key", of: ChildModel.self)
        )
        list.setData((0..<5).map { .row($0) }, cacheKey: "key")
        provider.setData(.row(0))
        let manager = rig.manager
        let posting = (0..<4).map { thread in
            Task.detached {
                for number in 0..<200 {
                    manager.updateModel(ChildModel.row(number % 5, "\(thread) \(number)"))
                    if number % 50 == 0 { await Task.yield() }
                }
            }
        }
        for number in 0..<50 {
            provider.setData(.row(0, "own \(number)"))
            await Task.yield()
        }
        for task in posting { await task.value }
        await rig.flush()
        for model in list.data { #expect(rig.cache.model(model.modelIdentifier ?? "") == model) }
        #expect(provider.data == list.data[0])
    }
}
