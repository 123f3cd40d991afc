import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

/// Contents that are copied through memory, because the directory has no room for two files, and
/// that can't be written again.
@Suite("Copies through memory that fail", .timeLimit(.minutes(1)))
struct LostCopyTests {
    /// Fills more than half of a cache of 4 MiB, which has no room for two files then.
    private static func fill(_ cache: NormalizedCache) -> CacheError.Code? {
        let text = String(repeating: "t", count: 1_400)
        for number in 0..<1_200 { cache.set(Person("p:\(number)", text)) }
        return code { try cache.flushAndWait() }
    }

    /// Copies the contents for a lower budget, while no file may become longer than `limit` bytes.
    /// Returns the error. Evicting before that would write to the old file, beyond the limit.
    private static func move(_ cache: NormalizedCache, limit: Int) -> (any Error)? {
        FullDiskTests.limitFiles(to: UInt(limit))
        defer { FullDiskTests.limitFiles(to: 64 << 20) }
        do {
            try cache.engine.committer.move(to: .mebibytes(3), room: .mebibytes(4))
            return nil
        } catch {
            return error
        }
    }

    @Test("The change fails for good, an event tells of it, and the empty cache can be used")
    func fails() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let scratch = try Scratch()
            let cache = try scratch.open(
                Configuration(budget: .mebibytes(4), durability: .noSync, compression: .none))
            let changes = cache.ownChangeSets()
            guard LostCopyTests.fill(cache) == nil else { exit(3) }
            // Stored with the next commit.
            guard await cache.read(Person.self, "p:1") != nil,
                EspalierStoreTests.code(cache.set(Person("p:2", "new"))) == nil
            else { exit(15) }
            let hits = try cache.statistics().hits
            // Enough for an empty file, and not for the copy.
            guard let error = LostCopyTests.move(cache, limit: 400_000) else { exit(4) }
            // A retry would find the empty cache, and succeed.
            guard CommitPolicy.Failure(error) == .other else { exit(14) }
            let statistics = try cache.statistics()
            guard statistics.generationsReplaced == ["copyFailed": 1] else { exit(5) }
            guard statistics.hits == hits, hits > 0 else { exit(6) }
            guard cache.budget == .mebibytes(4) else { exit(7) }
            guard await cache.read(Person.self, "p:1") == nil else { exit(8) }
            guard EspalierStoreTests.code(cache.set(Person("p:1", "again"))) == nil else { exit(9) }
            guard await cache.read(Person.self, "p:1")?.name == "again" else { exit(10) }
            cache.close()
            var resets = 0
            for await change in changes where change.isReset {
                guard change.isEmptied else { exit(11) }
                resets += 1
            }
            guard resets == 1 else { exit(12) }
            let reopened = try scratch.open()
            guard await reopened.read(Person.self, "p:1")?.name == "again" else { exit(13) }
            reopened.close()
        }
    }

    @Test("If not even an empty file can be written, the next access begins one, and tells of it")
    func later() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let scratch = try Scratch()
            let cache = try scratch.open(
                Configuration(budget: .mebibytes(4), durability: .noSync, compression: .none))
            guard LostCopyTests.fill(cache) == nil else { exit(3) }
            guard LostCopyTests.move(cache, limit: 4_096) != nil else { exit(4) }
            guard EspalierStoreTests.code(cache.set(Person("p:1", "again"))) == nil else { exit(5) }
            guard try cache.statistics().generationsReplaced == ["copyFailed": 1] else { exit(6) }
            guard await cache.read(Person.self, "p:1")?.name == "again" else { exit(7) }
            cache.close()
        }
    }
}
