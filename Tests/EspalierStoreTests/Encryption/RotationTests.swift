#if Encryption
import EspalierEncryption
import EspalierInspection
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Compaction changes the key of a cache")
struct RotationTests {
    /// Opens the cache with whichever key it has, and returns the number of the key.
    private static func key(of scratch: Scratch) throws -> UInt8 {
        for key: UInt8 in [1, 2]
        where code({ try scratch.open(.encrypted(key)).close() }) == nil {
            return key
        }
        throw Missing()
    }

    @Test("After a compaction the new key alone opens the cache, and everything is there")
    func rotating() async throws {
        let scratch = try Scratch()
        let first = try scratch.open(.encrypted(1))
        try CompressedCache.fill(first)
        first.setCollection([Person("p:1", "Ada")], forKey: "c")
        first.setModel(Person("p:2", "Grace"), forKey: "k")
        try await first.pin("Message:3").committed
        first.close()

        let cache = try scratch.open(.encrypted(2, previous: [1]))
        CompressedCache.expectRead(cache)
        try await cache.compact().committed
        CompressedCache.expectRead(cache)
        try expectClean(cache)
        try await cache.set(Person("p:1", "Ada Lovelace")).committed
        cache.close()

        #expect(code { _ = try scratch.open(.encrypted(1)) } == .wrongKey)
        let reopened = try scratch.open(.encrypted(2))
        CompressedCache.expectRead(reopened)
        #expect(
            await reopened.collection(of: Person.self, forKey: "c")?.first?.name == "Ada Lovelace")
        #expect(try reopened.inspect { try $0.pins.map(\.identifier) } == ["Message:3"])
        #expect(try reopened.verify(deep: true).isClean)
        try await reopened.unpin("Message:3").committed
        try expectClean(reopened)
        reopened.close()
    }

    @Test("A cache that fills its budget can change its key")
    func fullCache() async throws {
        let scratch = try Scratch()
        var configuration = Configuration.encrypted(1)
        configuration.budget = .mebibytes(1)
        let first = try scratch.open(configuration)
        for number in 0..<4_000 { first.set(Person("p:\(number)", "person number \(number)")) }
        try await first.flush()
        first.close()
        configuration.encryption = Configuration.encrypted(2, previous: [1]).encryption
        let cache = try scratch.open(configuration)
        let before = try cache.statistics().records
        try await cache.compact().committed
        #expect(try cache.statistics().records > before / 2)
        try expectClean(cache)
        #expect(await cache.read(Person.self, "p:3999")?.name == "person number 3999")
        cache.close()
        #expect(try Self.key(of: scratch) == 2)
    }

    @Test("A change of the budget keeps the key, and changes no name")
    func shrinking() async throws {
        let scratch = try Scratch()
        let first = try scratch.open(.encrypted(1))
        try CompressedCache.fill(first)
        first.close()
        let cache = try scratch.open(.encrypted(2, previous: [1]))
        try await cache.setBudget(.mebibytes(4)).committed
        CompressedCache.expectRead(cache)
        try expectClean(cache)
        cache.close()
        #expect(try Self.key(of: scratch) == 1)
    }

    @Test("Two processes with both keys go on after one has changed the key")
    func otherProcess() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.encrypted(1, previous: [2]))
        try await cache.set(Person("p:1", "Ada")).committed
        let directory = scratch.directory
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            let cache = try NormalizedCache(
                directory: directory, configuration: .encrypted(2, previous: [1]))
            try cache.compact().wait()
            guard cache.read(Person.self, "p:1")?.name == "Ada" else { exit(10) }
            cache.close()
        }
        #expect(await cache.read(Person.self, "p:1")?.name == "Ada")
        try await cache.set(Person("p:2", "Grace")).committed
        cache.close()
        #expect(try Self.key(of: scratch) == 2)
    }

    @Test("An open cache whose key another process has changed misses, and fails to write")
    func changedBelow() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.encrypted(1, previous: [], .startAnew))
        try await cache.set(Person("p:1", "Ada")).committed
        let directory = scratch.directory
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            let cache = try NormalizedCache(
                directory: directory, configuration: .encrypted(2, previous: [1]))
            try cache.compact().wait()
            cache.close()
        }
        #expect(await cache.readOutcome(Person.self, "p:1").reason?.name == "unavailable")
        #expect(code(cache.set(Person("p:1", "Grace"))) == .wrongKey)
        // Work that is due, and that can't be done, must not keep the writer awake.
        let committer = cache.engine.committer
        committer.makeStructureCheckDue()
        cache.engine.queue.wakeWriter()
        var isDue = true
        for _ in 0..<500 where isDue {
            try await Task.sleep(for: .milliseconds(10))
            isDue = committer.deadline.map { $0 <= .now } ?? false
        }
        #expect(!isDue)
        cache.close()
        let reopened = try scratch.open(.encrypted(2))
        #expect(await reopened.read(Person.self, "p:1")?.name == "Ada")
        try expectClean(reopened)
        reopened.close()
    }

    @Test(
        "A process killed while it changes the key leaves the old or the new key",
        arguments: 0..<12)
    func killed(round: Int) async throws {
        let scratch = try Scratch()
        let first = try scratch.open(.encrypted(1))
        try CompressedCache.fill(first)
        try first.compact().wait()
        first.close()
        let directory = scratch.directory
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [directory = directory as String, round = round as Int] in
            let cache = try NormalizedCache(
                directory: directory, configuration: .encrypted(2, previous: [1]))
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 0.004 * Double(round * round))
                kill(getpid(), SIGKILL)
            }
            var keys: [UInt8] = [2, 1]
            // Back and forth, until the process is killed.
            var open = cache
            while true {
                try open.compact().wait()
                open.close()
                keys.swapAt(0, 1)
                open = try NormalizedCache(
                    directory: directory,
                    configuration: .encrypted(keys[0], previous: [keys[1]]))
            }
        }
        let key = try Self.key(of: scratch)
        let cache = try scratch.open(.encrypted(3 - key, previous: [key]))
        CompressedCache.expectRead(cache)
        try expectClean(cache)
        try await cache.compact().committed
        CompressedCache.expectRead(cache)
        cache.close()
        #expect(try Self.key(of: scratch) == 3 - key)
    }
}
#endif
