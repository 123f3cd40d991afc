import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite(
    "Changes of the budget among processes"
)
struct EvictionResizeTests {
    private static let small = ByteCount.mebibytes(1)
    private static let large = ByteCount.mebibytes(2)

    /// A much smaller cache is copied beside the old file, a little smaller one through memory.
    @Test(
        "A process that is killed while it changes the budget leaves a clean cache",
        arguments: [(1 << 20, false), (1 << 20, true), (1_900_000, false), (3 << 20, false)])
    func killed(bytes: Int, mayExceed: Bool) async throws {
        let template = try Scratch()
        var cache = try template.open(.forTests(budget: Self.large))
        try cache.overfill(budgets: 1.2)
        cache.close()
        for round in 0..<10 {
            let scratch = try Scratch()
            try FileManager.default.copyItem(atPath: template.directory, toPath: scratch.directory)
            // In half of the rounds the delay begins when the files change.
            let delay = Int.random(in: 0..<(round % 2 == 0 ? 30_000 : 8_000))
            let directory = scratch.directory
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    directory = directory as String, bytes = bytes as Int,
                    mayExceed = mayExceed as Bool,
                    delay = delay as Int,
                    atSwitch = (round % 2 == 1) as Bool
                ] in
                try ResizePeer.setBudgetUntilKilled(
                    directory, ByteCount(bytes), mayExceed: mayExceed, after: delay,
                    atSwitch: atSwitch)
            }
            cache = try scratch.open(.forTests(budget: Self.large))
            try expectClean(cache)
            #expect([Self.large, ByteCount(bytes)].contains(cache.budget))
            #expect(try cache.statistics().directoryBytes <= max(Self.large, cache.budget))
            let files = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(files.count == 3, "\(files)")
            try cache.set(Person("after", "")).wait()
            #expect(cache.areReadable(["after"]) == [true])
            try expectClean(cache)
            cache.close()
        }
    }

    /// A process leaves such a file when it is killed after it has deleted the old file and before
    /// the new one is complete.
    @Test("A new file that is not complete is not taken for the cache", arguments: 0...9)
    func incomplete(keyspaces: Int) throws {
        let scratch = try Scratch()
        var cache = try scratch.open(.forTests(budget: Self.large))
        cache.set(Message("m:1", from: Person("p:1", "Anna")))
        cache.set(Ring("a", left: Ring("b", left: Ring("a"))))
        try cache.pin("a").wait()
        var parts: [GenerationPart] = []
        let generation = try cache.generation
        let source = try generation.environment.beginWrite()
        try GenerationCopy(of: generation, newKey: nil).forEachPart(in: source) { parts.append($0) }
        source.abort()
        cache.close()
        let directory = CacheDirectory(scratch.directory)
        directory.removeGenerations(except: nil)
        let path = directory.generationPath(try directory.makeUnfinished())
        try GuardFile(path: directory.guardPath, create: true).withExclusiveLock { lock in
            let target = try Environment.open(
                directory: path, under: lock, keyspaces: Keyspaces.names,
                options: .init(mapSize: Generation.mapSize(for: Self.small)))
            defer { target.close() }
            for part in parts where Keyspaces.names.prefix(keyspaces).contains(part.keyspace) {
                try part.append(to: target)
            }
        }
        cache = try scratch.open(.forTests(budget: Self.large))
        try expectClean(cache)
        #expect(try cache.statistics().nodes == 0)
        try cache.set(Message("m:2", from: Person("p:2", "Ben"))).wait()
        #expect(cache.read(Message.self, "m:2")?.sender.name == "Ben")
        try expectClean(cache)
        cache.close()
    }

    @Test(
        "A process that has the cache open reads and writes on with the smaller budget",
        arguments: [false, true])
    func followed(mayExceed: Bool) async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: Self.large))
        let names = try cache.overfill(budgets: 0.5)
        let directory = scratch.directory
        let reader = BusyReader(cache, names: names)
        await #expect(processExitsWith: .success) {
            [directory = directory as String, mayExceed = mayExceed as Bool] in
            try ResizePeer.setBudget(directory, .mebibytes(1), mayExceed: mayExceed)
        }
        let other = reader.stop()
        #expect(other == [])
        #expect(cache.budget == Self.small)
        #expect(cache.areReadable(names).last == true)
        try cache.overfill(budgets: 1.5, prefix: "y")
        #expect(try cache.statistics().directoryBytes <= Self.small)
        try expectClean(cache)
        cache.close()
    }

    @Test(
        "Reads and writes go on while the budget is changed, and no write is lost",
        arguments: [false, true])
    func busy(mayExceed: Bool) throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: Self.large))
        let names = try cache.overfill(budgets: 0.5)
        let readers = (0..<2).map { _ in BusyReader(cache, names: names) }
        var tickets: [WriteTicket] = []
        for round in 0..<4 {
            tickets.append(
                cache.setBudget(round % 2 == 0 ? Self.small : Self.large, mayExceed: mayExceed))
            tickets += (0..<20).map { cache.set(Person("w:\(round)-\($0)", "written")) }
        }
        #expect(tickets.map(code) == tickets.map { _ in nil })
        for reader in readers { #expect(reader.stop() == []) }
        #expect(cache.budget == Self.large)
        #expect(cache.areReadable((0..<20).map { "w:3-\($0)" }).contains(false) == false)
        try expectClean(cache)
        cache.close()
    }
}

/// Reads records all the time, on a thread of its own.
private final class BusyReader: Sendable {
    private let isOver = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private nonisolated(unsafe) var other: [String] = []  // written before `ended`, read after it

    init(_ cache: NormalizedCache, names: [String]) {
        Thread.detachNewThread { [self] in
            var other: Set<String> = []
            while isOver.wait(timeout: .now()) == .timedOut {
                for name in names {
                    // Leaves the processors to the writer, of which there may be only two.
                    Thread.sleep(forTimeInterval: 0.000_2)
                    let outcome = cache.readOutcome(Person.self, name, consistency: .snapshot)
                    if let reason = outcome.reason, reason != .notFound {
                        other.insert("\(reason)")
                    }
                }
            }
            unsafe self.other = other.sorted()
            ended.signal()
        }
    }

    /// Ends reading. Returns the reasons of misses other than `.notFound`.
    func stop() -> [String] {
        isOver.signal()
        ended.wait()
        return unsafe other
    }
}

/// The work of the other process.
private enum ResizePeer {
    static func open(_ directory: String) throws -> NormalizedCache {
        try NormalizedCache(directory: directory, configuration: .forTests(budget: .mebibytes(2)))
    }

    static func setBudget(_ directory: String, _ budget: ByteCount, mayExceed: Bool) throws {
        let cache = try open(directory)
        try cache.setBudget(budget, mayExceed: mayExceed).wait()
        guard try cache.verify().isClean else { exit(11) }
        cache.close()
    }

    static func setBudgetUntilKilled(
        _ directory: String, _ budget: ByteCount, mayExceed: Bool, after microseconds: Int,
        atSwitch: Bool
    ) throws {
        let cache = try open(directory)
        let files = CacheDirectory(directory)
        let before = files.generations()
        let ticket = cache.setBudget(budget, mayExceed: mayExceed)
        if atSwitch {
            // Ends, too, if the budget was changed before this loop saw the files change.
            while files.generations() == before, ticket.result == nil {}
        }
        EvictionPeer.killLater(after: microseconds)
        while true { sleep(1) }
    }
}
