import EspalierConsistency
import EspalierModels
import EspalierProviders
import EspalierRecords
import EspalierTestSupport
import Testing

@MainActor @Suite("Lists that the cache has and no screen has seen", .timeLimit(.minutes(2)))
struct UnseenListTests {
    private let cache = SharedCache()
    private let manager: DataModelManager
    private let delegate = NetworkDelegate()

    init() { manager = DataModelManager(cache: cache) }

    private func provider() -> CollectionDataProvider<ParentModel> {
        let provider = CollectionDataProvider<ParentModel>(dataModelManager: manager)
        provider.delegate = delegate
        return provider
    }

    private nonisolated func list(_ ids: Int...) -> [ParentModel] { ids.map { .named($0, "") } }

    private func put(_ ids: Int...) {
        cache.inner.state.withLock { state in
            state.collections["all"] = ids.map { ParentModel.named($0, "") }
        }
    }

    private func stored() -> [Int]? { cache.inner.collection("all", ParentModel.self)?.ids }

    /// Returns a provider that has found an expired list of 1 and 2, and then had no network.
    private func providerOfExpired() async -> CollectionDataProvider<ParentModel> {
        put(1, 2)
        cache.expire("all")
        let provider = provider()
        await #expect(throws: NetworkFailure.self) {
            try await provider.fetch("all", policy: .cacheThenNetwork) { throw NetworkFailure() }
        }
        return provider
    }

    private func append(_ id: Int) async -> (any Error)? {
        await withCheckedContinuation { continuation in
            CollectionDataProvider<ParentModel>.append(
                list(id), cacheKey: "all", dataModelManager: manager
            ) { continuation.resume(returning: $0) }
        }
    }

    @Test("A static edit of a list that has expired keeps its other elements")
    func expiredStatic() async {
        put(1, 2)
        cache.expire("all")
        #expect(await append(3) == nil)
        await manager.flush()
        #expect(stored() == [1, 2, 3])
    }

    @Test("A static edit of a list that is too large to be read fails, and changes nothing")
    func tooLarge() async {
        cache.miss("all", .tooLarge(path: "all"))
        #expect(await append(3) as? MissReason == .tooLarge(path: "all"))
        await manager.flush()
        #expect(stored() == nil)
        // What can't be decoded counts as absent.
        cache.miss("all", .undecodable(path: "all", detail: ""))
        #expect(await append(3) == nil)
        await manager.flush()
        #expect(stored() == [3])
    }

    @Test("An edit after a fetch that found an expired list does not replace the list")
    func expiredFetch() async {
        let provider = await providerOfExpired()
        provider.append(list(3))
        await manager.flush()
        #expect(provider.data.ids == [3] && stored() == [1, 2])
        #expect(cache.inner.model("ParentModel:3", ParentModel.self) != nil)
        #expect(delegate.failures.count == 1)
        if case .expired? = delegate.failures.first?.error as? MissReason {
        } else {
            Issue.record("\(delegate.failures)")
        }
        // A list that is set replaces it, and can be edited.
        provider.setData(list(4), cacheKey: "all")
        provider.append(list(5))
        await manager.flush()
        #expect(stored() == [4, 5] && delegate.failures.count == 1)
    }

    @Test("An unsaved edit of an expired list gives way to the list when others write it")
    func expiredThenWritten() async {
        let provider = await providerOfExpired()
        provider.append(list(3))
        await manager.flush()
        // A static edit reads the list, and a fetch asks the network as long as it has expired.
        #expect(await append(4) == nil)
        await manager.flush()
        #expect(stored() == [1, 2, 4] && provider.data.ids == [1, 2, 4])

        cache.expire("all")
        let second = self.provider()
        second.fetchDataFromCache(withCacheKey: "all") { _, _ in }
        await manager.flush()
        put(5)
        cache.setCollection(list(5), forKey: "all", options: CacheWriteOptions()) { _ in }
        cache.send(CacheChanges(keys: ["all"]))
        await until { second.data.ids == [5] }
        second.append(list(6))
        await manager.flush()
        #expect(stored() == [5, 6])
    }

    @Test("Screens that show edits of a list which was not read hear that it is empty")
    func emptyAfterEdits() async throws {
        let provider = await providerOfExpired()
        provider.append(list(3))
        let paused = self.provider()
        paused.fetchDataFromCache(withCacheKey: "all") { _, _ in }
        await manager.flush()
        #expect(provider.data.ids == [3] && paused.data.ids == [3])
        paused.isPaused = true
        put()
        cache.setCollection([], forKey: "all", options: CacheWriteOptions()) { _ in }
        delegate.changes = []
        let other = CollectionDataProvider<ParentModel>(dataModelManager: manager)
        #expect(try await other.fetch("all")?.ids == [])
        #expect(provider.data.isEmpty && delegate.changes == [.reset])
        // The element that is shown is not in the list any more.
        other.append(list(4, 5))
        paused.update(.named(3, "new"), at: 0)
        await manager.flush()
        #expect(provider.data.ids == [4, 5] && stored() == [4, 5])
        paused.isPaused = false
        await manager.flush()
        #expect(paused.data.ids == [4, 5])
    }

    @Test("A list that a fetch did not find stays unknown when the cache is emptied")
    func missedThenEmptied() async {
        let provider = provider()
        await withCheckedContinuation { continuation in
            provider.fetchDataFromCache(withCacheKey: "all") { _, _ in continuation.resume() }
        }
        cache.send(CacheChanges(isEmptied: true))
        for _ in 0..<100 { await Task.yield() }
        await manager.flush()
        #expect(provider.missReason == .notFound && delegate.changes.isEmpty)
        // Others store a list that is too large: the edit must not replace it.
        cache.miss("all", .tooLarge(path: "all"))
        let reads = cache.collectionReads
        cache.send(CacheChanges(keys: ["all"]))
        await until { cache.collectionReads > reads }
        await manager.flush()
        provider.append(list(1))
        await manager.flush()
        #expect(stored() == nil && delegate.failures.count == 1)
    }

    @Test("A list that a fetch did not find follows the cache from then on")
    func missed() async {
        let provider = provider()
        let found = await withCheckedContinuation { continuation in
            provider.fetchDataFromCache(withCacheKey: "all") { elements, _ in
                continuation.resume(returning: elements != nil)
            }
        }
        #expect(!found && provider.missReason == .notFound)
        put(1, 2)
        cache.send(CacheChanges(keys: ["all"]))
        await until { provider.data.ids == [1, 2] }
        #expect(provider.missReason == nil)
        provider.append(list(3))
        await manager.flush()
        #expect(stored() == [1, 2, 3] && provider.data.ids == [1, 2, 3])
    }

    @Test("An answer of the network does not undo an edit of a list that no screen shows")
    func outOfDate() async throws {
        put(1)
        let network = StepNetwork<[ParentModel]>()
        let provider = provider()
        let task = Task {
            try await provider.fetch("all", policy: .networkThenCache) { try await network.ask() }
        }
        await network.calls.reaches(1)
        #expect(await append(2) == nil)
        await manager.flush()
        network.answer(1, with: .success(list(1)))
        #expect(try await task.value.ids == [1, 2])
        await manager.flush()
        #expect(stored() == [1, 2] && delegate.outcomes == ["out of date"])
    }

    @Test("A list whose write fails stays shown, also if others have changed the stored one")
    func failedSet() async {
        put(1)
        let provider = provider()
        cache.reply(.failure(CacheFailure(number: 1)), to: "all")
        cache.isHolding = true
        provider.setData(list(7), cacheKey: "all")
        cache.send(CacheChanges(keys: ["all"]))
        for _ in 0..<100 { await Task.yield() }
        cache.isHolding = false
        cache.release()
        await manager.flush()
        #expect(provider.data.ids == [7] && delegate.failures.count == 1)
        for _ in 0..<100 { await Task.yield() }
        await manager.flush()
        #expect(provider.data.ids == [7])
    }
}
