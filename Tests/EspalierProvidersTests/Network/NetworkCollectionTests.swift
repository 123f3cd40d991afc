import EspalierConsistency
import EspalierModels
import EspalierProviders
import EspalierRecords
import EspalierTestSupport
import Testing

@MainActor @Suite("A provider fetches a collection from the network", .timeLimit(.minutes(2)))
struct NetworkCollectionTests {
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

    private func stored() -> [Int]? { cache.inner.collection("all", ParentModel.self)?.ids }

    private func run(
        _ policy: FetchPolicy, cached: [Int]?, isExpired: Bool = false, fails: Bool = false
    ) async -> String {
        let (cache, delegate) = (SharedCache(), NetworkDelegate())
        let manager = DataModelManager(cache: cache)
        let provider = CollectionDataProvider<ParentModel>(dataModelManager: manager)
        provider.delegate = delegate
        if let cached {
            cache.inner.state.withLock {
                $0.collections["all"] = cached.map { ParentModel.named($0, "") }
            }
            if isExpired { cache.expire("all") }
        }
        let network = StepNetwork<[ParentModel]>([
            fails ? .failure(NetworkFailure()) : .success(list(2, 3))
        ])
        var parts: [String] = []
        do {
            let all = try await provider.fetch("all", policy: policy) { try await network.ask() }
            parts.append("\(all.ids)")
        } catch {
            parts.append(error is NetworkFailure ? "network's error" : "\(error is FetchError)")
        }
        if policy == .staleWhileRevalidate, isExpired { await delegate.fetched.reaches(1) }
        await manager.flush()
        let asked = network.calls.count == 1 && !fails
        #expect(cache.inner.collection("all", ParentModel.self)?.ids == (asked ? [2, 3] : cached))
        parts.append("then \(provider.data.ids)")
        return (parts + delegate.outcomes).joined(separator: " ")
    }

    @Test("Each policy with a hit, an expired hit, a miss, and a network that fails")
    func policies() async {
        #expect(await run(.cacheOnly, cached: [1]) == "[1] then [1]")
        #expect(await run(.cacheOnly, cached: [1], isExpired: true) == "true then []")
        #expect(await run(.cacheOnly, cached: nil) == "true then []")
        let new = "[2, 3] then [2, 3] shown"
        let failed = "network's error then [] failed: true"
        #expect(await run(.cacheThenNetwork, cached: [1]) == "[1] then [1]")
        #expect(await run(.cacheThenNetwork, cached: [1], isExpired: true) == new)
        #expect(await run(.cacheThenNetwork, cached: nil) == new)
        #expect(await run(.cacheThenNetwork, cached: nil, fails: true) == failed)
        let old = "[1] then [1] failed: true"
        for policy in [FetchPolicy.networkThenCache, .cacheAndNetwork] {
            for isExpired in [true, false] {
                #expect(await run(policy, cached: [1], isExpired: isExpired) == new)
                #expect(await run(policy, cached: [1], isExpired: isExpired, fails: true) == old)
            }
            #expect(await run(policy, cached: nil) == new)
            #expect(await run(policy, cached: nil, fails: true) == failed)
        }
        let stale = FetchPolicy.staleWhileRevalidate
        #expect(await run(stale, cached: [1]) == "[1] then [1]")
        #expect(await run(stale, cached: [1], isExpired: true) == "[1] then [2, 3] shown")
        #expect(await run(stale, cached: [1], isExpired: true, fails: true) == old)
        #expect(await run(stale, cached: nil) == new)
        #expect(await run(stale, cached: nil, fails: true) == failed)
    }

