import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("A single provider is set")
struct SettingTests {
    let rig = Rig()

    @Test("A model is shown at once, and nil shows nothing and deletes nothing")
    func set() async {
        let provider = rig.single()
        #expect(provider.data == nil)
        provider.setData(.named(1, "a"))
        #expect(provider.data?.name == "a")
        provider.setData(nil)
        #expect(provider.data == nil && provider.modelIdentifier == nil)
        await rig.flush()
        #expect(rig.cache.calls == ["set ParentModel:1"])
    }

    @Test("A model is saved under its identifier with the context")
    func caching() async {
        rig.single().setData(.named(1, "a"), context: "context")
        await rig.flush()
        #expect(rig.cache.calls == ["set ParentModel:1"] && rig.cache.contexts == ["context"])
        #expect(rig.cache.model("ParentModel:1") == ParentModel.named(1, "a"))
    }

    @Test("A model is not saved if the caller declines, or without identifier")
    func notCaching() async {
        rig.single().setData(.named(1, "a"), updateCache: false)
        rig.single(ChildModel.self).setData(.row(nil, "inline"))
        await rig.flush()
        #expect(rig.cache.calls == [])
    }

    @Test("The other delegates are called with the context, but not the provider's own")
    func delegates() async {
        let (delegate, other) = (Delegate(), Delegate())
        let (a, b) = (rig.single(ParentModel.self, delegate), rig.single(ParentModel.self, other))
        a.setData(.named(1, "initial"), context: "wrong")
        b.setData(.named(1, "new"), context: "context")
        #expect(a.data?.name == "initial")
        await rig.flush()
        #expect(a.data?.name == "new" && delegate.contexts == ["context"] && other.calls == 0)
    }

    @Test("An equal model notifies no delegate")
    func equal() async {
        let (delegate, other) = (Delegate(), Delegate())
        let (a, b) = (rig.single(ParentModel.self, delegate), rig.single(ParentModel.self, other))
        a.setData(.named(1, "same"))
        b.setData(.named(1, "same"))
        await rig.flush()
        #expect(delegate.calls == 0 && other.calls == 0)
    }

    @Test("A child that two trees share is updated in both")
    func subtree() async {
        let delegate = Delegate()
        let (a, b) = (rig.single(ParentModel.self, delegate), rig.single())
        a.setData(
            ParentModel(id: 1, name: "initial", requiredChild: .row(3, "old")), context: "wrong")
        b.setData(
            ParentModel(id: 4, name: "new", requiredChild: .row(3, "new")), context: "context")
        await rig.flush()
        #expect(a.data == ParentModel(id: 1, name: "initial", requiredChild: .row(3, "new")))
        #expect(delegate.contexts == ["context"])
    }

    @Test("An older update never overwrites a model that was set after it")
    func olderUpdate() async {
        let (delegate, other) = (Delegate(), Delegate())
        let (a, b) = (rig.single(ParentModel.self, delegate), rig.single(ParentModel.self, other))
        a.setData(.named(1, "initial"), updateCache: false)
        b.setData(.named(1, "update"), updateCache: false, context: "wrong")
        a.setData(.named(1, "final"), updateCache: false, context: "context")
        await rig.flush()
        #expect(a.data?.name == "final" && b.data?.name == "final")
        #expect(delegate.calls == 0 && other.contexts == ["context"])
    }

    @Test("An override of modelUpdated gets each update, and may change or refuse it")
    func overrides() async {
        let provider = ChangingProvider(dataModelManager: rig.manager)
        let delegate = Delegate()
        provider.delegate = delegate
        provider.setData(ParentModel(id: 1, name: "initial", requiredChild: .row(3, "old")))
        rig.manager.updateModel(ParentModel.named(1, "refused"), context: "wrong")
        await rig.flush()
        #expect(provider.data?.name == "initial" && delegate.calls == 0)
        rig.manager.updateModel(
            ParentModel(id: 1, name: "new", requiredChild: .row(4, "child")), context: "context")
        await rig.flush()
        #expect(provider.data?.name == "new!" && delegate.contexts == ["context"])
        // The provider is registered with what it shows.
        rig.manager.updateModel(ChildModel.row(4, "newer"))
        await rig.flush()
        #expect(provider.data?.requiredChild.name == "newer" && provider.data?.name == "new!!")
        #expect(provider.updates.map(\.changedModelIds.count) == [1, 1, 2])
        rig.manager.deleteModel(ParentModel(id: 1))
        await rig.flush()
        #expect(provider.data == nil && provider.updates.last?.deletedModelIds.count == 1)
    }

    @Test("An update of a model that was shown before does not change the current one")
    func identityChanged() async {
        let delegate = Delegate()
        let provider = rig.single(ParentModel.self, delegate)
        provider.setData(.named(1, "a"))
        provider.setData(.named(2, "b"))
        rig.manager.updateModel(ParentModel.named(1, "new"))
        rig.manager.deleteModel(ParentModel(id: 1))
        await rig.flush()
        #expect(provider.data == .named(2, "b") && delegate.calls == 0)
    }

