import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("providers of one key, on random walks")
struct CollectionWalkTests {
    @Test(
        "show what a plain array says, tell it in exact steps, and store it",
        arguments: 0..<40 as Range<UInt64>)
    func plainCache(_ seed: UInt64) async {
        let walk = CollectionWalk(MemoryCache(), seed: seed)
        await walk.run(rounds: 20)
        // Its elements are as they were when the list was last saved: a cache of whole models knows
        // no better.
        #expect(
            (walk.cache.collection("key", ChildModel.self) ?? []).map(\.id)
                == walk.expected.map(\.id))
    }

    @Test(
        "a cache that takes edits has them in the same order", arguments: 100..<140 as Range<UInt64>
    )
    func editingCache(_ seed: UInt64) async {
        let walk = CollectionWalk(EditingCache(), seed: seed)
        await walk.run(rounds: 20)
        #expect(
            (walk.cache.collection("key", ChildModel.self) ?? []).map(\.id)
                == walk.expected.map(\.id))
    }

    @Test("agree, also when paused ones edit what they show", arguments: 300..<340 as Range<UInt64>)
    func pausedEdit(_ seed: UInt64) async {
        let walk = CollectionWalk(EditingCache(), seed: seed, pausedEdit: true)
        await walk.run(rounds: 20)
        #expect(
            (walk.cache.collection("key", ChildModel.self) ?? []).map(\.id)
                == walk.expected.map(\.id))
    }

    @Test(
        "a cache that fails now and then has caught up after the next edit",
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
