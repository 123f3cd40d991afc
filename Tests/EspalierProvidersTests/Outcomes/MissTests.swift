import EspalierConsistency
import EspalierModels
import EspalierProviders
import EspalierRecords
import Testing

/// A fetch says why there is nothing, and a follower decides by the reason what leaves the screens.
@MainActor @Suite("Providers tell the reason of a miss")
struct MissTests {
    private let cache = SharedCache()
    private let manager: DataModelManager

    init() { manager = DataModelManager(cache: cache) }

    private func single() -> DataProvider<ParentModel> { DataProvider(dataModelManager: manager) }

    @Test("A fetch of a model gives the reason of the cache, and a hit clears it")
    func model() async throws {
        let reason = MissReason.expired(path: "ParentModel:1", age: .seconds(60))
        cache.miss("ParentModel:1", reason)
        let provider = single()
        guard case .miss(reason) = try await provider.fetchOutcome("ParentModel:1") else {
            Issue.record("no miss")
            return
        }
        #expect(provider.missReason == reason)
        provider.fetchDataFromCache(withCacheKey: "ParentModel:2") { model, error in
            #expect(model == nil && error == nil && provider.missReason == .notFound)
        }
        await manager.flush()
        cache.inner.setModel(ParentModel(id: 3), forKey: "ParentModel:3", context: nil)
        let hit = try await provider.fetchOutcome("ParentModel:3")
        #expect(hit.value?.id == 3)
        #expect(provider.missReason == nil)
    }

    @Test("A fetch of a list gives the reason of the cache")
    func list() async throws {
        cache.miss("rows", .deleted)
        let list = CollectionDataProvider<ChildModel>(dataModelManager: manager)
        guard case .miss(.deleted) = try await list.fetchOutcome("rows") else {
            Issue.record("no miss")
            return
        }
        #expect(list.missReason == .deleted)
        list.append([.row(1)])
        #expect(try await list.fetchOutcome("rows").value == [.row(1)])
        #expect(list.missReason == nil)
    }

    @Test("A type that can't be stored and a cache that can't be read are errors of a fetch")
    func errors() async {
        cache.miss("ParentModel:1", .unavailable(detail: "closed"))
        cache.miss("ParentModel:2", .notStorable(type: "ParentModel"))
        for (key, reason) in [
            ("ParentModel:1", MissReason.unavailable(detail: "closed")),
            ("ParentModel:2", .notStorable(type: "ParentModel")),
        ] {
            await #expect(throws: reason) { _ = try await single().fetchOutcome(key) }
            await #expect(throws: reason) { _ = try await single().fetch(key) }
        }
    }

    @Test("A cache without reasons, and a fetch without key, give none")
    func unknown() async throws {
        let rig = Rig()
        guard case .miss(nil) = try await rig.single().fetchOutcome("ParentModel:1") else {
            Issue.record("no miss")
            return
        }
        guard case .miss(nil) = try await single().fetchOutcome(nil) else {
            Issue.record("no miss")
            return
        }
    }

    // MARK: Resets

    /// Shows the models 1 to 3, of which 1 stays readable, 2 is deleted, and 3 is not found.
    private func screens() async throws -> [DataProvider<ParentModel>] {
        var providers: [DataProvider<ParentModel>] = []
        for id in 1...3 {
            cache.inner.setModel(
                ParentModel.named(id, "old"), forKey: "ParentModel:\(id)", context: nil)
            let provider = single()
            _ = try await provider.fetch("ParentModel:\(id)")
            providers.append(provider)
        }
        cache.inner.setModel(ParentModel.named(1, "new"), forKey: "ParentModel:1", context: nil)
        cache.miss("ParentModel:2", .deleted)
        cache.miss("ParentModel:3", .notFound)
        return providers
    }

    @Test("Where the changes are not known, evicted models stay shown and deleted ones leave")
    func reset() async throws {
        let providers = try await screens()
        cache.inner.put([ChildModel.row(1)], "rows")
        let list = CollectionDataProvider<ChildModel>(dataModelManager: manager)
        _ = try await list.fetch("rows")
        cache.inner.state.withLock { $0.collections = [:] }
        cache.send(CacheChanges(isReset: true))
        await manager.flush()
        #expect(providers.map(\.data?.name) == ["new", nil, "old"])
        #expect(list.data == [.row(1)])
    }

