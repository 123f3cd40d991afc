import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Opening and closing")
struct OpeningTests {
    private let anna = Person("p:1", "Anna")

    @Test("Committed records and their counters are there after reopening")
    func reopening() throws {
        let scratch = try Scratch()
        for round in 1...4 {
            let cache = try scratch.open()
            if round > 1 { #expect(cache.read(Person.self, "p:\(round - 1)")?.name == "Anna") }
            cache.set(Message("m:1", from: Person("p:\(round)", "Anna")))
            try expectClean(cache)
            #expect(try cache.statistics().writes == round)
            cache.close()
        }
    }

    @Test("A cache that opens slowly keeps nobody from opening and closing other caches")
    func slowOpening() throws {
        let (slow, other) = (try Scratch(), try Scratch())
        try slow.open().close()
        let guardFile = try GuardFile(
            path: CacheDirectory(slow.directory).guardPath, create: false)
        let ended = DispatchSemaphore(value: 0)
        try guardFile.withExclusiveLock { _ in
            Thread.detachNewThread {
                // Waits for the lock.
                #expect(throws: Never.self) { try slow.open().close() }
                ended.signal()
            }
            for _ in 0..<10_000 where EngineRegistry.shared.openingCount == 0 {
                Thread.sleep(forTimeInterval: 0.001)
            }
            let cache = try other.open()
            try cache.set(anna).wait()
            cache.close()
            #expect(EngineRegistry.shared.openingCount == 1)
        }
        ended.wait()
        #expect(EngineRegistry.shared.openingCount == 0)
    }

    @Test("While a process can open no more files, no generation is taken for missing")
    func noDescriptors() async throws {
        let scratch = try Scratch()
        try scratch.open().close()
        // Without this file, only the directory tells which generations there are.
        try FileManager.default.removeItem(atPath: scratch.directory + "/current")
        await #expect(processExitsWith: .success) {
            [directory = scratch.directory as String] in
            let files = CacheDirectory(directory)
            guard case .generation = try files.liveGeneration() else {
                fatalError("There is no generation.")
            }
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            #expect(throws: CacheError.self) { try files.liveGeneration() }
        }
    }

