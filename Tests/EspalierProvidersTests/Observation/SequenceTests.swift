import EspalierModels
import EspalierProviders
import Testing

@testable import EspalierConsistency

@MainActor @Suite("Providers publish asynchronous sequences")
struct SequenceTests {
    let rig = Rig()

    @Test("Values begin with the current model, and skip those that were overtaken")
    func values() async {
        let provider = rig.single()
        var values = provider.values.makeAsyncIterator()
        #expect(await values.next() == .some(nil))
        for name in ["a", "b", "c"] { provider.setData(.named(1, name)) }
        #expect(await values.next()??.name == "c")
        rig.manager.updateModel(ParentModel.named(1, "d"))
        #expect(await values.next()??.name == "d")
        let list = await rig.collection()
        list.setData([.named(1, "a")], cacheKey: nil)
        var lists = list.values.makeAsyncIterator()
        #expect(await lists.next()?.count == 1)
        list.append([.named(2, "b")])
        list.append([.named(3, "c")])
        #expect(await lists.next()?.ids == [1, 2, 3])
    }

    @Test("Every sequence gets all values")
    func independent() async {
        let provider = rig.single()
        provider.setData(.named(1, "a"))
        var (first, second) = (
            provider.values.makeAsyncIterator(), provider.values.makeAsyncIterator()
        )
        #expect(await first.next()??.name == "a")
        #expect(await second.next()??.name == "a")
    }

    @Test("Changes contain all changes with their origins, including the provider's own")
    func singleChanges() async throws {
        rig.cache.put(ParentModel.named(2, "cached"))
        let provider = rig.single()
        var changes = provider.changes.makeAsyncIterator()
        provider.setData(.named(1, "own"), context: "c1")
        rig.manager.updateModel(ParentModel.named(1, "update"), context: "c2")
        await rig.flush()
        _ = try await provider.fetch("ParentModel:2")
        rig.manager.deleteModel(ParentModel(id: 2), context: "c3")
        await rig.flush()
        provider.setData(nil)
        var seen: [String] = []
        for _ in 0..<5 {
            guard let change = await changes.next() else { break }
            seen.append(
                "\(change.origin) \(change.data?.name ?? "-") \(change.context as? String ?? "-")")
        }
        #expect(
            seen == ["own own c1", "update update c2", "cache cached -", "update - c3", "own - -"])
    }

    @Test("A collection's changes contain the elements before and after, and the steps")
    func collectionChanges() async {
        rig.cache.put([ChildModel.row(7)], "other")
        let (a, b) = (
            await rig.collection("key", of: ChildModel.self),
            await rig.collection("key", of: ChildModel.self)
        )
        let changes = a.changes
        a.append([.row(1), .row(2)], context: "own")
        b.insert([.row(3)], at: 1, context: "sibling")
        rig.manager.updateModel(ChildModel.row(2, "new"), context: "update")
        await rig.flush()
        b.setData([.row(4)], cacheKey: "key", context: "set")
        a.isPaused = true
        b.append([.row(5)], context: "paused")
        a.isPaused = false
        _ = try? await a.fetch("other")
        var seen: [String] = []
        var list: [ChildModel] = []
        for await change in changes {
            #expect(change.previous == list)
            #expect(list.applying(change.difference) == change.data)
            list = change.data
            seen.append(
                "\(change.origin) \(change.context as? String ?? "-") "
                    + "\(change.data.map { $0.id ?? 0 })"
            )
            if seen.count == 6 { break }
        }
        #expect(
            seen == [
                "own own [1, 2]", "sibling sibling [1, 3, 2]", "update update [1, 3, 2]",
                "sibling set [4]",
                "sibling paused [4, 5]", "cache - [7]",
            ])
    }

    @Test("Changes lose nothing, however slow the reader is")
    func slow() async {
        let provider = rig.single(ChildModel.self)
        let changes = provider.changes
        for number in 0..<1_000 { provider.setData(.row(number)) }
        var count = 0
        for await change in changes {
            #expect(change.data?.id == count)
            count += 1
            if count == 1_000 { break }
        }
    }

    @Test("Sequences end with their provider, and do not keep it alive")
    func end() async {
        var single: DataProvider<ParentModel>? = rig.single()
        var list: CollectionDataProvider<ParentModel>? = await rig.collection("key")
        single?.setData(.named(1, "a"))
        list?.append([.named(1, "a")])
        let (values, changes) = (single?.values, list?.changes)
        let (otherValues, otherChanges) = (list?.values, single?.changes)
        weak let (singleReference, listReference) = (single, list)
        await rig.flush()
        (single, list) = (nil, nil)
        #expect(singleReference == nil && listReference == nil)
        var count = 0
        if let values { for await _ in values { count += 1 } }
        if let otherValues { for await _ in otherValues { count += 1 } }
        if let changes { for await _ in changes { count += 10 } }
        if let otherChanges { for await _ in otherChanges { count += 10 } }
        #expect(count == 2)
    }

    @Test("The sequence of a cancelled task ends, and the others continue")
    func cancelled() async {
        let provider = rig.single()
        let values = provider.values
        let task = Task { for await _ in values {} }
        task.cancel()
        await task.value
        var others = provider.values.makeAsyncIterator()
        _ = await others.next()
        provider.setData(.named(1, "a"))
        #expect(await others.next()??.name == "a")
    }
}

