import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("Providers of one key agree on random walks")
struct CollectionWalkTests {
    @Test(
        "Providers show what an array contains, report exact steps, and save it",
        arguments: 0..<40 as Range<UInt64>)
    func plainCache(_ seed: UInt64) async {
        let walk = CollectionWalk(MemoryCache(), seed: seed)
        await walk.run(rounds: 20)
        // The elements are those of the last save of the list: a cache of whole models stores
        // nothing else.
        #expect(
            (walk.cache.collection("key", ChildModel.self) ?? []).map(\.id)
                == walk.expected.map(\.id))
    }

    @Test(
        "A cache that accepts edits gets them in order", arguments: 100..<140 as Range<UInt64>
    )
    func editingCache(_ seed: UInt64) async {
        let walk = CollectionWalk(EditingCache(), seed: seed)
        await walk.run(rounds: 20)
        #expect(
            (walk.cache.collection("key", ChildModel.self) ?? []).map(\.id)
                == walk.expected.map(\.id))
    }

    @Test(
        "Providers agree even if paused ones edit what they show",
        arguments: 300..<340 as Range<UInt64>)
    func pausedEdit(_ seed: UInt64) async {
        let walk = CollectionWalk(EditingCache(), seed: seed, pausedEdit: true)
        await walk.run(rounds: 20)
        #expect(
            (walk.cache.collection("key", ChildModel.self) ?? []).map(\.id)
                == walk.expected.map(\.id))
    }

    @Test(
        "A cache that fails at times has caught up after the next edit",
        arguments: 200..<210 as Range<UInt64>)
    func failingCache(_ seed: UInt64) async {
        let cache = EditingCache()
        let walk = CollectionWalk(cache, seed: seed)
        for outcome in 0..<20 {
            if outcome % 3 == 0 { cache.answerNext(.failed(CacheFailure())) }
            if outcome % 5 == 0 { cache.answerNext(.outOfDate) }
            await walk.run(rounds: 2)
        }
        let provider = walk.screens[0].provider
        cache.state.withLock { $0.outcomes = [] }
        provider.append([ChildModel.row(nil, "last")])
        await walk.manager.flush()
        provider.append([ChildModel.row(nil, "very last")])
        await walk.manager.flush()
        #expect(cache.collection("key", ChildModel.self)?.map(\.id) == provider.data.map(\.id))
    }
}
