import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("A single provider waits for a model")
struct WaitingTests {
    let rig = Rig()
    let delegate = Delegate()

    private func waiting(_ id: Int = 1) -> DataProvider<ParentModel> {
        let provider = rig.single(ParentModel.self, delegate)
        provider.modelIdentifier = "ParentModel:\(id)"
        return provider
    }

    @Test("A waiting provider shows the first model of its identifier, and its updates")
    func byIdentifier() async {
        let provider = waiting()
        #expect(provider.modelIdentifier == "ParentModel:1" && provider.data == nil)
        rig.manager.updateModel(ParentModel.named(2, "other"))
        rig.manager.updateModel(ParentModel.named(1, "first"), context: "context")
        await rig.flush()
        #expect(provider.data?.name == "first" && delegate.contexts == ["context"])
        rig.manager.updateModel(ParentModel.named(1, "second"), context: "later")
        await rig.flush()
        #expect(provider.data?.name == "second" && delegate.contexts == ["context", "later"])
    }

    @Test("A waiting provider shows a model that arrives as a child, or in a collection")
    func asChild() async {
        let provider = rig.single(ChildModel.self, delegate)
        provider.modelIdentifier = "ChildModel:5"
        rig.single().setData(ParentModel(id: 1, requiredChild: .row(5, "child")))
        await rig.flush()
        #expect(provider.data?.name == "child")
        let other = waiting(9)
        let list = await rig.collection()
        list.setData([.named(9, "element")], cacheKey: nil)
        await rig.flush()
        #expect(other.data?.name == "element")
    }

    @Test("Setting modelIdentifier has no effect with a model, and nil ends the wait")
    func setter() async {
        let provider = rig.single(ParentModel.self, delegate)
        provider.setData(.named(2, "shown"))
        provider.modelIdentifier = "ParentModel:1"
        #expect(provider.modelIdentifier == "ParentModel:2")
        let other = waiting()
        other.modelIdentifier = nil
        rig.manager.updateModel(ParentModel.named(1, "a"))
        await rig.flush()
        #expect(provider.data?.id == 2 && other.data == nil && delegate.calls == 0)
    }

    @Test("Setting nothing does not end the wait, unless a model was shown")
    func settingNothing() async {
        let provider = waiting()
        provider.setData(nil)
        #expect(provider.modelIdentifier == "ParentModel:1")
        rig.manager.updateModel(ParentModel.named(1, "first"))
        await rig.flush()
        #expect(provider.data?.name == "first")
        provider.setData(nil)
        #expect(provider.modelIdentifier == nil)
        rig.manager.updateModel(ParentModel.named(1, "second"))
        await rig.flush()
        #expect(provider.data == nil && delegate.calls == 1)
    }