    @Test("When the cache was emptied, all that can't be read leaves the screens")
    func emptied() async throws {
        let providers = try await screens()
        cache.inner.put([ChildModel.row(1)], "rows")
        let list = CollectionDataProvider<ChildModel>(dataModelManager: manager)
        _ = try await list.fetch("rows")
        cache.inner.state.withLock { $0.collections = [:] }
        cache.send(CacheChanges(isEmptied: true))
        await manager.flush()
        #expect(providers.map(\.data?.name) == ["new", nil, nil])
        #expect(list.data.isEmpty)
    }

    @Test("A deletion that is known is not forgotten in a reset that follows")
    func deletionAndReset() async throws {
        let providers = try await screens()
        cache.send(CacheChanges(deleted: ["ParentModel:3"]))
        cache.send(CacheChanges(isReset: true))
        await manager.flush()
        #expect(providers.map(\.data?.name) == ["new", nil, nil])
    }

    // MARK: Changes

    @Test("A change has the model before and the nodes that changed, also for the delegate")
    func changes() async {
        @MainActor final class Recorder: DataProviderDelegate, CollectionDataProviderDelegate {
            var changes: [DataChange<ParentModel>] = []
            var identifiers: [Set<String>] = []
            func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {
                #expect(changes.last?.data?.name == (dataProvider.data as? ParentModel)?.name)
            }
            func dataProvider<T>(
                _ dataProvider: DataProvider<T>, didChange change: DataChange<T>
            ) {
                if let change = change as? DataChange<ParentModel> { changes.append(change) }
            }
            func collectionDataProviderHasUpdatedData<T>(
                _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
                context: Any?
            ) {}
            func collectionDataProvider<T>(
                _ dataProvider: CollectionDataProvider<T>, didChange identifiers: Set<String>
            ) { self.identifiers.append(identifiers) }
        }
        let recorder = Recorder()
        let provider = single()
        provider.delegate = recorder
        var changes = provider.changes.makeAsyncIterator()
        let old = ParentModel(id: 1, name: "a", otherChildren: [.row(1), .row(2)])
        provider.setData(old)
        let own = await changes.next()
        #expect(own?.previous == nil && own?.data == old)
        #expect(own?.changedIdentifiers == ["ParentModel:1"])
        let list = CollectionDataProvider<ParentModel>(dataModelManager: manager)
        list.delegate = recorder
        list.setData([old, .named(2, "b")], cacheKey: "rows")
        let twin = CollectionDataProvider<ParentModel>(dataModelManager: manager)
        _ = try? await twin.fetch("rows")
        twin.delegate = recorder
        await manager.flush()
        manager.updateModel(ChildModel.row(2, "new"))
        await manager.flush()
        let update = await changes.next()
        #expect(update?.previous == old)
        #expect(update?.changedIdentifiers == ["ParentModel:1", "ChildModel:2"])
        #expect(recorder.changes.count == 1)
        #expect(recorder.changes.last?.changedIdentifiers == update?.changedIdentifiers)
        #expect(
            recorder.identifiers == [["ParentModel:1", "ChildModel:2"]]
                + recorder.identifiers.dropFirst())
        #expect(recorder.identifiers.count == 2)
        var edits = twin.changes.makeAsyncIterator()
        list.update(.named(3, "c"), at: 1)
        #expect(await edits.next()?.changedIdentifiers == ["ParentModel:2", "ParentModel:3"])
        #expect(recorder.identifiers.last == ["ParentModel:2", "ParentModel:3"])
        manager.deleteModel(ParentModel(id: 3))
        #expect(await edits.next()?.changedIdentifiers == ["ParentModel:3"])
        list.move(from: 0, to: 0)
        list.append([.named(4, "d")])
        list.move(from: 0, to: 1)
        #expect(await edits.next()?.changedIdentifiers == ["ParentModel:4"])
        #expect(await edits.next()?.changedIdentifiers == ["ParentModel:1"])
    }
}
