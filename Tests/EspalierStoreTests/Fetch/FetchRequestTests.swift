import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Requests of fetches", .timeLimit(.minutes(3)))
struct FetchRequestTests {
    private let clock = FetchClock()

    private func task(
        _ cache: NormalizedCache, _ network: StepNetwork<Song>, _ key: String = "Song:1",
        policy: FetchPolicy = .cacheThenNetwork
    ) -> Task<Song, any Error> {
        Task {
            try await cache.fetch(Song.self, key, policy: policy) { try await network.ask() }
        }
    }

    private func waitForCallers(
        _ count: Int, _ cache: NormalizedCache, _ key: String = "Song:1"
    ) async {
        let key = SingleFlight.Key(.model, Song.self, key)
        while cache.engine.flights.passageCount(key) != count { await Task.yield() }
    }

    @Test("A hundred callers at once are one request and one write")
    func hundred() async throws {
        try await withCache(clock.configuration) { cache in
            let network = StepNetwork<Song>()
            let callers = (0..<100).map { number in
                task(
                    cache, network,
                    policy: [.cacheThenNetwork, .networkThenCache, .staleWhileRevalidate][
                        number % 3])
            }
            await waitForCallers(100, cache)
            let before = try cache.statistics().commits
            network.answer(1, with: .success(Song(id: 1, name: "new")))
            for caller in callers { #expect(try await caller.value.name == "new") }
            #expect(network.calls.count == 1)
            #expect(try cache.statistics().commits == before + 1)
        }
    }

    @Test("Of ten callers nine leave and the tenth gets the answer; then the last one leaves")
    func leaving() async throws {
        try await withCache(clock.configuration) { cache in
            let network = StepNetwork<Song>()
            let callers = (0..<10).map { _ in task(cache, network) }
            await waitForCallers(10, cache)
            for caller in callers.dropLast() {
                caller.cancel()
                await #expect(throws: CancellationError.self) { try await caller.value }
            }
            #expect(network.cancellations.count == 0)
            network.answer(1, with: .success(Song(id: 1, name: "new")))
            let last = try await callers[9].value
            #expect(last.name == "new")
            let others = (0..<3).map { _ in task(cache, network, "Song:2") }
            await waitForCallers(3, cache, "Song:2")
            for caller in others { caller.cancel() }
            await network.cancellations.reaches(1)
            await cache.waitForRequests()
            // A cancelled request is not joined, and nobody inherits its end.
            let next = task(cache, network, "Song:2")
            await network.calls.reaches(3)
            network.answer(3, with: .success(Song(id: 2, name: "second")))
            #expect(try await next.value.name == "second")
        }
    }

    @Test("A fetch that never ends blocks nobody else")
    func hanging() async throws {
        try await withCache(clock.configuration) { cache in
            let network = StepNetwork<Song>(ignoresCancellation: true)
            let stuck = task(cache, network)
            await network.calls.reaches(1)
            for id in 2..<20 {
                let other = StepNetwork<Song>([.success(Song(id: id, name: "\(id)"))])
                #expect(try await task(cache, other, "Song:\(id)").value.name == "\(id)")
            }
            // Reads and writes of the same model neither wait for it nor are lost by it.
            try await cache.set(Song(id: 1, name: "mine")).committed
            #expect(await cache.read(Song.self, "Song:1")?.name == "mine")
            #expect(try await task(cache, network).value.name == "mine")
            stuck.cancel()
            await #expect(throws: CancellationError.self) { try await stuck.value }
            network.answer(1, with: .failure(NetworkFailure()))
            await cache.waitForRequests()
        }
    }

    @Test("Attempts wait exactly as long as the policy says, once for all callers")
    func retrying() async throws {
        try await withCache(clock.configuration) { cache in
            let steps = StepClock()
            let network = StepNetwork<Song>([
                .failure(NetworkFailure(1)), .failure(NetworkFailure(2)),
                .success(Song(id: 1, name: "third")),
            ])
            let callers = (0..<5).map { _ in
                Task {
                    try await cache.fetch(
                        Song.self, "Song:1", policy: .cacheThenNetwork,
                        retry: .exponential(maximumAttempts: 3, firstDelay: .seconds(2)),
                        clock: steps
                    ) { try await network.ask() }
                }
            }
            await waitForCallers(5, cache)
            await steps.waitForSleeps(1)
            steps.advance(by: .seconds(2))
            await steps.waitForSleeps(2)
            #expect(network.calls.count == 2)
            steps.advance(by: .seconds(4))
            for caller in callers {
                let song = try await caller.value
                #expect(song.name == "third")
            }
            #expect(steps.sleeps == [.seconds(2), .seconds(4)] && network.calls.count == 3)
        }
    }

    @Test("The last caller who leaves during a wait ends it; a final error is not repeated")
    func retryEnds() async throws {
        try await withCache(clock.configuration) { cache in
            let steps = StepClock()
            let network = StepNetwork<Song>([
                .failure(NetworkFailure(1)), .failure(NetworkFailure(404)),
            ])
            let fetch: @Sendable () async throws -> Song = {
                try await cache.fetch(
                    Song.self, "Song:1", policy: .networkThenCache,
                    retry: .exponential(firstDelay: .seconds(2)),
                    when: { ($0 as? NetworkFailure)?.number != 404 }, clock: steps
                ) { try await network.ask() }
            }
            let task = Task { try await fetch() }
            await steps.waitForSleeps(1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await cache.waitForRequests()
            #expect(network.calls.count == 1)
            await #expect(throws: NetworkFailure(404)) { try await fetch() }
            #expect(network.calls.count == 2 && steps.sleeps.count == 1)
        }
    }

    @Test("The answer is what was written: partial models come back merged")
    func merging() async throws {
        try await withCache(clock.configuration) { cache in
            try await cache.set(Partial(id: 1, name: "Ada", town: "London")).committed
            let partial = try await cache.fetch(
                Partial.self, "Partial:1", policy: .networkThenCache
            ) {
                Partial(id: 1, name: "Ada Lovelace", town: nil)
            }
            #expect(partial == Partial(id: 1, name: "Ada Lovelace", town: "London"))
        }
    }

    @Test("A key that is not the identifier works as well, and so does an age of the fetch's own")
    func keys() async throws {
        try await withCache(clock.configuration) { cache in
            let network = StepNetwork<Song>([
                .success(Song(id: 7, name: "seven")), .success(Song(id: 8, name: "eight")),
            ])
            for _ in 0..<2 {
                let song = try await cache.fetch(
                    Song.self, "song of the day", policy: .cacheThenNetwork, maxAge: .seconds(600)
                ) { try await network.ask() }
                #expect(song.name == "seven")
                clock.advance(300)
            }
            #expect(await cache.read(Song.self, "Song:7")?.name == nil)
            #expect(try await task(cache, network, "song of the day").value.name == "eight")
        }
    }

    @Test("Collections are fetched like models, by requests of their own")
    func collections() async throws {
        try await withCache(clock.configuration) { cache in
            let network = StepNetwork<[Song]>()
            let songs = [Song(id: 1, name: "a"), Song(id: 2, name: "b")]
            let fetch: @Sendable (FetchPolicy) async throws -> [Song] = { policy in
                try await cache.fetchCollection(of: Song.self, forKey: "all", policy: policy) {
                    try await network.ask()
                }
            }
            await #expect(throws: FetchError.miss(.notFound)) { try await fetch(.cacheOnly) }
            let callers = (0..<10).map { _ in Task { try await fetch(.cacheThenNetwork) } }
            let key = SingleFlight.Key(.collection, Song.self, "all")
            while cache.engine.flights.passageCount(key) != 10 { await Task.yield() }
            network.answer(1, with: .success(songs))
            for caller in callers { #expect(try await caller.value == songs) }
            #expect(try await fetch(.cacheOnly) == songs && network.calls.count == 1)
            #expect(await cache.read(Song.self, "Song:2") == songs[1])
            clock.advance(60)
            network.answer(2, with: .success([songs[1]]))
            var names: [String] = []
            for try await list in cache.collectionFetches(
                of: Song.self, forKey: "all", policy: .staleWhileRevalidate,
                from: { try await network.ask() })
            {
                names.append("\(list.source) \(list.value.map(\.name)) \(list.isExpired)")
            }
            #expect(names == [#"cache ["a", "b"] true"#, #"network ["b"] false"#])
            #expect(await cache.collection(of: Song.self, forKey: "all")?.count == 1)
        }
    }

    @Test("An answer that can't be written is shown all the same, and the failure is told")
    func storeFailure() async throws {
        try await withCache(clock.configuration) { cache in
            let dropped: () throws -> Int = {
                try cache.statistics().droppedWrites["treeTooLarge"] ?? 0
            }
            let song = Song(id: 1, name: String(repeating: "x", count: 40 << 20))
            let songs = cache.fetches(Song.self, "Song:1", policy: .cacheThenNetwork) { song }
            var errors: [CacheError?] = []
            for try await answer in songs {
                #expect(answer.value == song && answer.source == .network)
                errors.append(answer.storeError)
            }
            #expect(errors.count == 1 && errors[0]?.code == .treeTooLarge)
            #expect(try dropped() == 1)
            // Also if nobody is there any more.
            let network = StepNetwork<Song>(ignoresCancellation: true)
            let task = task(cache, network)
            await network.calls.reaches(1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            network.answer(1, with: .success(song))
            await cache.waitForRequests()
            #expect(try dropped() == 2)
        }
    }

    @Test("A closed cache cancels requests, and a fetch of it still shows what the network sends")
    func closed() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(clock.configuration)
        let network = StepNetwork<Song>()
        let waiting = task(cache, network)
        await network.calls.reaches(1)
        cache.close()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await #expect(throws: FetchError.self) {
            try await task(cache, network, policy: .cacheOnly).value
        }
        network.answer(2, with: .success(Song(id: 1, name: "new")))
        #expect(try await task(cache, network).value.name == "new")
    }

    @Test("A read that finds something expired begins no fetch beside one that is under way")
    func withRefetching() async throws {
        try await withCache(clock.configuration) { cache in
            try await cache.set(Song(id: 1, name: "old")).committed
            clock.advance(60)
            let network = StepNetwork<Song>()
            let refetches = StepNetwork<Song>()
            cache.onExpired(Song.self) { [weak cache] _ in
                let song = try await refetches.ask()
                try await cache?.set(song).committed
            }
            let caller = task(cache, network)
            await network.calls.reaches(1)
            #expect(await cache.read(Song.self, "Song:1", accepting: .staleWhileRevalidate) != nil)
            #expect(cache.engine.flights.count == 1)
            network.answer(1, with: .success(Song(id: 1, name: "new")))
            #expect(try await caller.value.name == "new")
            clock.advance(60)
            #expect(await cache.read(Song.self, "Song:1", accepting: .staleWhileRevalidate) != nil)
            refetches.answer(1, with: .success(Song(id: 1, name: "newer")))
            await cache.waitForRequests()
            #expect(refetches.calls.count == 1)
            #expect(await cache.read(Song.self, "Song:1")?.name == "newer")
        }
    }

    @Test("What reads find expired is fetched with the waits of its policy, and then with a pause")
    func refetchingRetries() async throws {
        try await withCache(clock.configuration) { cache in
            try await cache.set(Song(id: 1, name: "old")).committed
            clock.advance(60)
            let steps = StepClock()
            let network = StepNetwork<Song>((1...3).map { .failure(NetworkFailure($0)) })
            cache.onExpired(
                Song.self, retry: .exponential(maximumAttempts: 3, firstDelay: .seconds(4)),
                clock: steps
            ) { _ in _ = try await network.ask() }
            for (number, delay) in [(1, 4), (2, 8), (3, 1)] {
                let stale = await cache.read(
                    Song.self, "Song:1", accepting: .staleWhileRevalidate)
                #expect(stale?.name == "old")
                await steps.waitForSleeps(number)
                #expect(network.calls.count == number)
                steps.advance(by: .seconds(delay))
            }
            #expect(steps.sleeps == [.seconds(4), .seconds(8), .seconds(1)])
            await cache.waitForRequests()
        }
    }
}

/// A model whose missing fields keep their value.
private struct Partial: NormalizedModel, Codable, Equatable {
    static var writePolicy: WritePolicy { .merge }
    let id: Int
    let name: String
    let town: String?
    var modelIdentifier: String? { "Partial:\(id)" }
}