    @Test("A fetch that misses waits if it is to listen")
    func byFetch() async throws {
        let (listening, deaf) = (rig.single(ParentModel.self, delegate), rig.single())
        var misses = 0
        listening.fetchDataFromCache(withCacheKey: "ParentModel:1", listenToModelIdentifier: true) {
            model, error in
            if model == nil, error == nil { misses += 1 }
        }
        deaf.fetchDataFromCache(withCacheKey: "ParentModel:1", listenToModelIdentifier: false) {
            _, _ in misses += 1
        }
        await rig.flush()
        #expect(
            misses == 2 && listening.modelIdentifier == "ParentModel:1"
                && deaf.modelIdentifier == nil)
        rig.manager.updateModel(ParentModel.named(1, "new"))
        await rig.flush()
        #expect(listening.data?.name == "new" && deaf.data == nil && delegate.calls == 1)
    }

    @Test("A model that is posted during a read is not overwritten by the reply")
    func madeMeanwhile() async {
        let rig = Rig(HeldCache())
        let provider = rig.single(ParentModel.self, delegate)
        var result: ParentModel?
        provider.fetchDataFromCache(withCacheKey: "ParentModel:1", listenToModelIdentifier: true) {
            model, _ in
            result = model
        }
        await rig.cache.waitForReads(1)
        rig.manager.updateModel(
            ParentModel.named(1, "made"), updateCache: false, context: "context")
        await rig.manager.consistencyManager.flush()
        #expect(provider.data?.name == "made" && delegate.contexts == ["context"])
        rig.cache.reply("ParentModel:1", ParentModel.named(1, "old"))
        await rig.flush()
        #expect(result?.name == "made" && provider.data?.name == "made")
    }

    @Test("A deletion while waiting changes nothing")
    func deletedWhileWaiting() async {
        let provider = waiting()
        rig.manager.deleteModel(ParentModel(id: 1))
        await rig.flush()
        #expect(delegate.calls == 0 && provider.modelIdentifier == "ParentModel:1")
        rig.manager.updateModel(ParentModel.named(1, "a"))
        await rig.flush()
        #expect(provider.data?.name == "a")
    }

    @Test("A provider whose model is deleted waits for it again")
    func deletedAfterwards() async {
        let provider = waiting()
        rig.manager.updateModel(ParentModel(id: 1, name: "a", requiredChild: .row(3)))
        rig.manager.deleteModel(ParentModel(id: 1), context: "gone")
        await rig.flush()
        #expect(provider.data == nil && provider.modelIdentifier == "ParentModel:1")
        rig.manager.updateModel(ParentModel(id: 1, name: "b", requiredChild: .row(3)))
        rig.manager.deleteModel(ChildModel.row(3), context: "gone again")
        await rig.flush()
        #expect(provider.data == nil && provider.modelIdentifier == "ParentModel:1")
        rig.manager.updateModel(ParentModel.named(1, "c"), context: "c")
        await rig.flush()
        #expect(
            provider.data?.name == "c"
                && delegate.contexts == [nil, "gone", nil, "gone again", "c"])
    }

    @Test("A waiting provider ignores a model of another type")
    func otherType() async {
        let provider = rig.single(FullChildModel.self, delegate)
        provider.modelIdentifier = "ChildModel:1"
        rig.manager.updateModel(ChildModel.row(1, "short"))
        await rig.flush()
        #expect(provider.data == nil && delegate.calls == 0)
        rig.manager.updateModel(FullChildModel(id: 1, name: "full"))
        await rig.flush()
        #expect(provider.data?.name == "full")
    }

    @Test("A paused provider shows the awaited model in one call when it is resumed")
    func paused() async {
        let provider = waiting()
        provider.isPaused = true
        rig.manager.updateModel(
            ParentModel(id: 1, name: "a", requiredChild: .row(3, "old")), context: "a")
        await rig.flush()
        rig.manager.updateModel(ChildModel.row(3, "new"), context: "child")
        await rig.flush()
        #expect(provider.data == nil && delegate.calls == 0)
        provider.isPaused = false
        await rig.flush()
        #expect(provider.data == ParentModel(id: 1, name: "a", requiredChild: .row(3, "new")))
        #expect(delegate.contexts == ["child"])
        rig.manager.updateModel(ChildModel.row(3, "newer"))
        await rig.flush()
        #expect(provider.data?.requiredChild.name == "newer")
    }

    @Test(
        "A paused provider does not show a model that arrived and was deleted, and waits on",
        arguments: [false, true])
    func pausedDeleted(byChild: Bool) async {
        let provider = waiting()
        provider.isPaused = true
        rig.manager.updateModel(ParentModel(id: 1, name: "a", requiredChild: .row(3)))
        await rig.flush()
        if byChild {
            rig.manager.deleteModel(ChildModel.row(3))
        } else {
            rig.manager.deleteModel(ParentModel(id: 1))
        }
        await rig.flush()
        provider.isPaused = false
        await rig.flush()
        #expect(
            provider.data == nil && delegate.calls == 0
                && provider.modelIdentifier == "ParentModel:1")
        rig.manager.updateModel(ParentModel.named(1, "b"))
        await rig.flush()
        #expect(provider.data?.name == "b")
    }

    @Test("A paused provider shows the latest version of a model that came, went and came again")
    func pausedAgain() async {
        let provider = waiting()
        provider.isPaused = true
        rig.manager.updateModel(ParentModel.named(1, "a"))
        rig.manager.deleteModel(ParentModel(id: 1))
        rig.manager.updateModel(ParentModel.named(1, "b"), context: "b")
        await rig.flush()
        provider.isPaused = false
        await rig.flush()
        #expect(provider.data?.name == "b" && delegate.contexts == ["b"])
    }

    @Test("A paused provider drops an awaited model when something else is set or awaited")
    func forgotten() async {
        let (set, moved) = (waiting(), waiting())
        for provider in [set, moved] { provider.isPaused = true }
        rig.manager.updateModel(ParentModel.named(1, "came"))
        await rig.flush()
        set.setData(.named(1, "set"))
        moved.modelIdentifier = "ParentModel:2"
        rig.manager.deleteModel(ParentModel(id: 1))
        await rig.flush()
        for provider in [set, moved] { provider.isPaused = false }
        await rig.flush()
        #expect(set.data == nil && moved.data == nil && delegate.calls == 1)
        for provider in [set, moved] { provider.isPaused = true }
        for provider in [set, moved] { provider.isPaused = false }
        await rig.flush()
        #expect(set.data == nil && moved.data == nil && delegate.calls == 1)
    }

    @Test("A batch is notified when an awaited model arrives")
    func inBatch() async {
        let provider = waiting()
        let batch = BatchDataProviderListener(
            dataProviders: [provider], dataModelManager: rig.manager)
        let batchDelegate = Delegate()
        batch.delegate = batchDelegate
        rig.manager.updateModel(ParentModel.named(1, "a"), context: "context")
        await rig.flush()
        #expect(delegate.calls == 1 && batchDelegate.contexts == ["context"])
        #expect(batchDelegate.touched == [[ObjectIdentifier(provider)]])
    }

    //  main                                    consistency manager
    //  post parent 1 with child 3 "old"
    //  post child 3 "new"
    //                                          parent 1: the provider shows it
    //                                          child 3: the provider must be listening by now
    @Test("An update right after the awaited model is not lost")
    func updateRightBehind() async {
        let provider = waiting()
        rig.manager.updateModel(ParentModel(id: 1, requiredChild: .row(3, "old")))
        rig.manager.updateModel(ChildModel.row(3, "new"))
        await rig.flush()
        #expect(provider.data?.requiredChild.name == "new")
    }
}
