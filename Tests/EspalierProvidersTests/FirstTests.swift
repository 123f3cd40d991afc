import EspalierConsistency
import EspalierModels
import EspalierProviders
import Synchronization
import Testing

@MainActor @Suite("providers") struct FirstTests {
    let cache = MemoryCache()
    let manager: DataModelManager
    init() { manager = DataModelManager(cacheDelegate: cache) }

    @Test("data set on one is shown by the other") func single() async {
        let a = DataProvider<ParentModel>(dataModelManager: manager)
        let b = DataProvider<ChildModel>(dataModelManager: manager)
        let delegate = Delegate()
        let other = Delegate()
        a.delegate = delegate
        b.delegate = other
        a.setData(ParentModel(id: 1, requiredChild: ChildModel(id: 3, name: "old")), context: "wrong")
        b.setData(ChildModel(id: 3, name: "new"), context: "context")
        await manager.flush()
        #expect(a.data?.requiredChild.name == "new")
        #expect(delegate.contexts == ["context"])
        #expect(other.contexts == [])
        #expect(cache.calls == ["set ParentModel:1", "set ChildModel:3"])
        manager.deleteModel(ChildModel(id: 3), context: "bye")
        await manager.flush()
        #expect(a.data == nil && b.data == nil)
        #expect(cache.calls.suffix(2) == ["delete ChildModel:3", "delete ParentModel:1"])
    }

    @Test("collections") func collections() async {
        let a = CollectionDataProvider<ParentModel>(dataModelManager: manager)
        let b = CollectionDataProvider<ParentModel>(dataModelManager: manager)
        let delegate = Delegate()
        let batchDelegate = Delegate()
        b.delegate = delegate
        let batch = BatchDataProviderListener(dataProviders: [b], dataModelManager: manager)
        batch.delegate = batchDelegate
        a.setData([ParentModel(id: 0)], cacheKey: "key")
        b.fetchDataFromCache(withCacheKey: "key") { data, error in #expect(data?.count == 1) }
        a.insert([ParentModel(id: 1), ParentModel(id: 1)], at: 0, context: "context")
        #expect(b.map(\.id) == [1, 1, 0])
        #expect(delegate.changes == [.changes([.insert(index: 0), .insert(index: 1)])])
        #expect(batchDelegate.touched == [[ObjectIdentifier(b)]])
        manager.updateModel(ParentModel(id: 1, name: "new"), context: "update")
        await manager.flush()
        #expect(b.map(\.name) == ["new", "new", ""])
        #expect(delegate.changes.last == .changes([.update(index: 1), .update(index: 0)]))
        b.isPaused = true
        #expect(batch.isPaused)
        a.remove(at: 0)
        a.append([ParentModel(id: 7)])
        #expect(b.count == 3)
        b.isPaused = false
        #expect(b.map(\.id) == [1, 0, 7])
        #expect(delegate.changes.last == .reset)
        manager.deleteModel(ParentModel(id: 1))
        await manager.flush()
        #expect(b.map(\.id) == [0, 7])
        #expect(delegate.changes.last == .changes([.delete(index: 0)]))
        #expect(batchDelegate.contexts.count == 4)
    }

    @Test("sequences") func sequences() async throws {
        let a = DataProvider<ParentModel>(dataModelManager: manager)
        var values = a.values.makeAsyncIterator()
        #expect(await values.next() == .some(nil))
        a.setData(ParentModel(id: 1))
        #expect(await values.next()??.id == 1)
        let c = DataProvider<ParentModel>(dataModelManager: manager)
        #expect(try await c.fetch("ParentModel:1")?.id == 1)
        let append = CollectionDataProvider<ParentModel>.self
        await withCheckedContinuation { done in
            append.append([ParentModel(id: 3)], cacheKey: "k", dataModelManager: manager) { _ in done.resume() }
        }
        await manager.flush()
        #expect(cache.state.withLock { $0.collections["k"]?.count } == 1)
    }
}
