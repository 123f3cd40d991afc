import Dispatch
import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Starting without a cache")
struct OpeningFailureTests {
    private static let missing = Configuration(durability: .noSync, onFailure: .missAlways)

    /// A path at which no cache can be opened: a file.
    private func blocked(_ scratch: Scratch) throws -> String {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.directory))
        return scratch.directory
    }

    @Test("A cache that can't be opened misses and says why, if the app allows it")
    func misses() throws {
        let scratch = try Scratch()
        let path = try blocked(scratch)
        #expect(
            code { _ = try NormalizedCache(directory: path, configuration: .forTests) }
                == .badDirectory)
        let cache = try NormalizedCache(directory: path, configuration: Self.missing)
        #expect(code(cache.set(Person("p:1", "Anna"))) == .badDirectory)
        let outcome = cache.readOutcome(Person.self, "p:1")
        #expect(outcome.reason?.name == "unavailable")
        #expect(outcome.reason?.description.contains("not a directory") == true)
        #expect(cache.collectionOutcome(of: Person.self, forKey: "c").reason?.name == "unavailable")
        #expect(code(cache.delete("p:1")) == .badDirectory)
        #expect(code(cache.removeAll()) == .badDirectory)
        #expect(code { _ = try cache.verify() } == .badDirectory)
        let statistics = try cache.statistics()
        #expect(statistics.openingFailure?.contains("not a directory") == true)
        #expect(statistics.misses["unavailable"] == 2)
        #expect(statistics.records == 0)
        cache.close()
        #expect(code { _ = try cache.statistics() } == .closed)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    @Test("Suspending calls of such a cache end, too")
    func suspending() async throws {
        let scratch = try Scratch()
        let cache = try NormalizedCache(
            directory: blocked(scratch), configuration: Self.missing)
        #expect(await cache.read(Person.self, "p:1") == nil)
        await #expect(throws: CacheError.self) { try await cache.flush() }
        await #expect(throws: CacheError.self) {
            try await cache.set(Person("p:1", "Anna")).committed
        }
        cache.close()
    }

    @Test("An open cache has no opening failure, whatever the policy")
    func opened() throws {
        try withCache(Self.missing) { cache in
            try cache.set(Person("p:1", "Anna")).wait()
            #expect(cache.read(Person.self, "p:1")?.name == "Anna")
            #expect(try cache.statistics().openingFailure == nil)
        }
    }

    @Test("Two caches that can't be opened do not share anything, and a later one is whole")
    func several() throws {
        let scratch = try Scratch()
        let path = try blocked(scratch)
        let first = try NormalizedCache(directory: path, configuration: Self.missing)
        let second = try NormalizedCache(directory: path, configuration: Self.missing)
        #expect(first.engine !== second.engine)
        first.close()
        #expect(code(second.set(Person("p:1", "Anna"))) == .badDirectory)
        try FileManager.default.removeItem(atPath: path)
        let third = try NormalizedCache(directory: path, configuration: Self.missing)
        #expect(code(third.set(Person("p:1", "Anna"))) == nil)
        for cache in [second, third] { cache.close() }
    }

    @Test("Mistakes of the caller are thrown whatever the policy")
    func mistakes() throws {
        let scratch = try Scratch()
        var configuration = Self.missing
        configuration.budget = ByteCount(1)
        #expect(code { _ = try scratch.open(configuration) } == .badBudget)
        configuration = Self.missing
        configuration.compression = .zstd(level: 99)
        #expect(code { _ = try scratch.open(configuration) } == .badCompression)
        let cache = try scratch.open()
        #expect(code { _ = try scratch.open(Self.missing) } == .alreadyOpen)
        cache.close()
        #expect(
            code {
                _ = try NormalizedCache.existing(
                    directory: scratch.root + "/none", configuration: Self.missing)
            } == .noCache)
    }

    @Test("Opening in a task returns the cache or throws as opening on a thread does")
    func asynchronous() async throws {
        let scratch = try Scratch()
        let cache = try await NormalizedCache.open(
            directory: scratch.directory, configuration: .forTests)
        try await cache.set(Person("p:1", "Anna")).committed
        let second = try await NormalizedCache.open(
            directory: scratch.directory, configuration: .forTests)
        #expect(second.engine === cache.engine)
        second.close()
        cache.close()
        await #expect(throws: CacheError.self) {
            try await NormalizedCache.open(directory: scratch.root + "/no/such")
        }
    }

    @Test("Opening in a task does not block the thread that asks for it")
    @MainActor func doesNotBlock() async throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let release = try Self.holdGuard(of: scratch)
        let opening = Task { @MainActor in
            try await NormalizedCache.open(directory: scratch.directory, configuration: .forTests)
        }
        // The main actor is free although the cache can't be opened yet.
        try await Task.sleep(for: .milliseconds(50))
        release.signal()
        try await opening.value.close()
    }

    /// Holds the lock of the guard file on another thread until the semaphore is signaled.
    private static func holdGuard(of scratch: Scratch) throws -> DispatchSemaphore {
        let guardFile = try GuardFile(path: scratch.directory + "/guard", create: false)
        let (isHeld, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            try? guardFile.withExclusiveLock { _ in
                isHeld.signal()
                release.wait()
            }
        }
        isHeld.wait()
        return release
    }
}
