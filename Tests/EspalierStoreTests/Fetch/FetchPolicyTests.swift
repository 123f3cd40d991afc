import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

/// What the cache has when a fetch begins.
enum CacheState: CaseIterable {
    case hit, miss, expired
}

/// What a fetch gave.
enum FetchResult: Equatable {
    /// The names of the answers, and where they came from.
    case answers([String])
    case failure(String, after: [String] = [])
}

/// Lets one fetch of each policy meet each state of the cache.
@Suite("Policies of fetches", .timeLimit(.minutes(3)))
struct FetchPolicyTests {
    private let clock = FetchClock()

    private func bring(_ cache: NormalizedCache, to state: CacheState) async throws {
        guard state != .miss else { return }
        try await cache.set(Song(id: 1, name: "old")).committed
        if state == .expired { clock.advance(60) }
    }

    /// Opens a cache in a state, and fetches from a network that succeeds or fails.
    private func fetch(
        _ policy: FetchPolicy, _ state: CacheState, fails: Bool
    ) async throws -> (sequence: FetchResult, best: FetchResult, calls: Int) {
        var (results, calls): ([FetchResult], Int) = ([], 0)
        for isSequence in [true, false] {
            try await withCache(clock.configuration) { cache in
                try await bring(cache, to: state)
                let network = StepNetwork<Song>([
                    fails ? .failure(NetworkFailure(1)) : .success(Song(id: 1, name: "new"))
                ])
                results.append(
                    isSequence
                        ? await sequence(of: policy, cache, network)
                        : await best(of: policy, cache, network))
                if policy == .staleWhileRevalidate, state == .expired, !isSequence {
                    await network.calls.reaches(1)
                    await cache.waitForRequests()
                }
                // What was shown of the network is what is stored.
                let stored = await cache.read(Song.self, "Song:1", accepting: .stale)?.name
                let asked = network.calls.count > 0 && !fails
                #expect(stored == (asked ? "new" : state == .miss ? nil : "old"))
                calls = network.calls.count
            }
        }
        return (results[0], results[1], calls)
    }

