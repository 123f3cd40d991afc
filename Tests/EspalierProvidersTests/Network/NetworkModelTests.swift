import EspalierConsistency
import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierProviders

@MainActor @Suite("A provider fetches from the network", .timeLimit(.minutes(2)))
struct NetworkModelTests {
    private let cache = SharedCache()
    private let manager: DataModelManager
    private let delegate = NetworkDelegate()
    private let key = "ParentModel:1"

    init() { manager = DataModelManager(cache: cache) }

    private func provider() -> DataProvider<ParentModel> {
        let provider = DataProvider<ParentModel>(dataModelManager: manager)
        provider.delegate = delegate
        return provider
    }

    private func put(_ name: String, isExpired: Bool = false) {
        cache.inner.state.withLock { $0.models[key] = ParentModel.named(1, name) }
        if isExpired { cache.expire(key) }
    }

    private func stored(_ key: String = "ParentModel:1") -> String? {
        cache.inner.model(key, ParentModel.self)?.name
    }

    /// What a fetch shows, throws and tells, with what the cache has and a network that answers at
    /// once.
    private func run(
        _ policy: FetchPolicy, cached: String?, isExpired: Bool = false, fails: Bool = false
    ) async -> String {
        let (cache, delegate) = (SharedCache(), NetworkDelegate())
        let manager = DataModelManager(cache: cache)
        let provider = DataProvider<ParentModel>(dataModelManager: manager)
        provider.delegate = delegate
        if let cached {
            cache.inner.state.withLock { $0.models[key] = ParentModel.named(1, cached) }
            if isExpired { cache.expire(key) }
        }
        let network = StepNetwork<ParentModel>([
            fails ? .failure(NetworkFailure()) : .success(.named(1, "new"))
        ])
        var parts: [String] = []
        do {
            let model = try await provider.fetch(key, policy: policy) { try await network.ask() }
            #expect(policy == .staleWhileRevalidate || model == provider.data)
            parts.append(model?.name ?? "nothing")
        } catch {
            parts.append(error is NetworkFailure ? "network's error" : "\(error is FetchError)")
        }
        if policy == .staleWhileRevalidate, isExpired { await delegate.fetched.reaches(1) }
        await manager.flush()
        let asked = network.calls.count == 1 && !fails
        #expect(cache.inner.model(key, ParentModel.self)?.name == (asked ? "new" : cached))
        parts.append("then \(provider.data?.name ?? "nothing")")
        return (parts + delegate.outcomes).joined(separator: ", ")
    }

    @Test("Each policy with a hit, an expired hit, a miss, and a network that fails")
    func policies() async {
        let miss = "true, then nothing"
        #expect(await run(.cacheOnly, cached: "old") == "old, then old")
        #expect(await run(.cacheOnly, cached: "old", isExpired: true) == miss)
        #expect(await run(.cacheOnly, cached: nil) == miss)
        let new = "new, then new, shown"
        let failed = "network's error, then nothing, failed: true"
        #expect(await run(.cacheThenNetwork, cached: "old") == "old, then old")
        #expect(await run(.cacheThenNetwork, cached: "old", isExpired: true) == new)
        #expect(await run(.cacheThenNetwork, cached: nil) == new)
        #expect(await run(.cacheThenNetwork, cached: nil, fails: true) == failed)
        #expect(await run(.cacheThenNetwork, cached: "old", isExpired: true, fails: true) == failed)
        let old = "old, then old, failed: true"
        for policy in [FetchPolicy.networkThenCache, .cacheAndNetwork] {
            for isExpired in [true, false] {
                #expect(await run(policy, cached: "old", isExpired: isExpired) == new)
                #expect(await run(policy, cached: "old", isExpired: isExpired, fails: true) == old)
            }
            #expect(await run(policy, cached: nil) == new)
            #expect(await run(policy, cached: nil, fails: true) == failed)
        }
        let stale = FetchPolicy.staleWhileRevalidate
        #expect(await run(stale, cached: "old") == "old, then old")
        #expect(await run(stale, cached: "old", isExpired: true) == "old, then new, shown")
        #expect(await run(stale, cached: "old", isExpired: true, fails: true) == old)
        #expect(await run(stale, cached: nil) == new)
        #expect(await run(stale, cached: nil, fails: true) == failed)
    }

