import EspalierLMDB
import Foundation
import Testing

@testable import EspalierStore

/// A tree with `count` people of so many bytes each, and with nothing that another one has.
func box(_ identifier: String, of count: Int, bytes: Int = 1_000) -> Box<[Person]> {
    let text = String(repeating: "x", count: bytes)
    return Box(identifier, (0..<count).map { Person("\(identifier)-\($0)", text) })
}

extension NormalizedCache {
    /// Stores people until so many budgets are written, and lets eviction come to rest. Every write
    /// succeeds. Returns the identifiers, in their order.
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
        try settle()
        return names
    }

    /// Waits until nothing more is evicted between writes.
    func settle() throws {
        var before = try statistics()
        let high = PagePlan(capacity: before.pageCapacity).high
        for _ in 0..<400 {
            Thread.sleep(forTimeInterval: 0.01)
            let statistics = try statistics()
            if statistics.pagesUsed <= high + 8, statistics.evictions == before.evictions { return }
            before = statistics
        }
        Issue.record("\(before.pagesUsed) pages are in use, and evicting begins above \(high)")
    }

    /// Which of them are there, looked up without an access.
    func arePresent(_ people: [String]) -> [Bool] {
        people.map { read(Person.self, $0, access: .peek) != nil }
    }

    /// The last commit of any process.
    var lastTransaction: UInt64 { get throws { try generation.environment.lastTransaction } }
}
