import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("A paused single provider keeps its model")
struct PausedSingleTests {
    let rig = Rig()
    let delegate = Delegate()

    private func paused() -> DataProvider<ParentModel> {
        let provider = rig.single(ParentModel.self, delegate)
        provider.setData(ParentModel(id: 0, name: "initial", requiredChild: .row(1, "child")))
        #expect(!provider.isPaused)
        provider.isPaused = true
        #expect(provider.isPaused)
        return provider
    }

    @Test("A resumed provider gets all changes in one call, with the latest context")
    func netChange() async {
        let provider = paused()
        rig.single().setData(
            ParentModel(id: 0, name: "new", requiredChild: .row(1, "child")), context: "first")
        rig.manager.updateModel(ChildModel.row(1, "new"), context: "context")
        await rig.flush()
        #expect(provider.data?.name == "initial" && delegate.calls == 0)
        provider.isPaused = false
        #expect(!provider.isPaused)
        await rig.flush()
        #expect(provider.data == ParentModel(id: 0, name: "new", requiredChild: .row(1, "new")))
        #expect(delegate.contexts == ["context"])
    }

    @Test("A resumed provider makes no call if its changes cancelled out")
    func cancelled() async {
        let provider = paused()
        rig.manager.updateModel(ChildModel.row(1, "new"))
        rig.manager.updateModel(ChildModel.row(1, "child"))
        await rig.flush()
        provider.isPaused = false
        await rig.flush()
        #expect(delegate.calls == 0)
    }

    @Test("A deletion during a pause is shown on resuming")
    func deleted() async {
        let provider = paused()
        rig.manager.deleteModel(ChildModel.row(1), context: "context")
        await rig.flush()
        #expect(provider.data != nil)
        provider.isPaused = false
        await rig.flush()
        #expect(provider.data == nil && delegate.contexts == ["context"])
    }

    @Test("A model that is deleted and written again during a pause is shown on resuming")
    func writtenAgain() async throws {
        let cache = SharedCache()
        let manager = DataModelManager(cache: cache)
        let provider = DataProvider<ParentModel>(dataModelManager: manager)
        provider.delegate = delegate
        provider.setData(.named(1, "old"))
        await manager.flush()
        provider.isPaused = true
        manager.deleteModel(ParentModel.named(1, "old"))
        await manager.flush()
        manager.updateModel(ParentModel.named(1, "new"))
        await manager.flush()
        #expect(provider.data?.name == "old" && delegate.calls == 0)
        provider.isPaused = false
        await manager.flush()
        await until { provider.data?.name == "new" }
        // It is kept consistent, and a deletion without another write leaves nothing.
        manager.updateModel(ParentModel.named(1, "newer"))
        await manager.flush()
        #expect(provider.data?.name == "newer")
        provider.isPaused = true
        manager.deleteModel(ParentModel.named(1, "newer"))
        provider.isPaused = false
        await manager.flush()
        #expect(provider.data == nil)
    }

    @Test("A model that is set during a pause is shown, and not overwritten by earlier changes")
    func sets() async {
        let provider = paused()
        rig.manager.updateModel(ParentModel.named(0, "update"))
        await rig.flush()
        provider.setData(.named(0, "own"))
        provider.isPaused = false
        await rig.flush()
        #expect(provider.data?.name == "own" && delegate.calls == 0)
    }

    @Test("A provider that is set to another model gets what that model has missed")
    func setsOther() async {
        let provider = paused()
        rig.manager.updateModel(ParentModel.named(0, "update"))
        provider.setData(.named(5, "other"))
        rig.manager.updateModel(ParentModel.named(5, "new"), context: "context")
        await rig.flush()
        #expect(provider.data?.name == "other")
        provider.isPaused = false
        await rig.flush()
        #expect(provider.data?.name == "new" && delegate.contexts == ["context"])
    }

    @Test("A model that is fetched during a pause is shown, and kept consistent")
    func fetches() async throws {
        let provider = paused()
        rig.manager.updateModel(ChildModel.row(1, "before"))
        await rig.flush()
        rig.cache.put(
            ParentModel(id: 0, name: "stored", requiredChild: .row(1, "before")), "front page")
        #expect(try await provider.fetch("front page")?.name == "stored")
        rig.manager.updateModel(ChildModel.row(1, "after"), context: "context")
        await rig.flush()
        #expect(
            provider.data == ParentModel(id: 0, name: "stored", requiredChild: .row(1, "before")))
        provider.isPaused = false
        await rig.flush()
        #expect(
            provider.data == ParentModel(id: 0, name: "stored", requiredChild: .row(1, "after")))
        #expect(delegate.contexts == ["context"])
    }
}