    @Test("The cache alone misses a list that has expired, also if it is shown")
    func cacheOnlyOfShown() async throws {
        cache.inner.put(list(1), "all")
        let provider = provider()
        #expect(try await provider.fetch("all", policy: .cacheOnly) { list(2) }.ids == [1])
        #expect(try await provider.fetch("all", policy: .cacheOnly) { list(2) }.ids == [1])
        cache.expire("all")
        let expired = MissReason.expired(path: "all", age: .seconds(60))
        await #expect(throws: FetchError.miss(expired)) {
            try await provider.fetch("all", policy: .cacheOnly) { list(2) }
        }
        #expect(provider.missReason == expired && provider.data.ids == [1])
    }

    @Test("A hundred providers are one request and one write, and get the steps")
    func hundred() async throws {
        cache.inner.state.withLock { $0.collections["all"] = list(1, 2) }
        cache.expire("all")
        let network = StepNetwork<[ParentModel]>()
        let providers = (0..<100).map { _ in provider() }
        let tasks = providers.map { provider in
            Task {
                try await provider.fetch("all", policy: .cacheAndNetwork) {
                    try await network.ask()
                }
            }
        }
        await until { providers.allSatisfy { $0.data.ids == [1, 2] } }
        await manager.flush()
        let writes = cache.policies.count
        delegate.changes = []
        network.answer(1, with: .success(list(2, 3)))
        for task in tasks { #expect(try await task.value.ids == [2, 3]) }
        await manager.flush()
        #expect(network.calls.count == 1 && cache.policies.count == writes + 1)
        #expect(stored() == [2, 3] && delegate.outcomes.count == 100)
        // Not a reset: the second element stays in place.
        let isStepwise = delegate.changes.allSatisfy { $0 != .reset }
        #expect(isStepwise && delegate.changes.count == 100)
    }

    @Test("A change during a request is read once, and not again and again until the answer")
    func changeDuringRequest() async throws {
        cache.inner.put(list(1), "all")
        let (other, network) = (provider(), StepNetwork<[ParentModel]>())
        _ = try await other.fetch("all")
        let provider = provider()
        let task = Task {
            try await provider.fetch("more", policy: .networkThenCache) { try await network.ask() }
        }
        await network.calls.reaches(1)
        let reads = cache.collectionReads
        cache.inner.put(list(1, 2), "all")
        cache.send(CacheChanges(keys: ["all"]))
        await until { other.data.ids == [1, 2] }
        try await Task.sleep(for: .milliseconds(50))
        #expect(cache.collectionReads - reads == 1)
        network.answer(1, with: .success(list(5)))
        #expect(try await task.value.ids == [5])
        await manager.flush()
        #expect(other.data.ids == [1, 2])
    }

    @Test("Of two fetches at once of what is shown, both have it if the network fails")
    func twoFetchesOffline() async throws {
        cache.inner.put(list(1), "all")
        let (provider, network) = (provider(), StepNetwork<[ParentModel]>())
        _ = try await provider.fetch("all")
        let tasks = (0..<2).map { _ in
            Task {
                try await provider.fetch("all", policy: .networkThenCache) {
                    try await network.ask()
                }
            }
        }
        await network.calls.reaches(1)
        await manager.flush()
        network.answer(1, with: .failure(NetworkFailure()))
        for task in tasks { #expect(try await task.value.ids == [1]) }
    }

    @Test("A list that has expired goes on following others")
    func expiredList() async throws {
        cache.inner.put(list(1), "all")
        let provider = provider()
        _ = try await provider.fetch("all")
        cache.expire("all")
        cache.inner.put(list(1, 2), "all")
        cache.send(CacheChanges(keys: ["all"]))
        await until { provider.data.ids == [1, 2] }
        // Also if the cache was emptied and has another list by now.
        cache.inner.put(list(3), "all")
        cache.send(CacheChanges(isReset: true, isEmptied: true))
        await until { provider.data.ids == [3] }
    }

    @Test("An edit after the fetch began wins, on all screens and in the cache")
    func editedMeanwhile() async throws {
        let (provider, network) = (provider(), StepNetwork<[ParentModel]>())
        let other = self.provider()
        other.setData(list(1), cacheKey: "all")
        let task = Task {
            try await provider.fetch("all", policy: .cacheAndNetwork) { try await network.ask() }
        }
        await network.calls.reaches(1)
        other.append(list(5))
        network.answer(1, with: .success(list(2, 3)))
        #expect(try await task.value.ids == [1, 5])
        await manager.flush()
        #expect(provider.data.ids == [1, 5] && stored() == [1, 5])
        #expect(delegate.outcomes == ["out of date"])
    }

    @Test("A provider that shows another collection by then goes on, and the answer is saved")
    func otherCollection() async throws {
        let (provider, network) = (provider(), StepNetwork<[ParentModel]>())
        let task = Task {
            try await provider.fetch("all", policy: .networkThenCache) { try await network.ask() }
        }
        await network.calls.reaches(1)
        provider.setData(list(9), cacheKey: "others")
        network.answer(1, with: .success(list(2, 3)))
        #expect(try await task.value.ids == [9])
        await manager.flush()
        #expect(provider.cacheKey == "others" && stored() == [2, 3])
        #expect(delegate.outcomes == ["out of date"])
    }

    @Test("All callers gone: an answer that comes is saved; a failed write is told to the delegate")
    func nobodyLeft() async throws {
        let network = StepNetwork<[ParentModel]>(ignoresCancellation: true)
        let provider = provider()
        let task = Task {
            try await provider.fetch("all", policy: .networkThenCache) { try await network.ask() }
        }
        await network.calls.reaches(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        network.answer(1, with: .success(list(2, 3)))
        await until { stored() == [2, 3] }
        cache.reply(.failure(CacheFailure(number: 3)), to: "all")
        network.answer(2, with: .success(list(4)))
        let all = try await provider.fetch("all", policy: .networkThenCache) {
            try await network.ask()
        }
        #expect(all.ids == [4])
        await until { !delegate.failures.isEmpty }
        #expect(delegate.failures.map(\.names) == [["all"]])
    }

    @Test("An element that is deleted while the network answers does not come back")
    func deletedMeanwhile() async throws {
        cache.inner.put(list(1, 2, 3), "all")
        let (provider, network) = (provider(), StepNetwork<[ParentModel]>())
        let task = Task {
            try await provider.fetch("all", policy: .cacheAndNetwork) { try await network.ask() }
        }
        await network.calls.reaches(1)
        for id in [2, 3] { manager.deleteModel(ParentModel.named(id, "")) }
        manager.updateModel(ParentModel.named(3, "again"))
        network.answer(1, with: .success(list(1, 2, 3, 4)))
        #expect(try await task.value.ids == [1, 3, 4])
        await manager.flush()
        #expect(provider.data.ids == [1, 3, 4] && stored() == [1, 3, 4])
        // The next answer tells whether the server still has the element.
        network.answer(2, with: .success(list(1, 2)))
        try await provider.fetch("all", policy: .networkThenCache) { try await network.ask() }
        #expect(provider.data.ids == [1, 2])
    }

    @Test(
        "A late answer does not take the place of the list that was fetched again meanwhile",
        arguments: [true, false])
    func leftAgain(byPolicy: Bool) async throws {
        cache.inner.put(list(1), "all")
        let (provider, network) = (provider(), StepNetwork<[ParentModel]>())
        _ = try await provider.fetch("all")
        let task = Task {
            try await provider.fetch("more", policy: .networkThenCache) { try await network.ask() }
        }
        await network.calls.reaches(1)
        if byPolicy {
            try await provider.fetch("all", policy: .cacheOnly) { throw NetworkFailure() }
        } else {
            _ = try await provider.fetch("all")
        }
        network.answer(1, with: .success(list(5)))
        #expect(try await task.value.ids == [1])
        await manager.flush()
        #expect(provider.data.ids == [1] && delegate.outcomes == ["out of date"])
        #expect(cache.inner.collection("more", ParentModel.self)?.ids == [5])
    }

    @Test("A paused provider shows what it has fetched itself")
    func paused() async throws {
        let (provider, other) = (provider(), self.provider())
        provider.setData(list(1), cacheKey: "all")
        other.setData(list(1), cacheKey: "all")
        provider.isPaused = true
        other.isPaused = true
        try await provider.fetch("all", policy: .networkThenCache) { list(2, 3) }
        #expect(provider.data.ids == [2, 3] && other.data.ids == [1])
        other.isPaused = false
        provider.isPaused = false
        #expect(other.data.ids == [2, 3] && provider.data.ids == [2, 3])
    }
}