    private func sequence(
        of policy: FetchPolicy, _ cache: NormalizedCache, _ network: StepNetwork<Song>
    ) async -> FetchResult {
        var answers: [String] = []
        do {
            let songs = cache.fetches(Song.self, "Song:1", policy: policy) {
                try await network.ask()
            }
            for try await song in songs {
                #expect(song.storeError == nil)
                if song.source == .network { #expect(song.age == .zero && !song.isExpired) }
                let marks = (song.isExpired ? "!" : "") + (song.networkError == nil ? "" : "?")
                answers.append("\(song.source) \(song.value.name)\(marks)")
            }
            return .answers(answers)
        } catch {
            return .failure(Self.name(of: error), after: answers)
        }
    }

    private func best(
        of policy: FetchPolicy, _ cache: NormalizedCache, _ network: StepNetwork<Song>
    ) async -> FetchResult {
        do {
            let song = try await cache.fetch(Song.self, "Song:1", policy: policy) {
                try await network.ask()
            }
            return .answers([song.name])
        } catch {
            return .failure(Self.name(of: error))
        }
    }

    private static func name(of error: any Error) -> String {
        switch error {
        case FetchError.miss(let reason): reason.name
        case is NetworkFailure: "network"
        default: "\(error)"
        }
    }

    @Test("The cache alone", arguments: [true, false])
    func cacheOnly(fails: Bool) async throws {
        let hit = try await fetch(.cacheOnly, .hit, fails: fails)
        #expect(hit == (.answers(["cache old"]), .answers(["old"]), 0))
        let miss = try await fetch(.cacheOnly, .miss, fails: fails)
        #expect(miss == (.failure("notFound"), .failure("notFound"), 0))
        let expired = try await fetch(.cacheOnly, .expired, fails: fails)
        #expect(expired == (.failure("expired"), .failure("expired"), 0))
    }

    @Test("The cache, and the network for a miss and for what has expired")
    func cacheThenNetwork() async throws {
        for fails in [true, false] {
            let hit = try await fetch(.cacheThenNetwork, .hit, fails: fails)
            #expect(hit == (.answers(["cache old"]), .answers(["old"]), 0))
        }
        for state in [CacheState.miss, .expired] {
            let good = try await fetch(.cacheThenNetwork, state, fails: false)
            #expect(good == (.answers(["network new"]), .answers(["new"]), 1))
            let bad = try await fetch(.cacheThenNetwork, state, fails: true)
            #expect(bad == (.failure("network"), .failure("network"), 1))
        }
    }

    @Test("The network, and the cache if it fails, with the reason and whatever its age")
    func networkThenCache() async throws {
        for state in CacheState.allCases {
            let good = try await fetch(.networkThenCache, state, fails: false)
            #expect(good == (.answers(["network new"]), .answers(["new"]), 1))
        }
        let hit = try await fetch(.networkThenCache, .hit, fails: true)
        #expect(hit == (.answers(["cache old?"]), .answers(["old"]), 1))
        let expired = try await fetch(.networkThenCache, .expired, fails: true)
        #expect(expired == (.answers(["cache old!?"]), .answers(["old"]), 1))
        let miss = try await fetch(.networkThenCache, .miss, fails: true)
        #expect(miss == (.failure("network"), .failure("network"), 1))
    }

    @Test("Both: the cache at once, the network afterwards, and its error after the cache's answer")
    func cacheAndNetwork() async throws {
        for (state, mark) in [(CacheState.hit, ""), (.expired, "!")] {
            let bad = try await fetch(.cacheAndNetwork, state, fails: true)
            #expect(bad.sequence == .failure("network", after: ["cache old\(mark)"]))
            // Something can be shown, so the best answer is no error.
            #expect(bad.best == .answers(["old"]) && bad.calls == 1)
        }
        let miss = try await fetch(.cacheAndNetwork, .miss, fails: false)
        #expect(miss == (.answers(["network new"]), .answers(["new"]), 1))
        let bad = try await fetch(.cacheAndNetwork, .miss, fails: true)
        #expect(bad == (.failure("network"), .failure("network"), 1))
    }

    @Test("Both are asked at the same time: a network that takes long does not hold up the cache")
    func cacheAtOnce() async throws {
        try await withCache(clock.configuration) { cache in
            try await cache.set(Song(id: 1, name: "old")).committed
            clock.advance(60)
            let network = StepNetwork<Song>()
            for policy in [FetchPolicy.cacheAndNetwork, .staleWhileRevalidate] {
                var songs = cache.fetches(Song.self, "Song:1", policy: policy) {
                    try await network.ask()
                }.makeAsyncIterator()
                let number = policy == .cacheAndNetwork ? 1 : 2
                let first = try await songs.next()
                #expect(first?.source == .cache && first?.isExpired == true)
                #expect(first?.age == .seconds(60))
                await network.calls.reaches(number)
                network.answer(number, with: .success(Song(id: 1, name: "new \(number)")))
                let second = try await songs.next()
                #expect(second?.source == .network && second?.value.name == "new \(number)")
                #expect(try await songs.next() == nil)
                #expect(try await songs.next() == nil)
                clock.advance(60)
            }
        }
    }

    @Test("A fresh hit asks nobody; an expired one is shown at once and refreshed behind")
    func staleWhileRevalidate() async throws {
        for fails in [true, false] {
            let hit = try await fetch(.staleWhileRevalidate, .hit, fails: fails)
            #expect(hit == (.answers(["cache old"]), .answers(["old"]), 0))
        }
        let expired = try await fetch(.staleWhileRevalidate, .expired, fails: false)
        #expect(expired.sequence == .answers(["cache old!", "network new"]))
        #expect(expired.best == .answers(["old"]) && expired.calls == 1)
        let failed = try await fetch(.staleWhileRevalidate, .expired, fails: true)
        #expect(failed.sequence == .failure("network", after: ["cache old!"]))
        #expect(failed.best == .answers(["old"]) && failed.calls == 1)
        let miss = try await fetch(.staleWhileRevalidate, .miss, fails: false)
        #expect(miss == (.answers(["network new"]), .answers(["new"]), 1))
        let bad = try await fetch(.staleWhileRevalidate, .miss, fails: true)
        #expect(bad == (.failure("network"), .failure("network"), 1))
    }

    @Test(
        "A cancelled caller gets nothing but the cancellation, whatever the cache has",
        arguments: FetchPolicy.allCases, CacheState.allCases)
    func cancelledBefore(policy: FetchPolicy, state: CacheState) async throws {
        try await withCache(clock.configuration) { cache in
            try await bring(cache, to: state)
            let network = StepNetwork<Song>()
            let start = Counter()
            let task = Task {
                await start.reaches(1)
                return try await cache.fetch(Song.self, "Song:1", policy: policy) {
                    try await network.ask()
                }
            }
            task.cancel()
            start.add()
            await #expect(throws: CancellationError.self) { try await task.value }
            await cache.waitForRequests()
        }
    }

    @Test(
        "A caller who is cancelled while the network is asked leaves at once, and cancels it",
        arguments: [
            FetchPolicy.cacheThenNetwork, .networkThenCache, .cacheAndNetwork,
            .staleWhileRevalidate,
        ], CacheState.allCases)
    func cancelledMeanwhile(policy: FetchPolicy, state: CacheState) async throws {
        let asks = state == .miss || policy == .networkThenCache || policy == .cacheAndNetwork
        // Otherwise the cache answers and nobody waits for the network.
        guard asks || state == .expired && policy == .cacheThenNetwork else { return }
        try await withCache(clock.configuration) { cache in
            try await bring(cache, to: state)
            let network = StepNetwork<Song>(ignoresCancellation: true)
            let task = Task {
                try await cache.fetch(Song.self, "Song:1", policy: policy) {
                    try await network.ask()
                }
            }
            await network.calls.reaches(1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await network.cancellations.reaches(1)
            // The network has an answer all the same: it is not lost.
            network.answer(1, with: .success(Song(id: 1, name: "late")))
            await cache.waitForRequests()
            #expect(await cache.read(Song.self, "Song:1")?.name == "late")
        }
    }

    @Test("A refresh behind an answer goes on when its caller is gone or cancelled")
    func refreshStays() async throws {
        try await withCache(clock.configuration) { cache in
            try await cache.set(Song(id: 1, name: "old")).committed
            clock.advance(60)
            let network = StepNetwork<Song>()
            let task = Task {
                try await cache.fetch(Song.self, "Song:1", policy: .staleWhileRevalidate) {
                    try await network.ask()
                }
            }
            #expect(try await task.value.name == "old")
            task.cancel()
            await network.calls.reaches(1)
            #expect(network.cancellations.count == 0)
            network.answer(1, with: .success(Song(id: 1, name: "new")))
            await cache.waitForRequests()
            #expect(await cache.read(Song.self, "Song:1")?.name == "new")
        }
    }
}

extension NormalizedCache {
    /// Suspends until no request of a fetch is under way.
    func waitForRequests() async {
        while engine.flights.count > 0 { await Task.yield() }
    }
}

/// The date of a cache, which a test sets.
final class FetchClock: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

    func advance(_ seconds: Double) { date.withLock { $0 += seconds } }

    var configuration: Configuration {
        var configuration = Configuration.forTests
        configuration.clock = WallClock(of: self) { $0.date.withLock { $0 } }
        return configuration
    }
}

/// A model that may be a minute old.
struct Song: NormalizedModel, Codable, Equatable {
    static var maxAge: Duration? { .minutes(1) }
    let id: Int
    let name: String
    var modelIdentifier: String? { "Song:\(id)" }
}