    @Test("Projections of one identifier are merged, and only if something changes")
    func projections() async {
        let (fullDelegate, delegate) = (Delegate(), Delegate())
        let full = rig.single(FullChildModel.self, fullDelegate)
        let short = rig.single(ChildModel.self, delegate)
        full.setData(FullChildModel(id: 1, name: "initial", otherData: 42))
        short.setData(.row(1, "new"), context: "context")
        await rig.flush()
        #expect(full.data == FullChildModel(id: 1, name: "new", otherData: 42))
        #expect(fullDelegate.contexts == ["context"] && delegate.calls == 0)
        full.setData(FullChildModel(id: 1, name: "new", otherData: 43))
        await rig.flush()
        #expect(delegate.calls == 0 && short.data?.name == "new")
        rig.manager.deleteModel(ChildModel.row(1))
        await rig.flush()
        #expect(full.data == nil && short.data == nil)
    }

    @Test("Providers that one update changes have the same age")
    func lastUpdated() async {
        let (a, b) = (rig.single(), await rig.collection())
        #expect(a.lastUpdated == .zero && b.lastUpdated == .zero)
        a.setData(.named(1, "a"))
        b.setData([.named(1, "a"), .named(2, "b")], cacheKey: nil)
        let before = (a.lastUpdated, b.lastUpdated)
        rig.manager.updateModel(ParentModel.named(1, "new"))
        await rig.flush()
        #expect(
            a.lastUpdated == b.lastUpdated && a.lastUpdated.after(before.0)
                && b.lastUpdated.after(before.1))
    }

    @Test("A delegate may set data, and the sequences get both changes")
    func settingInDelegate() async {
        let provider = rig.single()
        let delegate = Delegate()
        delegate.onCall = {
            if provider.data?.name == "new" { provider.setData(.named(1, "newest")) }
        }
        provider.delegate = delegate
        provider.setData(.named(1, "old"))
        var changes = provider.changes.makeAsyncIterator()
        rig.manager.updateModel(ParentModel.named(1, "new"))
        await rig.flush()
        #expect(
            provider.data?.name == "newest"
                && rig.cache.model("ParentModel:1") == ParentModel.named(1, "newest"))
        let (first, second) = (await changes.next(), await changes.next())
        #expect(first?.data?.name == "new" && first?.origin == .update)
        #expect(second?.data?.name == "newest" && second?.origin == .own)
    }
}

@MainActor @Suite("A single provider's model is deleted")
struct DeletingTests {
    let rig = Rig()

    @Test("A deleted model becomes nil, and is deleted from the cache once with the context")
    func model() async {
        let delegate = Delegate()
        let provider = rig.single(ParentModel.self, delegate)
        provider.setData(.named(1, "a"), updateCache: false, context: "wrong")
        rig.manager.deleteModel(ParentModel(id: 1), context: "context")
        await rig.flush()
        #expect(provider.data == nil && delegate.contexts == ["context"])
        #expect(rig.cache.calls == ["delete ParentModel:1"] && rig.cache.contexts == ["context"])
    }

    @Test("A deleted optional child becomes nil in its parent")
    func optionalChild() async {
        let delegate = Delegate()
        let provider = rig.single(ParentModel.self, delegate)
        provider.setData(ParentModel(id: 1, name: "a", otherChildren: [.row(2), .row(3)]))
        rig.manager.deleteModel(ChildModel.row(2), context: "context")
        await rig.flush()
        #expect(provider.data == ParentModel(id: 1, name: "a", otherChildren: [.row(3)]))
        #expect(delegate.contexts == ["context"])
    }

    @Test("A deleted required child deletes its parent")
    func requiredChild() async {
        let delegate = Delegate()
        let provider = rig.single(ParentModel.self, delegate)
        provider.setData(ParentModel(id: 1, requiredChild: .row(3)), updateCache: false)
        rig.manager.deleteModel(ChildModel.row(3), updateCache: false, context: "context")
        await rig.flush()
        #expect(provider.data == nil && delegate.contexts == ["context"] && rig.cache.calls == [])
    }

    @Test("A model without identifier is deleted from the cache only")
    func withoutIdentifier() async {
        let provider = rig.single(ChildModel.self)
        provider.setData(.row(nil, "inline"))
        rig.manager.deleteModel(ChildModel.row(nil, "inline"))
        await rig.flush()
        #expect(provider.data?.name == "inline" && rig.cache.calls == ["delete nil"])
    }
}

/// A provider that refuses one update, and marks all others.
private final class ChangingProvider: DataProvider<ParentModel> {
    var updates: [ModelUpdates] = []

    override func modelUpdated(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {
        self.updates.append(updates)
        let parent = model as? ParentModel
        guard parent?.name != "refused" else { return }
        let marked = parent.map {
            ParentModel(
                id: $0.id, name: $0.name + "!", requiredChild: $0.requiredChild,
                otherChildren: $0.otherChildren)
        }
        super.modelUpdated(marked, updates: updates, context: context)
    }
}
