import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

/// All pairs of ways in which two changes of the same node end, each with all that may happen when
/// the first one ends: 80 combinations.
@Suite("Pairs of optimistic changes", .serialized, .timeLimit(.minutes(5)))
struct OptimisticPairTests {
    @Test(
        "All readers see what two changes leave, however they end and whatever happens meanwhile",
        arguments: End.allCases, End.allCases)
    fileprivate func pairs(first: End, second: End) async throws {
        for event in Event.allCases {
            let scratch = try Scratch()
            let clock = PairClock()
            var cache = try clock.open(scratch.directory)
            var expected = ExpectedTexts()
            try expected.begin(in: cache)
            expected.check(cache, "\(event), at first")
            try await end("a", first, event, &cache, scratch, clock, &expected)
            expected.check(cache, "\(event), first \(first)")
            try second.apply(to: "b", in: cache)
            expected.end("b", second)
            expected.check(cache, "\(event), first \(first), second \(second)")
            try expectClean(cache)
            // Nothing that was written counts as fresh for longer than a minute.
            clock.advance(61)
            expected.check(cache, "\(event), expired", accepting: .stale)
            expected.checkExpiry(in: cache)
            cache.close()
        }
    }

    /// Ends the first change. Meanwhile the event happens.
    private func end(
        _ id: String, _ end: End, _ event: Event, _ cache: inout NormalizedCache,
        _ scratch: Scratch, _ clock: PairClock, _ expected: inout ExpectedTexts
    ) async throws {
        let directory = scratch.directory
        switch event {
        case .nothing:
            try end.apply(to: id, in: cache)
        case .restart:
            try end.apply(to: id, in: cache)
            cache.close()
            cache = try clock.open(directory)
        case .kill:
            cache.close()
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [directory = directory as String, id = id as String, end = end.rawValue as Int] in
                let cache = try PairClock().open(directory)
                try End(rawValue: end)?.apply(to: id, in: cache)
                kill(getpid(), SIGKILL)
            }
            cache = try clock.open(directory)
        case .otherProcessEnds:
            await #expect(processExitsWith: .success) {
                [directory = directory as String, id = id as String, end = end.rawValue as Int] in
                let cache = try PairClock().open(directory)
                try End(rawValue: end)?.apply(to: id, in: cache)
                cache.close()
            }
        case .otherProcessReads:
            try end.apply(to: id, in: cache)
            var after = expected
            after.end(id, end)
            await #expect(processExitsWith: .success) {
                [
                    directory = directory as String, shown = after.shown as String?,
                    confirmed = after.confirmed as String?
                ] in
                let cache = try PairClock().open(directory)
                guard cache.read(Memo.self, "Memo:1")?.text == shown,
                    cache.confirmed.read(Memo.self, "Memo:1")?.text == confirmed
                else { exit(10) }
                cache.close()
            }
        }
        expected.end(id, end)
    }
}

/// How a change ends.
private enum End: Int, CaseIterable {
    case stays
    case isConfirmed
    case isAnswered
    case isRolledBack

    func apply(to id: String, in cache: NormalizedCache) throws {
        let change = cache.optimisticChange(id)
        switch self {
        case .stays: break
        case .isConfirmed: try change.confirm().wait()
        case .isAnswered: try change.confirm(with: Memo(id: 1, text: "answer \(id)")).wait()
        case .isRolledBack: try change.rollback().wait()
        }
    }
}

/// What happens when the first change ends.
private enum Event: CaseIterable {
    case nothing
    /// The cache is closed afterwards, and opened again.
    case restart
    /// The process that ends it is killed afterwards.
    case kill
    /// Another process ends it.
    case otherProcessEnds
    /// Another process reads afterwards.
    case otherProcessReads
}

/// What a dictionary with a list of changes says.
private struct ExpectedTexts {
    private(set) var confirmed: String? = "base"
    private var open = ["a", "b"]

    var shown: String? { open.last ?? confirmed }

    func begin(in cache: NormalizedCache) throws {
        try cache.set(Memo(id: 1, text: "base")).wait()
        for id in open {
            try cache.optimistically(id: id) { $0.set(Memo(id: 1, text: id)) }.applied.wait()
        }
    }

    mutating func end(_ id: String, _ end: End) {
        guard end != .stays else { return }
        open.removeAll { $0 == id }
        switch end {
        case .isConfirmed: confirmed = id
        case .isAnswered: confirmed = "answer \(id)"
        case .stays, .isRolledBack: break
        }
    }

    func check(_ cache: NormalizedCache, _ when: String, accepting freshness: Freshness = .fresh) {
        for _ in 0..<2 {
            let text = cache.read(Memo.self, "Memo:1", accepting: freshness)?.text
            #expect(text == shown, "\(when)")
            let below = cache.confirmed.read(Memo.self, "Memo:1")?.text
            #expect(below == confirmed, "\(when)")
        }
        #expect((try? cache.optimisticChanges().map(\.id)) == open, "\(when)")
    }

    func checkExpiry(in cache: NormalizedCache) {
        let reason = cache.readOutcome(Memo.self, "Memo:1").reason
        #expect(reason == .expired(path: "Memo:1", age: .seconds(61)))
    }
}

/// A clock that stands still until it is advanced. Those of all processes show the same time.
private final class PairClock: Sendable {
    private let seconds = Atomic<Int>(1_800_000_000)

    func advance(_ count: Int) { seconds.add(count, ordering: .relaxed) }

    /// Opens a cache whose records expire after a minute.
    func open(_ directory: String) throws -> NormalizedCache {
        var configuration = Configuration.forTests
        configuration.maxAge = .minutes(1)
        configuration.clock = WallClock(of: self) {
            Date(timeIntervalSince1970: Double($0.seconds.load(ordering: .relaxed)))
        }
        return try NormalizedCache(directory: directory, configuration: configuration)
    }
}
