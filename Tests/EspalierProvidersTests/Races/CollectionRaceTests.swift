import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

/// Everything on the main actor without an `await` in between precedes what the consistency manager
/// delivers for it.
@MainActor @Suite("Collections survive races")
struct CollectionRaceTests {
    let rig = Rig()
    let delegate = Delegate()

    private func list(_ ids: Int...) async -> CollectionDataProvider<ChildModel> {
        rig.cache.put(ids.map { ChildModel.row($0, "old") }, "key")
        return await rig.collection("key", of: ChildModel.self, delegate)
    }

    //  main                        consistency manager
    //  post 2 "new"
    //  insert 9 at 0
    //                              2 is new: it is at 2 by now
    @Test("An update in progress during an edit finds its row")
    func updateWhileEdited() async {
        let provider = await list(1, 2, 3)
        rig.manager.updateModel(ChildModel.row(2, "new"), context: "update")
        provider.insert([.row(9)], at: 0)
        provider.remove(at: 1)
        await rig.flush()
        #expect(provider.data == [.row(9), .row(2, "new"), .row(3, "old")])
        #expect(
            delegate.changes == [.changes([.update(index: 1)])] && delegate.contexts == ["update"])
    }

    //  main                        consistency manager
    //  post 2 "older"
    //  append 2 "newer"
    //                              2 is older: the old row, not the appended one
    //                              2 is newer: both
    @Test("An older update does not overwrite a newer element")
    func newerElement() async {
        let provider = await list(1, 2)
        rig.manager.updateModel(ChildModel.row(2, "older"), updateCache: false)
        provider.append([.row(2, "newer")])
        var seen: [[String?]] = []
        delegate.onCall = { seen.append(provider.data.map(\.name)) }
        await rig.flush()
        #expect(seen == [["old", "older", "newer"], ["old", "newer", "newer"]])
    }

    //  main                        consistency manager
    //  post 1 "older"
    //  delete 2
    //  append 1 "newer"
    //  post 3 "new"
    //                              the updates of 1 and the deletion of 2 concern the old rows
    @Test("A deletion in progress moves appended elements, which stay protected from older updates")
    func deletionMoves() async {
        let provider = await list(2, 1, 3)
        rig.manager.deleteModel(ChildModel.row(2))
        rig.manager.updateModel(ChildModel.row(1, "older"))
        provider.append([.row(1, "newer")])
        var seen: [[String?]] = []
        delegate.onCall = { seen.append(provider.data.map(\.name)) }
        await rig.flush()
        #expect(
            seen == [
                ["old", "old", "newer"], ["older", "old", "newer"], ["newer", "old", "newer"],
            ])
        rig.manager.updateModel(ChildModel.row(3, "new"))
        await rig.flush()
        #expect(provider.data.map(\.name) == ["newer", "new", "newer"])
    }

    //  main                        consistency manager
    //  delete 2
    //  append 2
    //                              the deletion concerns the row before
    @Test("An element that is appended after its deletion stays")
    func appendedAfterDeletion() async {
        let provider = await list(1, 2)
        rig.manager.deleteModel(ChildModel.row(2))
        provider.append([.row(2, "anew")])
        await rig.flush()
        #expect(provider.data == [.row(1, "old"), .row(2, "anew")])
        #expect(rig.cache.collection("key") == provider.data)
    }

    //  main                        consistency manager
    //  post 1 "older"
    //  set 1 "set"
    //                              1 is older than the collection
    @Test("An update in progress while the collection is set is dropped")
    func updateWhileSet() async {
        let provider = await list(1)
        rig.manager.updateModel(ChildModel.row(1, "older"))
        provider.setData([.row(2, "set"), .row(1, "set")], cacheKey: "key")
        await rig.flush()
        #expect(provider.data.map(\.name) == ["set", "set"] && delegate.calls == 0)
    }

    //  main                        cache
    //  fetch
    //                              reads 1 "old"
    //  set 1 "set" by a sibling
    //                              replies
    @Test("A fetch that a sibling overtakes shows the sibling's elements")
    func siblingSets() async {
        let rig = Rig(HeldCache())
        let (a, b) = (
            await rig.collection(of: ChildModel.self, delegate),
            await rig.collection(of: ChildModel.self)
        )
        var result: [ChildModel]?
        a.fetchDataFromCache(withCacheKey: "key") { elements, _ in result = elements }
        await rig.cache.waitForReads(1)
        b.setData([.row(1, "set")], cacheKey: "key")
        b.append([.row(2, "appended")])
        rig.cache.reply("key", all: [ChildModel.row(1, "old")])
        await rig.flush()
        #expect(result == b.data && a.data == b.data && a.data.count == 2 && delegate.calls == 0)
    }

    @Test("A fetch shows the elements of a sibling that is deallocated before the reply")
    func siblingDies() async {
        let rig = Rig(HeldCache())
        let a = await rig.collection(of: ChildModel.self)
        a.fetchDataFromCache(withCacheKey: "key") { _, _ in }
        await rig.cache.waitForReads(1)
        CollectionDataProvider.setData(
            [ChildModel.row(1, "set")], cacheKey: "key", dataModelManager: rig.manager)
        rig.cache.reply("key", all: [ChildModel.row(1, "old")])
        await rig.flush()
        #expect(a.data.map(\.name) == ["set"])
    }

    @Test("A fetch whose sibling is deallocated without elements shows those of the cache")
    func siblingDiesUnknown() async {
        let rig = Rig(HeldCache())
        let a = await rig.collection(of: ChildModel.self)
        var b: CollectionDataProvider<ChildModel>? = await rig.collection(of: ChildModel.self)
        a.fetchDataFromCache(withCacheKey: "key") { _, _ in }
        b?.fetchDataFromCache(withCacheKey: "key") { _, _ in }
        await rig.cache.waitForReads(2)
        b = nil
        rig.cache.reply("key", all: [ChildModel.row(1, "first")])
        rig.cache.reply("key", all: [ChildModel.row(1, "second")])
        await rig.flush()
        #expect(a.data.map(\.name) == ["first"] && b == nil)
        let c = await rig.collection(of: ChildModel.self)
        var result: [ChildModel]?
        c.fetchDataFromCache(withCacheKey: "key") { elements, _ in result = elements }
        #expect(result == a.data)
    }

    //  main                        cache
    //  shows A, fetches B
    //  A is edited by a sibling
    //                              replies B
    @Test("A sibling's edit of the shown collection does not stop a fetch of another")
    func siblingEdits() async {
        let rig = Rig(HeldCache())
        let (a, b) = (
            await rig.collection(of: ChildModel.self), await rig.collection(of: ChildModel.self)
        )
        a.setData([.row(1)], cacheKey: "A")
        b.setData([.row(1)], cacheKey: "A")
        a.fetchDataFromCache(withCacheKey: "B") { _, _ in }
        await rig.cache.waitForReads(1)
        b.append([.row(2)])
        rig.cache.reply("B", all: [ChildModel.row(5)])
        await rig.flush()
        #expect(a.data.map(\.id) == [5] && a.cacheKey == "B")
    }

    //  main                        cache
    //  fetch
    //  post 1 "new", delete 2
    //                              reads 1 "old", 2
    //                              replies
    @Test("A fetched collection catches up with updates and deletions during the read")
    func caughtUp() async {
        let rig = Rig(HeldCache())
        let a = await rig.collection(of: ChildModel.self, delegate)
        a.fetchDataFromCache(withCacheKey: "key") { _, _ in }
        await rig.cache.waitForReads(1)
        rig.manager.updateModel(ChildModel.row(1, "new"))
        rig.manager.deleteModel(ChildModel.row(2))
        await rig.manager.consistencyManager.flush()
        rig.cache.reply("key", all: [ChildModel.row(1, "old"), .row(2, "old"), .row(3, "old")])
        await rig.flush()
        #expect(a.data == [.row(1, "new"), .row(3, "old")])
        rig.manager.updateModel(ChildModel.row(3, "new"))
        await rig.flush()
        #expect(a.data.map(\.name) == ["new", "new"])
    }

    //  main                        cache
    //  fetch A
    //  fetch B
    //                              replies B
    //                              replies A: the past
    @Test(
        "Of two fetches the later one counts, whatever the order of replies",
        arguments: [false, true])
    func twoFetches(reversed: Bool) async {
        let rig = Rig(HeldCache())
        let provider = await rig.collection(of: ChildModel.self)
        var results: [[Int?]?] = []
        for key in ["A", "B"] {
            provider.fetchDataFromCache(withCacheKey: key) { elements, _ in
                results.append(elements?.map(\.id))
            }
        }
        await rig.cache.waitForReads(2)
        for key in reversed ? ["B", "A"] : ["A", "B"] {
            rig.cache.reply(key, all: [ChildModel.row(key == "A" ? 1 : 2)])
            let count = results.count
            await until { results.count > count }
        }
        await rig.flush()
        #expect(provider.data == [.row(2)] && provider.cacheKey == "B")
        #expect(results == (reversed ? [[2], [2]] : [[1], [2]]))
    }

    @Test("A provider that is set to another key during a fetch stays there")
    func movedWhileFetching() async {
        let rig = Rig(HeldCache())
        let provider = await rig.collection(of: ChildModel.self)
        var result: [ChildModel]?
        provider.fetchDataFromCache(withCacheKey: "A") { elements, _ in result = elements }
        await rig.cache.waitForReads(1)
        provider.setData([.row(5)], cacheKey: "B")
        rig.cache.reply("A", all: [ChildModel.row(1)])
        await rig.flush()
        #expect(provider.data == [.row(5)] && provider.cacheKey == "B" && result == [.row(5)])
    }

    //  main                        cache
    //  append 1, append 2, ...
    //                              replies: nothing there
    //  1 makes it; 2 finds it made
    @Test(
        "Appends to a missing collection run one after the other, however many",
        arguments: [2, 500])
    func appendsWhileMissing(count: Int) async {
        let rig = Rig(HeldCache())
        var done: [Int] = []
        for id in 1...count {
            CollectionDataProvider.append(
                [ChildModel.row(id)], cacheKey: "key", dataModelManager: rig.manager
            ) { _ in
                done.append(id)
            }
        }
        await rig.cache.waitForReads(1)
        #expect(done == [])
        rig.cache.reply("key", all: nil)
        await rig.flush()
        #expect(done == Array(1...count) && rig.cache.calls.count == count)
        if count == 2 {
            #expect(rig.cache.calls.last == "set all key [\"ChildModel:1\", \"ChildModel:2\"]")
        }
    }

    @Test("An edit in the completion of an edit follows those that wait")
    func editInCompletion() async {
        let rig = Rig()
        typealias Provider = CollectionDataProvider<ChildModel>
        Provider.append([ChildModel.row(1)], cacheKey: "key", dataModelManager: rig.manager) { _ in
            Provider.append([ChildModel.row(3)], cacheKey: "key", dataModelManager: rig.manager)
        }
        Provider.append([ChildModel.row(2)], cacheKey: "key", dataModelManager: rig.manager)
        await rig.flush()
        #expect(rig.cache.collection("key", ChildModel.self)?.map(\.id) == [1, 2, 3])
    }

    //  any thread                  main                            cache
    //  post, save, post ...
    //                              append, update, remove ...
    //                                                              sometimes out of date, or failed
    //                              sends everything, with models older than those saved since
    //                              gets those, and sends everything again
    @Test(
        "Concurrent updates and lost edits leave memory and cache equal",
        arguments: 0..<10)
    func manyThreads(_ round: Int) async {
        let rig = Rig(EditingCache())
        let list = await rig.collection("key", of: ChildModel.self)
        list.setData((0..<6).map { .row($0) }, cacheKey: "key")
        let manager = rig.manager
        let posting = (0..<3).map { thread in
            Task.detached {
                for number in 0..<100 {
                    manager.updateModel(ChildModel.row(number % 6, "\(thread) \(number)"))
                    if number % 10 == 0 { await Task.yield() }
                }
            }
        }
        for number in 0..<60 {
            switch number % 4 {
            case 0: rig.cache.answerNext(number % 8 == 0 ? .outOfDate : .failed(CacheFailure()))
            case 1: list.insert([.row(number % 6, "inserted \(number)")], at: number % list.count)
            case 2:
                list.update(
                    .row((number + 1) % 6, "updated \(number)"), at: (number * 7) % list.count)
            default: list.remove(at: (number * 5) % list.count)
            }
            await Task.yield()
        }
        for task in posting { await task.value }
        await rig.flush()
        rig.cache.state.withLock { $0.outcomes = [] }
        // The first saved edit sends what the cache lacks.
        for id in 6...7 {
            list.append([.row(id)])
            await rig.flush()
        }
        #expect(rig.cache.collection("key", ChildModel.self)?.map(\.id) == list.data.map(\.id))
        for model in list.data { #expect(rig.cache.model(model.modelIdentifier ?? "") == model) }
    }

    //  main                        cache
    //  append 9: reads "key"
    //  set [1]
    //                              replies [0]
    @Test("A static set waits for the static edits before it")
    func staticSetAfterEdit() async {
        let rig = Rig(HeldCache())
        CollectionDataProvider.append(
            [ParentModel.named(9, "")], cacheKey: "key", dataModelManager: rig.manager)
        await rig.cache.waitForReads(1)
        CollectionDataProvider.setData(
            [ParentModel.named(1, "")], cacheKey: "key", dataModelManager: rig.manager)
        rig.cache.reply("key", all: [ParentModel.named(0, "")])
        await rig.flush()
        #expect(rig.cache.calls.last == #"set all key ["ParentModel:1"]"#)
    }
}