    @Test("Closing a cache commits the submitted writes")
    func closingCommits() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        let tickets = (0..<200).map { cache.set(Person("p:\($0)", "Person")) }
        cache.close()
        #expect(tickets.allSatisfy { code($0) == nil })
        let reopened = try scratch.open()
        #expect(try reopened.statistics().nodes == 200)
        reopened.close()
    }

    @Test("Closing a cache twice is closing it once, and afterwards reads miss and writes fail")
    func closed() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try await cache.set(anna).committed
        cache.close()
        cache.close()
        #expect(cache.isClosed)
        #expect(await cache.readOutcome(Person.self, "p:1").reason?.name == "unavailable")
        #expect(Self.readBlocking(cache).reason?.name == "unavailable")
        #expect(code(cache.set(anna)) == .closed)
        #expect(code(cache.delete("p:1")) == .closed)
        #expect(code(cache.removeAll()) == .closed)
        #expect(code(cache.append([anna], toCollection: "c")) == .closed)
        #expect(code { _ = try cache.statistics() } == .closed)
        #expect(code { _ = try cache.verify() } == .closed)
        await #expect(throws: CacheError.self) { try await cache.flush() }
    }

    private static func readBlocking(_ cache: NormalizedCache) -> ReadOutcome<Person> {
        cache.readOutcome(Person.self, "p:1")
    }

    @Test("A generation that is opened while the cache is being closed is closed, too")
    func openedWhileClosing() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let holder = try GenerationHolder(
            CacheDirectory(scratch.directory), .forTests, create: true)
        try holder.withExclusiveLock { lock in
            let name = try #require(holder.liveName)
            holder.close()
            let late = try holder.open(name, under: lock)
            #expect(!late.environment.isClosed)
            holder.install(late)
            #expect(late.environment.isClosed)
        }
        // Otherwise this process would have the file open twice.
        let cache = try scratch.open()
        try cache.set(anna).wait()
        cache.close()
    }

    @Test("What is left of a removal is not taken for the cache, and is removed")
    func interruptedRemoval() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        try cache.set(anna).wait()
        cache.close()
        // As a process leaves it that was killed between the removals of two files.
        let directory = CacheDirectory(scratch.directory)
        let name = try #require(directory.generations().first)
        let left = directory.generationPath("new-" + name.dropFirst(2))
        try FileManager.default.moveItem(atPath: directory.generationPath(name), toPath: left)
        try FileManager.default.removeItem(atPath: left + "/lock.mdb")
        cache = try scratch.open()
        #expect(cache.read(Person.self, "p:1") == nil)
        #expect(!FileManager.default.fileExists(atPath: left))
        try expectClean(cache)
        cache.close()
    }

    @Test("Flushing returns when all writes submitted before are committed")
    func flush() async throws {
        try await withCache { cache in
            let tickets = (0..<100).map { cache.set(Person("p:\($0)", "Person")) }
            try await cache.flush()
            #expect(tickets.allSatisfy { $0.result != nil })
        }
    }

    @Test("A flush that blocks does the same")
    func blockingFlush() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        let tickets = (0..<100).map { cache.set(Person("p:\($0)", "Person")) }
        try cache.flushAndWait()
        #expect(tickets.allSatisfy { $0.result != nil })
        cache.close()
        #expect(code { try cache.flushAndWait() } == .closed)
    }

    @Test("A second open returns the same cache, which closes with its last user")
    func sameEngine() throws {
        let scratch = try Scratch()
        let (first, second) = (try scratch.open(), try scratch.open())
        #expect(first.engine === second.engine)
        first.set(anna)
        #expect(second.read(Person.self, "p:1") == anna)
        first.close()
        #expect(first.read(Person.self, "p:1") == nil)
        #expect(second.read(Person.self, "p:1") == anna)
        try expectClean(second)
        second.close()
        let third = try scratch.open()
        #expect(third.engine !== first.engine)
        third.close()
    }

    @Test(
        """
        Opening with another configuration is refused while the cache is open, and succeeds \
        afterwards
        """)
    func otherConfiguration() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        var configuration = Configuration.forTests
        configuration.queueLimit = .mebibytes(1)
        #expect(code { _ = try scratch.open(configuration) } == .alreadyOpen)
        #expect(code { _ = try scratch.open(.forTests(budget: .mebibytes(2))) } == .alreadyOpen)
        cache.close()
        let reopened = try scratch.open(configuration)
        reopened.close()
    }

    @Test("The budget of the first configuration stays after reopening with another")
    func budget() throws {
        let scratch = try Scratch()
        for budget in [3, 9, 2] {
            let cache = try scratch.open(.forTests(budget: .mebibytes(budget)))
            #expect(try cache.statistics().budget == .mebibytes(3))
            cache.close()
        }
    }

    @Test(
        "Different spellings of a path open the same directory",
        arguments: ["/", "//", "/.", "/../cache", "/./../cache/"])
    func spellings(suffix: String) throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        let same = try NormalizedCache(
            directory: scratch.directory + suffix, configuration: .forTests)
        #expect(same.engine === cache.engine)
        same.close()
        cache.close()
    }

    @Test("A path through a link around the directory opens the same directory")
    func linkedParent() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try FileManager.default.createSymbolicLink(
            atPath: scratch.root + "/link", withDestinationPath: scratch.root)
        let same = try NormalizedCache(
            directory: scratch.root + "/link/cache", configuration: .forTests)
        #expect(same.engine === cache.engine)
        same.close()
        cache.close()
    }

    @Test("A cache closes when its last reference is gone")
    func forgotten() throws {
        let scratch = try Scratch()
        try withExtendedLifetime(scratch.open()) { cache in _ = cache.set(anna) }
        let cache = try scratch.open(.forTests(budget: .mebibytes(2)))
        #expect(cache.read(Person.self, "p:1") == anna)
        cache.close()
    }

    @Test("Opening and closing from many threads at once never creates two engines")
    func openingHammer() throws {
        let scratch = try Scratch()
        DispatchQueue.concurrentPerform(iterations: 60) { number in
            guard let cache = try? scratch.open() else { Issue.record("could not open"); return }
            cache.set(Person("p:\(number)", "Person"))
            #expect(cache.read(Person.self, "p:\(number)") != nil)
            cache.close()
        }
        let cache = try scratch.open()
        #expect(try cache.statistics().nodes == 60)
        try expectClean(cache)
        cache.close()
    }

    @Test("`existing` opens a cache that exists and creates none")
    func existing() throws {
        let scratch = try Scratch()
        #expect(code { _ = try NormalizedCache.existing(directory: scratch.directory) } == .noCache)
        #expect(!FileManager.default.fileExists(atPath: scratch.directory))
        try FileManager.default.createDirectory(
            atPath: scratch.directory, withIntermediateDirectories: false)
        #expect(code { _ = try NormalizedCache.existing(directory: scratch.directory) } == .noCache)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.directory) == [])
        try scratch.open().close()
        try NormalizedCache.existing(directory: scratch.directory).close()
    }

    @Test("The directory and its files are accessible to their owner only")
    func modes() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        let paths = try FileManager.default.subpathsOfDirectory(atPath: scratch.directory)
        for path in [scratch.directory] + paths.map({ scratch.directory + "/" + $0 }) {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
            #expect(mode & 0o077 == 0, "\(path) has mode \(String(mode, radix: 8))")
        }
        #expect(paths.count == 5)
        cache.close()
    }
}
