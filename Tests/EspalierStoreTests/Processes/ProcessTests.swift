import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

/// Exit tests run their bodies in processes of their own, which share the parent's cache directory.
@Suite("Two processes with one cache")
struct ProcessTests {
    @Test("A process reads what another one writes, shapes included")
    func reading() async throws {
        try await withCache { cache in
            try await cache.set(Person("p:1", "parent")).committed
            let directory = cache.engine.directory.path
            await #expect(processExitsWith: .success) { [directory = directory as String] in
                try Peer.writeAndRead(directory)
            }
            #expect(await cache.read(Person.self, "p:1")?.name == "child")
            #expect(await cache.read(Card.self, "p:2") == Card("p:2", name: "child", badge: 5))
            try await cache.set(Message("m:1", from: Person("p:2", "parent"))).committed
            #expect(await cache.read(Card.self, "p:2")?.badge == 5)
        }
    }

    @Test("Dictionaries that another process has deleted leave the memory")
    func deletedDictionaries() async throws {
        try await withCache(CompressedCache.configuration) { cache in
            try CompressedCache.fill(cache, "round 0")
            try await cache.compact().committed
            let directory = cache.engine.directory.path
            for round in 1...3 {
                await #expect(processExitsWith: .success) {
                    [directory = directory as String, round = round as Int] in
                    try Peer.compact(directory, round)
                }
                CompressedCache.expectRead(cache, "round \(round)")
                let stored = try cache.dictionaries.entries.keys
                let inMemory = try cache.generation.dictionaries.all.enumerated()
                    .compactMap { $0.element == nil ? nil : UInt64($0.offset) }
                #expect(!inMemory.isEmpty)
                #expect(Set(inMemory).isSubset(of: stored))
            }
        }
    }

    @Test("When a process removes everything, the other one moves on to the new generation")
    func removingAll() async throws {
        try await withCache { cache in
            try await cache.set(Person("p:1", "parent")).committed
            let directory = cache.engine.directory.path
            let before = try cache.generation.name
            await #expect(processExitsWith: .success) { [directory = directory as String] in
                try Peer.removeAll(directory)
            }
            #expect(await cache.readOutcome(Person.self, "p:1").reason == .notFound)
            #expect(await cache.read(Person.self, "p:2")?.name == "child")
            try await cache.set(Person("p:3", "parent")).committed
            #expect(try cache.generation.name != before)
            #expect(try cache.statistics().nodes == 2)
        }
    }

    @Test("Two processes that write and remove everything at once both stay on the live generation")
    func together() async throws {
        try await withCache { cache in
            let directory = cache.engine.directory.path
            async let peer: Void = runPeer(directory)
            var failures: [CacheError.Code] = []
            for number in 0..<300 {
                do {
                    try await cache.set(
                        Message("m:\(number % 9)", from: Person("p:\(number % 20)", "parent"))
                    )
                    .committed
                } catch let error as CacheError {
                    failures.append(error.code)
                }
                _ = await cache.read(Message.self, "m:\(number % 9)")
                if number % 50 == 49 { _ = try cache.verify() }
            }
            await peer
            #expect(failures == [])
        }
    }

    private func runPeer(_ directory: String) async {
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            try Peer.writeALot(directory)
        }
    }

    @Test("A process killed while it writes leaves an intact cache", arguments: 0..<6)
    func killed(round: Int) async throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let directory = scratch.directory
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [directory = directory as String, round = round as Int] in
            try Peer.writeUntilKilled(directory, after: 0.02 + 0.03 * Double(round))
        }
        let cache = try scratch.open()
        try expectClean(cache)
        // Each feed was written with its whole tree, or not at all.
        var found = 0
        while let feed = await cache.read(Feed.self, "f:\(found)") {
            #expect(feed.messages.count == 5)
            found += 1
        }
        #expect(try cache.statistics().collections <= 1)
        try await cache.set(Person("p:1", "after")).committed
        try expectClean(cache)
        cache.close()
    }
}

/// The bodies of the other process.
private enum Peer {
    static func open(_ directory: String) throws -> NormalizedCache {
        try NormalizedCache(directory: directory, configuration: .forTests)
    }

    static func writeAndRead(_ directory: String) throws {
        let cache = try open(directory)
        guard cache.read(Person.self, "p:1")?.name == "parent" else { exit(10) }
        cache.set(Person("p:1", "child"))
        try cache.set(Card("p:2", name: "child", badge: 5)).wait()
        guard try cache.verify().isClean else { exit(11) }
        cache.close()
    }

    static func compact(_ directory: String, _ round: Int) throws {
        let cache = try NormalizedCache(
            directory: directory, configuration: CompressedCache.configuration)
        try CompressedCache.fill(cache, "round \(round)")
        try cache.compact().wait()
        cache.close()
    }

    static func removeAll(_ directory: String) throws {
        let cache = try open(directory)
        guard cache.read(Person.self, "p:1") != nil else { exit(10) }
        cache.removeAll()
        try cache.set(Person("p:2", "child")).wait()
        cache.close()
    }

    static func writeALot(_ directory: String) throws {
        let cache = try open(directory)
        for number in 0..<300 {
            try cache.set(
                Feed(
                    "f:\(number % 5)",
                    messages: [Message("m:\(number % 9)", from: Person("p:1", "child"))])
            )
            .wait()
            if number % 40 == 39 { try cache.removeAll().wait() }
        }
        cache.close()
    }

    static func writeUntilKilled(_ directory: String, after seconds: Double) throws {
        let cache = try open(directory)
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: seconds)
            kill(getpid(), SIGKILL)
        }
        for number in 0..<1_000_000 {
            let people = (0..<5).map { Person("p:\(number + $0)", "Person") }
            let messages = people.map { Message("m:\(number):\($0.id)", from: $0, to: people[0]) }
            cache.set(Feed("f:\(number)", messages: messages))
            cache.append(people, toCollection: "c")
            cache.set(Ring("r:\(number)", left: Ring("r:\(number - 1)")))
            if number % 10 == 9 { try cache.delete("r:\(number - 5)").wait() }
        }
    }
}