@MainActor @Suite("The life of a provider depends on its owners only")
struct LifetimeTests {
    @Test("Completed fetches, edits and the manager do not keep a provider alive")
    func done() async throws {
        let rig = Rig()
        rig.cache.put([ParentModel.named(1, "a")], "key")
        var single: DataProvider<ParentModel>? = rig.single()
        var list: CollectionDataProvider<ParentModel>? = await rig.collection("key")
        single?.modelIdentifier = "ParentModel:5"
        single?.isPaused = true
        rig.manager.updateModel(ParentModel.named(5, "e"))
        _ = try await single?.fetch("ParentModel:1")
        await rig.flush()
        single?.isPaused = false
        list?.append([.named(2, "b")])
        list?.isPaused = true
        rig.manager.updateModel(ParentModel.named(2, "new"))
        await rig.flush()
        weak let (singleReference, listReference) = (single, list)
        (single, list) = (nil, nil)
        #expect(singleReference == nil && listReference == nil)
        rig.manager.updateModel(ParentModel.named(2, "newer"))
        await rig.flush()
    }

    @Test("The index releases the nodes of a deallocated provider at once")
    func givenBack() async {
        let rig = Rig()
        let worker = rig.manager.consistencyManager.worker
        do {
            let (single, list) = (rig.single(), await rig.collection(of: ParentModel.self))
            single.setData(.named(1, "a"))
            for _ in 0..<3 { list.setData([.named(1, "a"), .named(2, "b")], cacheKey: nil) }
            await rig.flush()
            // A model and its child, both twice in the list, and the list itself.
            #expect(await worker.nodeCount == 7)
        }
        await rig.flush()
        #expect(await worker.nodeCount == 0)
    }

    @Test("A fetch in progress keeps its provider alive until the reply")
    func underWay() async {
        let rig = Rig(HeldCache())
        var single: DataProvider<ParentModel>? = rig.single()
        weak let reference = single
        var result: ParentModel?
        single?.fetchDataFromCache(withCacheKey: "ParentModel:1") { model, _ in result = model }
        single = nil
        await rig.cache.waitForReads(1)
        #expect(reference != nil)
        rig.cache.reply("ParentModel:1", ParentModel.named(1, "a"), again: true)
        await rig.flush()
        #expect(result?.name == "a" && reference == nil)
    }

    @Test("A manager is deallocated with its last provider")
    func manager() async {
        var rig: Rig? = Rig()
        weak let reference = rig?.manager
        rig?.single().setData(.named(1, "a"))
        await rig?.flush()
        rig = nil
        await until { reference == nil }
    }
}
