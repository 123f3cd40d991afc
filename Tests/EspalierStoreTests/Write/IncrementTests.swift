import EspalierModels
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

/// Exit tests run their bodies in other processes, which share the cache directory of the parent.
@Suite("Two processes count together")
struct IncrementTests {
    private struct Counter: Codable, NormalizedModel, Hashable {
        var id: String
        var count: Int
        var modelIdentifier: String? { id }

        static func stored(in cache: NormalizedCache) -> Int? {
            cache.read(Counter.self, "c")?.count
        }
    }

    @Test("Four threads of two processes count to the sum, and each sees every count once")
    func increments() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        try cache.set(Counter(id: "c", count: 0)).wait()
        let directory = scratch.directory
        let announced = Self.announcements(of: cache)
        async let other = #expect(processExitsWith: .success) {
            [directory = directory as String] in
            let cache = try NormalizedCache(directory: directory, configuration: .forTests)
            let announced = Self.announcements(of: cache)
            let counts = await Self.count(in: cache)
            // No count came twice in this process.
            guard counts.count == 40_000, Set(counts).count == counts.count else { exit(2) }
            cache.close()
            guard await announced.value.isInOrder else { exit(3) }
        }
        let counts = await Self.count(in: cache)
        _ = await other
        #expect(counts.count == 40_000)
        #expect(Set(counts).count == counts.count)
        #expect(Counter.stored(in: cache) == 80_000)
        try expectClean(cache)
        try await cache.set(Counter(id: "end", count: 0)).committed
        let seen = await announced.value
        #expect(seen.isInOrder)
        #expect(seen.last == 80_000)
        cache.close()
    }

    /// Adds 10,000 ones in each of four tasks. Returns the counts that the updates returned.
    private static func count(in cache: NormalizedCache) async -> [Int] {
        await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var counts: [Int] = []
                    for _ in 0..<10_000 {
                        let counter = try? await cache.update(Counter.self, "c") {
                            Counter(id: $0.id, count: $0.count + 1)
                        }
                        if let counter { counts.append(counter.count) }
                    }
                    return counts
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Follows the change sets up to the end, and reads the counter after each.
    ///
    /// - Returns: Whether commits were announced in order and the counter never went back; the last
    ///   count that was read.
    private static func announcements(of cache: NormalizedCache)
        -> Task<(isInOrder: Bool, last: Int), Never>
    {
        let changes = cache.changes()
        return Task.detached {
            var (commit, last, isInOrder): (UInt64, Int, Bool) = (0, 0, true)
            for await set in changes {
                let count = Counter.stored(in: cache) ?? last
                isInOrder = isInOrder && (set.isReset || set.commit > commit) && count >= last
                (commit, last) = (max(commit, set.commit), count)
                if set.written.contains("end") || set.isReset && Self.isEnded(cache) { break }
            }
            return (isInOrder, last)
        }
    }

    private static func isEnded(_ cache: NormalizedCache) -> Bool {
        let end: Counter? = cache.read(Counter.self, "end", access: .peek)
        return end != nil
    }
}
