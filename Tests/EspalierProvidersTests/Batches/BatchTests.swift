import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("A batch of providers combines their notifications")
struct BatchTests {
    let rig = Rig()
    let batchDelegate = Delegate()
    let delegate = Delegate()
    let listDelegate = Delegate()

    private final class Kept {
        var batch: BatchDataProviderListener?
    }
    private let kept = Kept()

    private func batch(
        _ name: String = "old"
    ) async -> (
        DataProvider<ParentModel>, CollectionDataProvider<ParentModel>, BatchDataProviderListener
    ) {
        let (single, list) = (
            rig.single(ParentModel.self, delegate),
            await rig.collection(of: ParentModel.self, listDelegate)
        )
        let batch = BatchDataProviderListener(
            dataProviders: [single, list], dataModelManager: rig.manager)
        batch.delegate = batchDelegate
        kept.batch = batch
        single.setData(.named(1, name))
        list.setData([.named(1, name), .named(2, name)], cacheKey: nil)
        return (single, list, batch)
    }

    @Test("A batch is notified of a changed provider after the provider's delegate")
    func one() async {
        let (_, list, _) = await batch()
        var order: [String] = []
        listDelegate.onCall = { order.append("list") }
        batchDelegate.onCall = { order.append("batch") }
        rig.manager.updateModel(ParentModel.named(2, "new"), context: "context")
        await rig.flush()
        #expect(order == ["list", "batch"] && delegate.calls == 0)
        #expect(
            batchDelegate.touched == [[ObjectIdentifier(list)]]
                && batchDelegate.contexts == ["context"])
    }

    @Test("A batch is notified once of two providers that one update changes")
    func both() async {
        let (single, list, _) = await batch()
        rig.manager.updateModel(ParentModel.named(1, "new"), context: "one")
        rig.manager.updateModels(
            [ParentModel.named(2, "x"), ParentModel.named(1, "y")], context: "two")
        await rig.flush()
        let both = [ObjectIdentifier(single), ObjectIdentifier(list)]
        #expect(batchDelegate.touched == [both, both] && batchDelegate.contexts == ["one", "two"])
        #expect(
            delegate.calls == 2 && listDelegate.calls == 2 && single.lastUpdated == list.lastUpdated
        )
        #expect(listDelegate.changes.last == .changes([.update(index: 1), .update(index: 0)]))
    }

    @Test("The providers of a batch that is released when it resumes are resumed")
    func releasedBatch() async {
        // Only `kept` holds the batch.
        let (single, list, _) = await batch()
        kept.batch?.isPaused = true
        rig.manager.updateModels([ParentModel.named(1, "x"), ParentModel.named(2, "y")])
        await rig.flush()
        #expect(list.data.map(\.name) == ["old", "old"])
        kept.batch?.isPaused = false
        kept.batch = nil
        await until { single.data?.name == "x" && list.data.map(\.name) == ["x", "y"] }
        #expect(!list.isPaused && !single.isPaused)
    }

    @Test("A batch names two collections of one key in one call")
    func sameKey() async {
        let lists = [await rig.collection("key"), await rig.collection("key")]
        let author = await rig.collection("key")
        let batch = BatchDataProviderListener(dataProviders: lists, dataModelManager: rig.manager)
        batch.delegate = batchDelegate
        author.append([.named(1, "a")], context: "edit")
        rig.manager.updateModel(ParentModel.named(1, "new"), context: "update")
        await rig.flush()
        let both = lists.map { ObjectIdentifier($0) }
        #expect(
            batchDelegate.touched == [both, both] && batchDelegate.contexts == ["edit", "update"])
    }

    @Test("A batch does not name the provider that made the edit")
    func author() async {
        let lists = [await rig.collection("key"), await rig.collection("key")]
        let batch = BatchDataProviderListener(dataProviders: lists, dataModelManager: rig.manager)
        batch.delegate = batchDelegate
        lists[0].append([.named(1, "a")])
        #expect(batchDelegate.touched == [[ObjectIdentifier(lists[1])]])
        await rig.flush()
        #expect(batchDelegate.calls == 1)
    }

    @Test("A batch does not name providers that show something newer")
    func stale() async {
        let (single, list, _) = await batch()
        await rig.flush()
        rig.manager.updateModel(ParentModel.named(1, "update"), updateCache: false)
        single.setData(.named(1, "newer"))
        await rig.flush()
        #expect(batchDelegate.touched == [[ObjectIdentifier(list)], [ObjectIdentifier(list)]])
        #expect(single.data?.name == "newer" && list[0].name == "newer" && delegate.calls == 0)
    }

    @Test(
        "A batch is notified of changes of models that its providers show later", arguments: 0..<3)
    func newElements(_ way: Int) async {
        let (single, list, _) = await batch()
        switch way {
        case 0: list.update(.named(5, "initial"), at: 0)
        case 1: list.insert([.named(5, "initial")], at: 0)
        default: single.setData(.named(5, "initial"))
        }
        rig.manager.updateModel(ParentModel.named(5, "new"), context: "context")
        await rig.flush()
        #expect(batchDelegate.contexts == ["context"])
        #expect(
            batchDelegate.touched == [
                [way == 2 ? ObjectIdentifier(single) : ObjectIdentifier(list)]
            ])
    }

    @Test("A deletion that changes both providers of a batch is one call")
    func deletion() async {
        let (single, list, _) = await batch()
        rig.manager.deleteModel(ParentModel(id: 1), context: "gone")
        await rig.flush()
        #expect(batchDelegate.touched == [[ObjectIdentifier(single), ObjectIdentifier(list)]])
        #expect(single.data == nil && list.data.ids == [2])
    }

    @Test("A batch holds its providers, and they do not hold it")
    func lifetime() async {
        var single: DataProvider<ParentModel>? = rig.single()
        weak let reference = single
        var batch: BatchDataProviderListener? = BatchDataProviderListener(
            dataProviders: [rig.single()], dataModelManager: rig.manager)
        weak let batchReference = batch
        if let provider = single {
            batch = BatchDataProviderListener(
                dataProviders: [provider], dataModelManager: rig.manager)
        }
        #expect(batchReference == nil)
        single = nil
        #expect(reference != nil && reference?.batchListener === batch)
        batch = nil
        await rig.flush()
        #expect(reference == nil)
    }

    @Test("The consistency manager of a batch is that of its data model manager")
    func manager() async {
        let (_, _, batch) = await batch()
        #expect(batch.consistencyManager === rig.manager.consistencyManager)
    }

    @Test("A resumed batch names a model and a list in one call, when both show their changes")
    func resumedOnce() async {
        let (single, list, batch) = await batch()
        batch.isPaused = true
        rig.manager.updateModel(ParentModel.named(1, "new"), context: "missed")
        await rig.flush()
        #expect(single.data?.name == "old" && list[0].name == "old")
        batchDelegate.onCall = { #expect(single.data?.name == "new" && list[0].name == "new") }
        batch.isPaused = false
        await rig.flush()
        #expect(batchDelegate.touched == [[ObjectIdentifier(single), ObjectIdentifier(list)]])
        #expect(
            delegate.calls == 1 && listDelegate.calls == 1 && batchDelegate.contexts == ["missed"])
    }

    @Test("A batch that is paused again before it has resumed does not change")
    func pausedAgain() async {
        let (single, list, batch) = await batch()
        batch.isPaused = true
        rig.manager.updateModel(ParentModel.named(1, "new"))
        await rig.flush()
        batch.isPaused = false
        batch.isPaused = true
        await rig.flush()
        #expect(single.data?.name == "old" && list[0].name == "old" && batchDelegate.calls == 0)
        batch.isPaused = false
        await rig.flush()
        #expect(single.data?.name == "new" && list[0].name == "new" && batchDelegate.calls == 1)
    }

    @Test("A provider that was paused before it joined is resumed by its batch")
    func pausedBefore() async {
        let (single, list) = (rig.single(), await rig.collection())
        single.setData(.named(1, "old"))
        list.setData([.named(1, "old")], cacheKey: nil)
        single.isPaused = true
        list.isPaused = true
        let batch = BatchDataProviderListener(
            dataProviders: [single, list], dataModelManager: rig.manager)
        #expect(single.isPaused && list.isPaused)
        rig.manager.updateModel(ParentModel.named(1, "new"))
        list.isPaused = false
        await rig.flush()
        #expect(
            single.data?.name == "new" && list[0].name == "new" && !batch.isPaused && !list.isPaused
        )
    }
}
