import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Raising the budget in place")
struct ResizeTests {
    @Test(
        """
        After the budget is raised in one process, larger writes fit, and the budget stays after \
        reopening
        """)
    func alone() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(.forTests(budget: .mebibytes(1)))
        try cache.set(Person("p:1", "Anna")).wait()
        let before = try cache.generation
        try cache.engine.generations.setBudget(larger: .mebibytes(1))
        #expect(try cache.generation === before)
        try cache.engine.generations.setBudget(larger: .mebibytes(8))
        let after = try cache.generation
        #expect(after.environment === before.environment && after.shapes === before.shapes)
        #expect(after.number == before.number + 1 && after.budget == .mebibytes(8))
        try Raiser.fill(cache)
        #expect(cache.read(Person.self, "p:1")?.name == "Anna")
        #expect(try cache.statistics().directoryBytes > .mebibytes(2))
        try expectClean(cache)
        cache.close()
        cache = try scratch.open(.forTests(budget: .mebibytes(2)))
        #expect(try cache.generation.budget == .mebibytes(8))
        try expectClean(cache)
        cache.close()
    }

    @Test("A process that has the cache open follows a raised budget and keeps its generation")
    func followed() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: .mebibytes(1)))
        try await cache.set(Person("p:1", "parent")).committed
        let before = try cache.generation
        let directory = scratch.directory
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            try Raiser.raise(directory, filling: true)
        }
        #expect(await cache.read(Person.self, "p:1")?.name == "parent")
        #expect(await cache.read(Person.self, "b:0:3") != nil)
        let after = try cache.generation
        #expect(after.name == before.name && after.environment === before.environment)
        #expect(
            after.budget == .mebibytes(8)
                && after.environment.mapSize == Generation.mapSize(for: .mebibytes(8)))
        try Raiser.fill(cache, prefix: "c")
        try expectClean(cache)
        cache.close()
    }

    @Test("A process may begin with a write after another one has raised the budget")
    func writing() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: .mebibytes(1)))
        try await cache.set(Person("p:1", "parent")).committed
        let directory = scratch.directory
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            try Raiser.raise(directory, filling: true)
        }
        try Raiser.fill(cache, prefix: "c")
        #expect(try cache.generation.budget == .mebibytes(8))
        try expectClean(cache)
        cache.close()
    }

    /// ```
    /// reader            other process       this thread
    /// reads
    ///                   raises
    ///                                       waits for the reader, keeps the old budget
    ///   nested read                         reads and writes
    /// ends
    ///                                       follows
    /// ```
    @Test("A process keeps the old budget while a read runs, and follows when the read has ended")
    func stuck() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: .mebibytes(1)))
        try await cache.set(Person("p:1", "parent")).committed
        let directory = scratch.directory
        let reader = StuckReader(cache)
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            try Raiser.raise(directory, filling: false)
        }
        #expect(await cache.read(Person.self, "p:1")?.name == "parent")
        try await cache.set(Person("p:2", "parent")).committed
        #expect(try cache.generation.budget == .mebibytes(1))
        #expect(reader.end() == "parent")
        try await Task.sleep(for: .seconds(1.2))
        #expect(try cache.generation.budget == .mebibytes(8))
        try Raiser.fill(cache)
        try expectClean(cache)
        cache.close()
    }

    @Test("Raising the budget inside of a read is refused at once")
    func inside() throws {
        try withCache { cache in
            #expect(throws: (any Error).self) {
                try cache.engine.withTransaction { _, _ in
                    try cache.engine.generations.setBudget(larger: .mebibytes(90))
                }
            }
            try cache.engine.generations.setBudget(larger: .mebibytes(90))
            #expect(try cache.generation.budget == .mebibytes(90))
        }
    }
}

/// A read on a thread of its own that runs until the test ends it.
private final class StuckReader: Sendable {
    private let mayEnd = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let cache: NormalizedCache
    private nonisolated(unsafe) var name: String?  // written before `ended`, read after it

    init(_ cache: NormalizedCache) {
        self.cache = cache
        let begun = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            try? cache.engine.withTransaction { _, _ in
                begun.signal()
                mayEnd.wait()
                unsafe name = cache.read(Person.self, "p:1", consistency: .snapshot)?.name
            }
            ended.signal()
        }
        begun.wait()
    }

    /// Ends the read. Returns the result of a read inside it.
    func end() -> String? {
        mayEnd.signal()
        ended.wait()
        return unsafe name
    }
}

/// The bodies of the other process.
private enum Raiser {
    static func fill(_ cache: NormalizedCache, prefix: String = "b") throws {
        for number in 0..<100 {
            let people = (0..<10).map {
                Person("\(prefix):\(number):\($0)", String(repeating: "x", count: 2_000))
            }
            for person in people { cache.set(person) }
            try cache.set(Person("\(prefix):\(number)", "last")).wait()
        }
    }

    static func raise(_ directory: String, filling: Bool) throws {
        let cache = try NormalizedCache(
            directory: directory, configuration: .forTests(budget: .mebibytes(1)))
        guard cache.read(Person.self, "p:1")?.name == "parent" else { exit(10) }
        try cache.engine.generations.setBudget(larger: .mebibytes(8))
        if filling { try fill(cache) }
        guard try cache.verify().isClean else { exit(11) }
        cache.close()
    }
}