    @Test("The cache alone misses what has expired or was evicted, also if it is shown")
    func cacheOnlyOfShown() async throws {
        put("old")
        let provider = provider()
        @MainActor func fetch() async throws -> String? {
            try await provider.fetch(key, policy: .cacheOnly) { throw NetworkFailure() }?.name
        }
        #expect(try await fetch() == "old")
        #expect(try await fetch() == "old" && provider.missReason == nil)
        cache.expire(key)
        let expired = MissReason.expired(path: key, age: .seconds(60))
        await #expect(throws: FetchError.miss(expired)) { try await fetch() }
        #expect(provider.missReason == expired && provider.data?.name == "old")
        let evicted = self.provider()
        evicted.setData(.named(2, "shown"))
        await manager.flush()
        cache.miss("ParentModel:2", .notFound)
        await #expect(throws: FetchError.miss(.notFound)) {
            try await evicted.fetch("ParentModel:2", policy: .cacheOnly) { .named(2, "new") }
        }
        #expect(evicted.data?.name == "shown")
        cache.miss("ParentModel:2", .unavailable(detail: "closed"))
        await #expect(throws: MissReason.unavailable(detail: "closed")) {
            try await evicted.fetch("ParentModel:2", policy: .cacheOnly) { .named(2, "new") }
        }
    }

    @Test("What the cache has is shown while the network is still asked")
    func cacheAtOnce() async throws {
        put("old", isExpired: true)
        let (provider, network) = (provider(), StepNetwork<ParentModel>())
        var changes = provider.changes.makeAsyncIterator()
        let task = Task {
            try await provider.fetch(key, policy: .cacheAndNetwork) { try await network.ask() }
        }
        await until { provider.data?.name == "old" }
        #expect(await changes.next()?.origin == .cache && delegate.outcomes == [])
        network.answer(1, with: .success(.named(1, "new")))
        #expect(try await task.value?.name == "new")
        await manager.flush()
        #expect(provider.data?.name == "new" && delegate.outcomes == ["shown"])
        // Kept consistent from then on.
        manager.updateModel(ParentModel.named(1, "newer"))
        await manager.flush()
        #expect(provider.data?.name == "newer" && stored() == "newer")
    }

    @Test("A hundred providers at once are one request and one write, and all screens show it")
    func hundred() async throws {
        let network = StepNetwork<ParentModel>()
        let providers = (0..<100).map { _ in provider() }
        let shown = provider()
        shown.setData(.named(1, "old"), updateCache: false)
        let tasks = providers.map { provider in
            Task {
                try await provider.fetch(key, policy: .cacheThenNetwork) { try await network.ask() }
            }
        }
        await network.calls.reaches(1)
        // One that asked after the answer would be a request of its own.
        await until { manager.flights.waitingCount == 100 }
        let writes = cache.policies.count
        network.answer(1, with: .success(.named(1, "new")))
        for task in tasks { #expect(try await task.value?.name == "new") }
        await manager.flush()
        #expect(network.calls.count == 1 && cache.policies.count == writes + 1)
        #expect(providers.allSatisfy { $0.data?.name == "new" } && shown.data?.name == "new")
        #expect(delegate.outcomes.count == 100 && Set(delegate.outcomes) == ["shown"])
    }

    @Test("A model that is set after the fetch began wins, on the screen and in the cache")
    func setMeanwhile() async throws {
        let (provider, network) = (provider(), StepNetwork<ParentModel>())
        let task = Task {
            try await provider.fetch(key, policy: .networkThenCache) { try await network.ask() }
        }
        await network.calls.reaches(1)
        provider.setData(.named(1, "mine"))
        network.answer(1, with: .success(.named(1, "older")))
        #expect(try await task.value?.name == "mine")
        await manager.flush()
        #expect(provider.data?.name == "mine" && stored() == "mine")
        #expect(delegate.outcomes == ["out of date"])
    }

    @Test("A provider that shows another model by then goes on, and the answer is saved")
    func otherModelMeanwhile() async throws {
        let (provider, network) = (provider(), StepNetwork<ParentModel>())
        let waiting = self.provider()
        waiting.modelIdentifier = key
        let task = Task {
            try await provider.fetch(key, policy: .networkThenCache) { try await network.ask() }
        }
        await network.calls.reaches(1)
        provider.setData(.named(2, "other"))
        network.answer(1, with: .success(.named(1, "new")))
        #expect(try await task.value?.name == "other")
        await manager.flush()
        #expect(provider.data?.name == "other" && delegate.outcomes == ["out of date"])
        #expect(stored() == "new" && waiting.data?.name == "new")
    }

    @Test("A newer version that was set elsewhere is shown instead, and stays in the cache")
    func updatedElsewhere() async throws {
        let (provider, network) = (provider(), StepNetwork<ParentModel>())
        let task = Task {
            try await provider.fetch(key, policy: .networkThenCache) { try await network.ask() }
        }
        await network.calls.reaches(1)
        manager.updateModel(ParentModel.named(1, "theirs"))
        network.answer(1, with: .success(.named(1, "older")))
        _ = try await task.value
        await manager.flush()
        #expect(provider.data?.name == "theirs" && stored() == "theirs")
        #expect(delegate.outcomes == ["out of date"])
        // The next request is not affected.
        network.answer(2, with: .success(.named(1, "new")))
        try await provider.fetch(key, policy: .networkThenCache) { try await network.ask() }
        await manager.flush()
        #expect(provider.data?.name == "new" && stored() == "new")
    }

    @Test("An answer between the commit of an update in one step and its reply is out of date")
    func updatedInOneStep() async throws {
        put("old")
        let (provider, network) = (provider(), StepNetwork<ParentModel>())
        let task = Task {
            try await provider.fetch(key, policy: .networkThenCache) { try await network.ask() }
        }
        await network.calls.reaches(1)
        cache.isHolding = true
        let update = Task {
            try await manager.update(ParentModel.self, key) { .named($0.id, $0.name + "+") }
        }
        await until { stored() == "old+" }
        network.answer(1, with: .success(.named(1, "older")))
        _ = try await task.value
        cache.isHolding = false
        cache.release()
        #expect(try await update.value.name == "old+")
        await manager.flush()
        #expect(provider.data?.name == "old+" && stored() == "old+")
        #expect(delegate.outcomes == ["out of date"])
    }

    @Test("An update in one step that fails does not make the network's answer out of date")
    func failedUpdateInOneStep() async throws {
        let (provider, network) = (provider(), StepNetwork<ParentModel>())
        let task = Task {
            try await provider.fetch(key, policy: .networkThenCache) { try await network.ask() }
        }
        await network.calls.reaches(1)
        await #expect(throws: MissReason.notFound) {
            try await manager.update(ParentModel.self, key) { $0 }
        }
        network.answer(1, with: .success(.named(1, "new")))
        #expect(try await task.value?.name == "new")
        await manager.flush()
        #expect(stored() == "new" && delegate.outcomes == ["shown"])
    }

    @Test(
        "A late answer does not take the place of the model that was fetched again meanwhile",
        arguments: [true, false])
    func leftAgain(byPolicy: Bool) async throws {
        put("shown")
        let (provider, network) = (provider(), StepNetwork<ParentModel>())
        _ = try await provider.fetch(key)
        let task = Task {
            try await provider.fetch("ParentModel:2", policy: .networkThenCache) {
                try await network.ask()
            }
        }
        await network.calls.reaches(1)
        if byPolicy {
            try await provider.fetch(key, policy: .cacheOnly) { throw NetworkFailure() }
        } else {
            _ = try await provider.fetch(key)
        }
        network.answer(1, with: .success(.named(2, "late")))
        #expect(try await task.value?.name == "shown")
        await manager.flush()
        #expect(provider.data?.name == "shown" && delegate.outcomes == ["out of date"])
        // Others may want it.
        #expect(stored("ParentModel:2") == "late")
    }

    @Test("Changes are kept as long as a request is open that began before them")
    func recentRoots() {
        var roots = RecentRoots()
        roots.note(ParentModel.self, "a")
        #expect(roots.count == 0)
        let first = roots.beginRequest()
        for number in 0..<100 { roots.note(ParentModel.self, "\(number)") }
        let second = roots.beginRequest()
        roots.note(ParentModel.self, "0")
        #expect(roots.count == 100 && roots.hasChanged("99", as: ParentModel.self, since: first))
        roots.endRequest(first)
        #expect(roots.count == 1 && roots.hasChanged("0", as: ParentModel.self, since: second))
        let third = roots.beginRequest()
        roots.endRequest(third)
        #expect(roots.count == 1)
        roots.endRequest(second)
        #expect(roots.count == 0)
    }

    @Test("A failed request does not let the cache undo what was set meanwhile")
    func setBeforeFailure() async throws {
        put("old")
        let (provider, network) = (provider(), StepNetwork<ParentModel>())
        let task = Task {
            try await provider.fetch(key, policy: .networkThenCache) { try await network.ask() }
        }
        await network.calls.reaches(1)
        provider.setData(.named(2, "other"))
        network.answer(1, with: .failure(NetworkFailure()))
        await #expect(throws: NetworkFailure()) { try await task.value }
        await manager.flush()
        #expect(provider.data?.name == "other")
    }

    @Test("A cancelled caller leaves at once; the last one cancels; a late answer is still saved")
    func cancelling() async throws {
        let network = StepNetwork<ParentModel>(ignoresCancellation: true)
        let providers = (0..<3).map { _ in provider() }
        let tasks = providers.map { provider in
            Task {
                try await provider.fetch(key, policy: .networkThenCache) { try await network.ask() }
            }
        }
        await network.calls.reaches(1)
        for task in tasks {
            #expect(network.cancellations.count == 0)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        await network.cancellations.reaches(1)
        #expect(delegate.outcomes == [])
        network.answer(1, with: .success(.named(1, "late")))
        await until { stored() == "late" }
        #expect(providers.allSatisfy { $0.data == nil })
    }

    @Test("A caller who is cancelled while the cache does not reply leaves at once")
    func silentCache() async throws {
        let held = HeldCache()
        let provider = DataProvider<ParentModel>(
            dataModelManager: DataModelManager(cacheDelegate: held))
        let network = StepNetwork<ParentModel>()
        let task = Task {
            try await provider.fetch(key, policy: .cacheThenNetwork) { try await network.ask() }
        }
        await held.waitForReads(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        held.drop()
    }

    @Test("A refresh behind an answer is saved even if its provider is gone")
    func refreshOutlives() async throws {
        put("old", isExpired: true)
        let network = StepNetwork<ParentModel>()
        var provider: DataProvider<ParentModel>? = self.provider()
        let model = try await provider?.fetch(key, policy: .staleWhileRevalidate) {
            try await network.ask()
        }
        #expect(model?.name == "old")
        weak let gone = provider
        provider = nil
        #expect(gone == nil)
        await network.calls.reaches(1)
        network.answer(1, with: .success(.named(1, "new")))
        await until { stored() == "new" }
        #expect(network.cancellations.count == 0)
    }

    @Test("Attempts wait as the policy says; what changes between two attempts is older")
    func retrying() async throws {
        let (provider, clock) = (provider(), StepClock())
        let network = StepNetwork<ParentModel>([.failure(NetworkFailure())])
        let task = Task {
            try await provider.fetch(
                key, policy: .cacheThenNetwork,
                retry: .exponential(maximumAttempts: 2, firstDelay: .seconds(3)), clock: clock
            ) { try await network.ask() }
        }
        await clock.waitForSleeps(1)
        manager.updateModel(ParentModel.named(1, "between"))
        clock.advance(by: .seconds(3))
        await network.calls.reaches(2)
        network.answer(2, with: .success(.named(1, "new")))
        #expect(try await task.value?.name == "new")
        await manager.flush()
        #expect(provider.data?.name == "new" && stored() == "new")
        #expect(clock.sleeps == [.seconds(3)] && delegate.outcomes == ["shown"])
    }

    @Test("The delegate is told if the network's answer can't be stored; it is shown all the same")
    func failedSave() async throws {
        cache.reply(.failure(CacheFailure(number: 3)), to: key)
        let provider = provider()
        let model = try await provider.fetch(key, policy: .cacheThenNetwork) { .named(1, "new") }
        #expect(model?.name == "new")
        await until { !delegate.failures.isEmpty }
        #expect(delegate.failures.map(\.names) == [[key]] && delegate.outcomes == ["shown"])
    }

    @Test("An answer for another key is saved under that key; a plain cache works as well")
    func plainCache() async throws {
        let rig = Rig()
        let provider = rig.single()
        for _ in 0..<2 {
            let model = try await provider.fetch("front page", policy: .cacheThenNetwork) {
                .named(7, "seven")
            }
            #expect(model?.name == "seven")
        }
        await rig.flush()
        #expect(rig.cache.model("front page", ParentModel.self)?.name == "seven")
    }
}
