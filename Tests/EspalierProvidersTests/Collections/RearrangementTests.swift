import EspalierConsistency
import EspalierModels
import EspalierTestSupport
import Testing

@testable import EspalierProviders

@MainActor @Suite("Collections are rearranged in one step")
struct RearrangementTests {
    let cache = EditingCache()
    let rig: Rig<EditingCache>
    let delegate = Delegate()

    init() { rig = Rig(cache) }

    /// Returns two providers of one key, the second with the delegate.
    private func pair(_ ids: [Int]) async -> [CollectionDataProvider<ParentModel>] {
        let author = await rig.collection("key")
        author.setData(ids.map { .named($0, "old") }, cacheKey: "key")
        return [author, await rig.collection("key", delegate)]
    }

    private var cached: [ParentModel] { cache.collection("key") ?? [] }

    // MARK: Moving

    @Test("A moved element is deleted and inserted for siblings, and is one edit for the cache")
    func move() async {
        let lists = await pair([0, 1, 2, 3])
        lists[0].move(from: 3, to: 1, context: "context")
        lists[0].move(from: 0, to: 2)
        lists[0].move(from: 2, to: 2)
        #expect(lists.allSatisfy { $0.data.ids == [3, 1, 0, 2] })
        #expect(
            delegate.changes == [
                .changes([.delete(index: 3), .insert(index: 1)]),
                .changes([.delete(index: 0), .insert(index: 2)]),
            ])
        #expect(delegate.contexts == ["context", nil])
        await rig.flush()
        #expect(cached.ids == [3, 1, 0, 2] && cache.count("edit key") == 2)
    }

    @Test("An update on its way reaches an element in its new place, and is not undone")
    func pendingUpdate() async {
        let lists = await pair([0, 1, 2])
        await rig.flush()
        rig.manager.updateModel(ParentModel.named(2, "new"))
        rig.manager.deleteModel(ParentModel(id: 1))
        lists[0].move(from: 2, to: 0)
        lists[0].move(from: 1, to: 2)
        await rig.flush()
        #expect(lists.allSatisfy { $0.data == [.named(2, "new"), .named(0, "old")] })
        #expect(cached == [.named(2, "new"), .named(0, "old")])
        #expect(cache.model("ParentModel:2") == ParentModel.named(2, "new"))
        rig.manager.updateModel(ParentModel.named(0, "newer"))
        await rig.flush()
        #expect(lists.allSatisfy { $0.data.names == ["new", "newer"] })
    }

    @Test("A paused provider moves what it shows, and others move the same element")
    func paused() async {
        let lists = await pair([0, 1, 2, 3])
        lists[0].isPaused = true
        rig.manager.updateModel(ParentModel.named(3, "new"))
        await rig.flush()
        lists[0].move(from: 3, to: 1)
        #expect(lists[0].data.ids == [0, 3, 1, 2] && lists[0][1].name == "old")
        #expect(lists[1].data.ids == [0, 3, 1, 2] && lists[1][1].name == "new")
        lists[0].isPaused = false
        await rig.flush()
        #expect(lists[0].data == lists[1].data)
        #expect(cached.names == ["old", "new", "old", "old"])
    }

    @Test("A paused provider that moves a deleted element changes only what it shows")
    func pausedDeleted() async {
        let lists = await pair([0, 1, 2])
        lists[0].isPaused = true
        rig.manager.deleteModel(ParentModel(id: 2))
        await rig.flush()
        lists[0].move(from: 2, to: 0)
        #expect(lists[0].data.ids == [2, 0, 1] && lists[1].data.ids == [0, 1])
        lists[0].isPaused = false
        #expect(lists[0].data.ids == [0, 1])
    }

    // MARK: Removing

    @Test("Elements are removed by a condition: one call of a delegate, one edit for each run")
    func removeWhere() async {
        let lists = await pair([0, 1, 2, 3, 4, 5])
        let count = lists[0].remove(where: { [1, 2, 5].contains($0.id) }, context: "context")
        #expect(count == 3 && lists.allSatisfy { $0.data.ids == [0, 3, 4] })
        let steps: [CollectionChangeInformation] = [5, 2, 1].map { .delete(index: $0) }
        #expect(delegate.changes == [.changes(steps)] && delegate.contexts == ["context"])
        #expect(lists[0].remove(where: { $0.id == 9 }) == 0)
        await rig.flush()
        #expect(cached.ids == [0, 3, 4] && cache.count("edit key") == 2)
        #expect(cache.model("ParentModel:1", ParentModel.self) != nil)
    }

    @Test("Many runs of removed elements reach the cache as one list, and a plain cache always")
    func manyRuns() async {
        let lists = await pair(Array(0..<100))
        await rig.flush()
        let before = cache.count("set all key")
        lists[0].remove(where: { $0.id % 2 == 0 })
        await rig.flush()
        #expect(cache.count("edit key") == 0 && cache.count("set all key") == before + 1)
        #expect(cached.count == 50)
        let plain = Rig()
        let list = await plain.collection("key")
        list.setData((0..<9).map { .named($0, "") }, cacheKey: "key")
        list.remove(where: { $0.id % 2 == 0 })
        await plain.flush()
        #expect(plain.cache.count("set all key") == 2)
        #expect(plain.cache.collection("key", ParentModel.self)?.ids == [1, 3, 5, 7])
    }

    @Test("A condition that throws leaves the collection as it is")
    func throwing() async {
        let lists = await pair([0, 1, 2])
        #expect(throws: CacheFailure()) {
            try lists[0].remove(where: {
                if $0.id == 2 { throw CacheFailure() }
                return true
            })
        }
        #expect(lists[0].count == 3 && delegate.calls == 0)
    }

    // MARK: Replacing

    @Test("A list that is replaced keeps its key, and others get the steps")
    func replace() async {
        let lists = await pair([0, 1, 2, 3])
        let new: [ParentModel] = [
            .named(3, "old"), .named(1, "new"), .named(7, "old"), .named(2, "old"),
        ]
        let change = lists[0].replaceData(with: new, context: "context")
        let steps: [CollectionChangeInformation] = [
            .delete(index: 3), .delete(index: 0), .insert(index: 0), .insert(index: 2),
            .update(index: 1),
        ]
        #expect(change == .changes(steps) && delegate.changes == [change])
        #expect(lists.allSatisfy { $0.data == new && $0.cacheKey == "key" })
        await rig.flush()
        #expect(cached == new && delegate.calls == 1)
        #expect(lists[0].replaceData(with: new) == .changes([]))
        await rig.flush()
        #expect(delegate.calls == 1)
        let fresh = CollectionDataProvider<ParentModel>(dataModelManager: rig.manager)
        #expect(fresh.replaceData(with: new) == .reset && fresh.data == new)
    }

    @Test("Steps lead from one list to the other, and as few rows as possible move")
    func steps() {
        var random = SeededGenerator(quietly: 11)
        for _ in 0..<500 {
            let old = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                ChildModel.row(Int.random(in: 0..<9, using: &random), "a")
            }
            let new = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                ChildModel.row(
                    Int.random(in: 0..<9, using: &random), random.happens(0.8) ? "a" : "b")
            }
            let steps = ListDifference(from: old, to: new).steps
            var list: [ChildModel?] = old
            for step in steps {
                switch step {
                case .delete(let index): list.remove(at: index)
                case .insert(let index): list.insert(nil, at: index)
                case .update(let index):
                    #expect(list[index]?.id == new[index].id)
                    list[index] = nil
                }
            }
            #expect(zip(list, new).allSatisfy { $0 == nil || $0 == $1 })
            #expect(list.count == new.count)
            guard Set(old.map(\.id)).count == old.count, Set(new.map(\.id)).count == new.count
            else { continue }
            let least = new.map(\.id).difference(from: old.map(\.id))
            #expect(steps.numberOfDeletedElements() == least.removals.count)
            #expect(steps.numberOfInsertedElements() == least.insertions.count)
        }
    }

    @Test("The difference of two long lists that are reversed takes no quadratic time")
    func longLists() {
        // The number of comparisons of a quadratic algorithm would be ten thousand millions.
        let old = (0..<100_000).map { ChildModel.row($0, "") }
        let steps = ListDifference(from: old, to: old.reversed()).steps
        #expect(steps.count == 2 * 99_999)
    }

    // MARK: Listeners of whole collections

    @Test("Listeners of a key get the elements after each change, and no update is undone")
    func announced() async {
        let manager = rig.manager.consistencyManager
        let list = await rig.collection("key")
        list.setData([.named(1, "a"), .named(2, "a")], cacheKey: "key")
        let listener = KeyListener("key")
        manager.addListener(listener)
        manager.addModelUpdatesListener(listener)
        await rig.flush()
        rig.manager.updateModel(ParentModel.named(2, "b"))
        list.move(from: 1, to: 0, context: "context")
        await rig.flush()
        #expect(listener.names == ["b", "a"] && listener.contexts.last == "context")
        list.replaceData(with: [.named(3, "c"), .named(2, "b")])
        await rig.flush()
        #expect(listener.names == ["c", "b"])
        list.remove(where: { _ in true })
        await rig.flush()
        #expect(listener.names == [] && listener.posted == [2, 2, 2, 0])
        list.setData([], cacheKey: "key")
        list.setData([.named(1, "a")], cacheKey: nil)
        await rig.flush()
        #expect(listener.posted == [2, 2, 2, 0, 0])
    }
}

/// A listener that shows the batch under a key.
@MainActor
private final class KeyListener: ConsistencyManagerListener, ConsistencyManagerUpdatesListener {
    private let key: String
    private var batch: BatchUpdateModel
    private(set) var contexts: [String?] = []
    /// The lengths of the lists that were posted under the key.
    private(set) var posted: [Int] = []

    init(_ key: String) {
        self.key = key
        let none: [any ConsistencyManagerModel] = []
        batch = BatchUpdateModel(models: none, modelIdentifier: key)
    }

    var names: [String] { batch.models.map { ($0 as? ParentModel)?.name ?? "nil" } }

    func currentModel() -> (any ConsistencyManagerModel)? { batch }

    func modelUpdated(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {
        if let model = model as? BatchUpdateModel { batch = model }
        contexts.append(context as? String)
    }

    func consistencyManager(
        _ consistencyManager: ConsistencyManager, updatedModel model: any ConsistencyManagerModel,
        changes: [String: ModelChange], context: Any?
    ) {
        guard case .updated(let models)? = changes[key] else { return }
        posted += models.compactMap { ($0 as? BatchUpdateModel)?.models.count }
    }
}
