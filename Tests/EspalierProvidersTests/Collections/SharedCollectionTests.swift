import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("Three providers, one of them in a batch, share a collection")
struct SharedCollectionTests {
    /// An edit by an instance or by the type, and its expected result.
    struct Edit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let byInstance: @MainActor @Sendable (CollectionDataProvider<ParentModel>) -> Void
        let byType: @MainActor @Sendable (DataModelManager) -> Void
        let change: CollectionChange
        let ids: [Int]
    }

    nonisolated static let all: [Edit] = [
        Edit(
            testDescription: "set",
            byInstance: { $0.setData([one, one], cacheKey: "key", context: "context") },
            byType: {
                Provider.setData(
                    [one, one], cacheKey: "key", dataModelManager: $0, context: "context")
            },
            change: .reset, ids: [1, 1]),
        Edit(
            testDescription: "insert",
            byInstance: { $0.insert([one, one], at: 0, context: "context") },
            byType: {
                Provider.insert(
                    [one, one], at: { _ in 0 }, cacheKey: "key", dataModelManager: $0,
                    context: "context")
            },
            change: .changes([.insert(index: 0), .insert(index: 1)]), ids: [1, 1, 0]),
        Edit(
            testDescription: "append", byInstance: { $0.append([one, one], context: "context") },
            byType: {
                Provider.append(
                    [one, one], cacheKey: "key", dataModelManager: $0, context: "context")
            },
            change: .changes([.insert(index: 1), .insert(index: 2)]), ids: [0, 1, 1]),
        Edit(
            testDescription: "update", byInstance: { $0.update(one, at: 0, context: "context") },
            byType: {
                Provider.update(
                    one, at: { $0.count - 1 }, cacheKey: "key", dataModelManager: $0,
                    context: "context")
            },
            change: .changes([.update(index: 0)]), ids: [1]),
        Edit(
            testDescription: "remove", byInstance: { $0.remove(at: 0, context: "context") },
            byType: {
                Provider.removeAtIndex(
                    { _ in 0 }, cacheKey: "key", dataModelManager: $0, context: "context")
            },
            change: .changes([.delete(index: 0)]), ids: []),
    ]

    private typealias Provider = CollectionDataProvider<ParentModel>
    private nonisolated static let one = ParentModel.named(1, "one")

    let rig = Rig()

    @Test(
        "An edit is in all providers at once, with exact steps, and the batch is called last",
        arguments: all,
        [false, true])
    func edit(_ edit: Edit, byType: Bool) async {
        rig.cache.put([ParentModel.named(0, "zero")], "key")
        var order: [String] = []
        let delegates = ["first", "second", "third", "batch"].map { name in
            Delegate { order.append(name) }
        }
        var providers: [CollectionDataProvider<ParentModel>] = []
        for delegate in delegates[..<3] { providers.append(await rig.collection("key", delegate)) }
        let batch = BatchDataProviderListener(
            dataProviders: [providers[2]], dataModelManager: rig.manager)
        batch.delegate = delegates[3]
        if byType { edit.byType(rig.manager) } else { edit.byInstance(providers[0]) }
        #expect(providers.allSatisfy { $0.data.ids == edit.ids })
        #expect(order == (byType ? ["first"] : []) + ["second", "third", "batch"])
        for delegate in delegates[(byType ? 0 : 1)..<3] {
            #expect(delegate.changes == [edit.change])
        }
        #expect(delegates[1...].allSatisfy { $0.contexts == ["context"] })
        #expect(delegates[3].touched == [[ObjectIdentifier(providers[2])]])
        await rig.flush()
        #expect(rig.cache.count("get") == 1 && rig.cache.count("set") == 1)
        #expect(rig.cache.collection("key", ParentModel.self)?.ids == edit.ids)
        #expect(
            delegates[0].calls == (byType ? 1 : 0) && delegates[1].calls == 1
                && delegates[3].calls == 1)
        // All providers still listen.
        rig.single().setData(.named(1, "new"))
        await rig.flush()
        #expect(providers.allSatisfy { $0.data.names == edit.ids.map { $0 == 0 ? "zero" : "new" } })
    }

    @Test("Setting an equal collection notifies no delegate", arguments: [false, true])
    func sameData(byType: Bool) async {
        rig.cache.put([ParentModel.named(0, "zero")], "key")
        let delegate = Delegate()
        let providers = [
            await rig.collection("key", delegate), await rig.collection("key", delegate),
        ]
        if byType {
            CollectionDataProvider.setData(
                providers[0].data, cacheKey: "key", dataModelManager: rig.manager)
        } else {
            providers[0].setData(providers[1].data, cacheKey: "key")
        }
        await rig.flush()
        #expect(delegate.calls == 0 && rig.cache.count("get") == 1)
    }

    @Test("A fetch prefers the elements of another provider")
    func sibling() async {
        let first = await rig.collection("key")
        first.setData([.named(1, "set")], cacheKey: "key", shouldCache: false)
        var result: [ParentModel]?
        let second = await rig.collection()
        second.fetchDataFromCache(withCacheKey: "key") { elements, _ in result = elements }
        #expect(
            result?.names == ["set"] && second.data.names == ["set"]
                && second.lastUpdated == first.lastUpdated)
    }

    @Test("A fetch does not use a deallocated provider's elements")
    func deadSibling() async {
        var first: CollectionDataProvider<ParentModel>? = await rig.collection("key")
        first?.setData([.named(1, "set")], cacheKey: "key", shouldCache: false)
        await rig.flush()
        first = nil
        let second = await rig.collection("key")
        #expect(second.data == [] && rig.cache.count("get") == 2)
    }

    @Test("An edit without elements changes nothing")
    func empty() async {
        let delegate = Delegate()
        let providers = [await rig.collection("key"), await rig.collection("key", delegate)]
        providers[0].append([])
        providers[0].insert([], at: 0)
        await rig.flush()
        #expect(delegate.calls == 0 && rig.cache.count("set") == 0)
    }

    @Test("A delegate may edit in turn, and all delegates get all changes in order")
    func editingDelegate() async {
        rig.cache.put([ChildModel.row(0)], "key")
        let delegates = (0..<4).map { _ in Delegate() }
        var providers: [CollectionDataProvider<ChildModel>] = []
        for delegate in delegates {
            providers.append(await rig.collection("key", of: ChildModel.self, delegate))
        }
        delegates[1].onCall = {
            if providers[1].count < 5 { providers[1].insert([.row(9)], at: 0) }
        }
        let streams = providers.map(\.changes)
        providers[0].append([.row(1)])
        for provider in providers { #expect(provider.data.map(\.id) == [9, 0, 1]) }
        let (append, insert) = (
            CollectionChange.changes([.insert(index: 1)]),
            CollectionChange.changes([.insert(index: 0)])
        )
        // The elements are those after both edits by then, so the others get both in one call.
        let both = CollectionChange.changes([.insert(index: 1), .insert(index: 0)])
        #expect(delegates.map(\.changes) == [[insert], [append], [both], [both]])
        for stream in streams {
            var list = [ChildModel.row(0)]
            for await change in stream {
                #expect(change.previous == list)
                list = list.applying(change.difference) ?? []
                #expect(list == change.data)
                if list == providers[0].data { break }
            }
        }
    }

    @Test("A delegate that edits its own provider has been notified of everything before")
    func editingOwn() async {
        rig.cache.put([ChildModel.row(0)], "key")
        let first = await rig.collection("key", of: ChildModel.self)
        let (second, third) = (
            await rig.collection("key", of: ChildModel.self),
            await rig.collection("key", of: ChildModel.self)
        )
        var log: [String] = []
        let thirds = Delegate { log.append("third told") }
        third.delegate = thirds
        let seconds = Delegate {
            log.append("second told")
            guard third.count == 2 else { return }
            third.remove(at: 0)
            log.append("third edited")
        }
        second.delegate = seconds
        first.append([.row(1)])
        #expect(log == ["second told", "third told", "second told", "third edited"])
        #expect(third.data.map(\.id) == [1] && thirds.changes == [.changes([.insert(index: 1)])])
    }
}
