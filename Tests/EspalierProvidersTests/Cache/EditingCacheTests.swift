import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("Edits are sent to a cache that accepts them")
struct EditingCacheTests {
    let rig = Rig(EditingCache())

    private func row(_ ids: Int...) -> [ChildModel] { ids.map { .row($0) } }

    private func list(_ ids: Int...) async -> CollectionDataProvider<ChildModel> {
        rig.cache.put(ids.map { ChildModel.row($0) }, "key")
        return await rig.collection("key", of: ChildModel.self)
    }

    @Test("An edit that is out of date sends the whole current collection once")
    func outOfDate() async {
        let provider = await list(1, 2)
        rig.cache.put(row(7, 8, 9), "key")
        provider.append(row(3))
        provider.remove(at: 0)
        provider.insert(row(4), at: 0)
        await rig.flush()
        #expect(rig.cache.collection("key") == provider.data && rig.cache.count("set all") == 1)
        provider.append(row(5))
        await rig.flush()
        #expect(rig.cache.collection("key") == provider.data && rig.cache.count("set all") == 1)
    }

    @Test("An edit of a collection that the cache has evicted sends the whole collection")
    func forgotten() async {
        let provider = await list(1, 2)
        rig.cache.state.withLock { $0.collections = [:] }
        provider.update(.row(3), at: 0)
        await rig.flush()
        #expect(rig.cache.collection("key") == row(3, 2))
    }

    @Test("A failed edit sends the whole collection with the next saved edit")
    func failed() async {
        let provider = await list(1, 2, 3)
        rig.cache.answerNext(.failed(CacheFailure()))
        provider.update(.row(7), at: 0)
        await rig.flush()
        #expect(rig.cache.collection("key") == row(1, 2, 3) && rig.cache.count("set all") == 0)
        provider.update(.row(8), at: 2)
        await rig.flush()
        #expect(rig.cache.collection("key") == row(7, 2, 8) && rig.cache.count("set all") == 1)
        provider.append(row(9))
        await rig.flush()
        #expect(rig.cache.collection("key") == row(7, 2, 8, 9) && rig.cache.count("set all") == 1)
    }

    @Test("An edit that was not saved is sent with the next saved edit")
    func unsaved() async {
        let provider = await list(1, 2, 3)
        provider.update(.row(7), at: 0, shouldCache: false)
        await rig.flush()
        #expect(rig.cache.collection("key") == row(1, 2, 3))
        provider.append(row(4))
        await rig.flush()
        #expect(rig.cache.collection("key") == row(7, 2, 3, 4) && rig.cache.count("set all") == 1)
    }

    @Test("An edit without a reply sends the whole collection with the next edit")
    func noAnswer() async {
        let provider = await list(1, 2)
        rig.cache.isHolding = true
        provider.append(row(3))
        await until { rig.cache.state.withLock { !$0.held.isEmpty } }
        rig.cache.state.withLock { $0.held = [] }
        rig.cache.isHolding = false
        await rig.flush()
        provider.append(row(4))
        await rig.flush()
        #expect(rig.cache.collection("key") == provider.data && rig.cache.count("set all") == 1)
    }

    //  main                        cache
    //  append 3, append 4
    //                              both out of date; the replies are held
    //  append 5
    //                              out of date
    //                              replies, in either order
    //                              gets the whole collection: 1 2 3 4 5, once
    @Test(
        "Late replies that several edits are out of date send the whole collection once",
        arguments: [false, true])
    func answeredLate(reversed: Bool) async {
        let provider = await list(1, 2)
        rig.cache.put(row(9), "key")
        rig.cache.isHolding = true
        provider.append(row(3))
        provider.append(row(4))
        provider.append(row(5))
        await until { rig.cache.state.withLock { $0.held.count == 3 } }
        rig.cache.isHolding = false
        rig.cache.release(reversed: reversed)
        await rig.flush()
        #expect(
            rig.cache.collection("key") == row(1, 2, 3, 4, 5) && rig.cache.count("set all") == 1)
    }

    //  main                        cache
    //  append 3
    //                              out of date; the reply is held
    //  set 7
    //                              gets 7
    //                              replies: out of date, ignored
    @Test("A late reply after the collection was set does not send it again")
    func answeredAfterSet() async {
        let provider = await list(1, 2)
        rig.cache.answerNext(.outOfDate)
        rig.cache.isHolding = true
        provider.append(row(3))
        await until { rig.cache.state.withLock { $0.held.count == 1 } }
        provider.setData(row(7), cacheKey: "key")
        rig.cache.isHolding = false
        rig.cache.release()
        await rig.flush()
        #expect(rig.cache.collection("key") == row(7) && rig.cache.count("set all") == 1)
    }

    //  main                        cache                           consistency manager
    //  delete 1
    //  append 3, with 1 expected
    //                              1 is gone: out of date
    //                                                              removes 1 from the list
    //                              gets the whole collection: 2 3
    @Test("An edit that a deletion overtakes does not store the deleted model")
    func deletedMeanwhile() async {
        let provider = await list(1, 2)
        for round in 0..<20 {
            rig.manager.deleteModel(ChildModel.row(provider.data[0].id ?? 0))
            provider.append(row(3 + round))
            await rig.flush()
            #expect(rig.cache.collection("key") == provider.data && provider.count == 2)
        }
    }

    //  main                        cache                           consistency manager
    //  post 1 "new", save it
    //  append 3, with everything
    //                              has 1 "new"
    //                              gets the whole collection, with 1 "old"
    //                                                              1 becomes "new" in the list
    //                              gets the whole collection, with 1 "new"
    @Test("Sending a whole collection during an update does not restore the older model")
    func updatedMeanwhile() async {
        let provider = await list(1, 2)
        rig.cache.answerNext(.failed(CacheFailure()))
        provider.append(row(4))
        await rig.flush()
        rig.manager.updateModel(ChildModel.row(1, "new"))
        provider.append(row(3))
        await rig.flush()
        #expect(rig.cache.model("ChildModel:1") == ChildModel.row(1, "new"))
        #expect(rig.cache.collection("key") == provider.data && provider.count == 4)
    }

    @Test("A deallocated provider's last edits are saved, even if they are out of date")
    func diedMeanwhile() async {
        var provider: CollectionDataProvider<ChildModel>? = await list(1, 2)
        rig.cache.answerNext(.outOfDate)
        provider?.append(row(3))
        weak let reference = provider
        provider = nil
        #expect(reference == nil)
        await rig.flush()
        #expect(rig.cache.collection("key") == row(1, 2, 3))
    }

    @Test("Only saved edits are sent, and an append creates a missing collection")
    func making() async {
        let provider = await rig.collection("new", of: ChildModel.self)
        provider.append(row(1), shouldCache: false)
        await rig.flush()
        #expect(rig.cache.calls.filter { $0 != "flush" } == [])
        provider.append(row(2))
        await rig.flush()
        #expect(rig.cache.collection("new") == row(1, 2) && rig.cache.count("set all") == 1)
    }
}
