import Dispatch
import EspalierLMDB
import EspalierRecords
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

/// Returns a tree with `count` people of `bytes` bytes each, which no other tree has.
func box(_ identifier: String, of count: Int, bytes: Int = 1_000) -> Box<[Person]> {
    let text = String(repeating: "x", count: bytes)
    return Box(identifier, (0..<count).map { Person("\(identifier)-\($0)", text) })
}

extension NormalizedCache {
    /// Stores people until so many budgets are written, and waits for the evictor. Expects every
    /// write to succeed. Returns the identifiers in the order of the writes.
    @discardableResult
    func overfill(
        budgets: Double = 2, bytes: Int = 600, prefix: String = "x",
        afterEach: () throws -> Void = {}
    ) throws -> [String] {
        let text = String(repeating: "x", count: bytes)
        let names = (0..<Int(Double(budget.bytes) * budgets) / (bytes + 150)).map {
            "\(prefix):\($0)"
        }
        let batch = max(1, 100_000 / bytes)
        for start in stride(from: 0, to: names.count, by: batch) {
            let tickets = names[start..<min(start + batch, names.count)].map {
                set(Person($0, text))
            }
            for ticket in tickets { #expect(code(ticket) == nil) }
            try afterEach()
        }
        try waitForEvictor()
        return names
    }

    /// Waits until the evictor has nothing more to do. The counters of the last commit may take a
    /// few pages above the watermark.
    func waitForEvictor() throws {
        let high = PagePlan(capacity: try statistics().pageCapacity).highWatermark
        for _ in 0..<2_000 {
            if try statistics().pagesUsed <= high + 8, !engine.committer.hasWork { return }
            Thread.sleep(forTimeInterval: 0.01)
        }
        let used = try statistics().pagesUsed
        Issue.record("\(used) pages are in use, and evicting begins above \(high)")
    }

    /// Returns which of the people can be read, without accessing them.
    func areReadable(_ people: [String]) -> [Bool] {
        people.map { read(Person.self, $0, access: .peek) != nil }
    }

    /// Returns which of the people are there in one snapshot, without accessing them. After a write
    /// the evictor may go on in the background, so that reads one after another would see more
    /// than one state.
    func arePresent(_ people: [String]) throws -> [Bool] {
        let generation = try generation
        return try generation.environment.read { transaction in
            try people.map { try transaction.handle(generation.keyspaces, .node, $0) != nil }
        }
    }

    /// The number of the last commit of any process.
    var lastTransaction: UInt64 { get throws { try generation.environment.lastTransaction } }
}

/// Measures the size of a cache's directory all the time, on a thread of its own, and keeps the
/// maximum.
final class SizeWatch: Sendable {
    private struct State {
        var most = 0
        var isStopped = false
    }
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    init(_ path: String) {
        let directory = CacheDirectory(path)
        Thread.detachNewThread { [self] in
            while !state.withLock({ $0.isStopped }) {
                let bytes = directory.byteCount()
                state.withLock { $0.most = max($0.most, bytes) }
                Thread.sleep(forTimeInterval: 0.002)
            }
            ended.signal()
        }
    }

    /// Ends measuring. Returns the maximum.
    func stop() -> ByteCount {
        state.withLock { $0.isStopped = true }
        ended.wait()
        return ByteCount(state.withLock { $0.most })
    }
}
