import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierLMDB
@testable import EspalierStore

@Suite("Trees in memory that follow other processes", .serialized, .timeLimit(.minutes(2)))
struct MemoryFollowingTests {
    @Test("After the first commit of another process, a read knows what the next ones change")
    func follows() async throws {
        try await withCache { cache in
            let feed = Feed("f:1", messages: [Message("m:1", from: Person("p:1", "Ada"))])
            try await cache.set([Person("p:2", "Bob")]).committed
            try await cache.set(feed).committed
            #expect(await cache.read(Feed.self, "f:1") == feed)
            // Nobody has told of this one.
            await writeElsewhere(cache, "p:2", "Eva")
            #expect(await cache.read(Feed.self, "f:1") == feed)
            let first = try cache.statistics().memory
            #expect(first.hits == 0 && first.staleReads == 1)
            // From now on this process listens.
            await writeElsewhere(cache, "p:2", "Eve")
            #expect(await cache.read(Feed.self, "f:1") == feed)
            #expect(await cache.read(Feed.self, "f:1") == feed)
            let second = try cache.statistics().memory
            #expect(second.hits == 2 && second.staleReads == 1)
            await writeElsewhere(cache, "p:1", "Zoe")
            for _ in 0..<2 {
                #expect(await cache.read(Feed.self, "f:1")?.messages[0].sender.name == "Zoe")
            }
            let third = try cache.statistics().memory
            #expect(third.hits == 3 && third.staleReads == 2)
        }
    }

    @Test("A commit of this process after one of another loses neither")
    func commitsBetween() async throws {
        try await withCache { cache in
            let people = ["p:1", "p:2", "p:3"].map { Person($0, "Ada") }
            for person in people { try await cache.set(person).committed }
            for person in people { #expect(await cache.read(Person.self, person.id) == person) }
            await writeElsewhere(cache, "p:1", "Bob")
            #expect(await cache.read(Person.self, "p:1")?.name == "Bob")
            for person in people { _ = await cache.read(Person.self, person.id) }
            let before = try cache.statistics().memory
            await writeElsewhere(cache, "p:1", "Eve")
            try await cache.set(Person("p:2", "Zoe")).committed
            #expect(await cache.read(Person.self, "p:3")?.name == "Ada")
            let after = try cache.statistics().memory
            #expect(after.hits == before.hits + 1 && after.staleReads == before.staleReads)
            #expect(await cache.read(Person.self, "p:1")?.name == "Eve")
            #expect(await cache.read(Person.self, "p:2")?.name == "Zoe")
            #expect(try cache.statistics().memory.staleReads == before.staleReads + 2)
        }
    }

    @Test("A deletion by another process is a miss, whether it was told of or not")
    func deletions() async throws {
        try await withCache { cache in
            for number in 0..<3 {
                let message = Message("m:\(number)", from: Person("p:\(number)", "Ada"))
                try await cache.set(message).committed
                #expect(await cache.read(Message.self, "m:\(number)") == message)
                await writeElsewhere(cache, "p:\(number)", nil)
                for _ in 0..<2 {
                    #expect(
                        await cache.readOutcome(Message.self, "m:\(number)").reason == .deleted)
                }
            }
        }
    }

    @Test("A process stops listening when no read meets a commit any more")
    func patience() async throws {
        try await withCache { cache in
            try await cache.set(Person("p:1", "Ada")).committed
            let following = MemoryFollowing(
                cache.engine.generations, patience: .milliseconds(200))
            #expect(!following.isListening)
            following.noteCommitOfAnother()
            #expect(following.isListening)
            let listeners = try #require(cache.engine.generations.listeners)
            // Another part of this process goes on listening for itself.
            try listeners.begin()
            for _ in 0..<500 where following.isListening {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(!following.isListening)
            #expect(listeners.guardFile[.listeners] & 1 == 1)
            listeners.end()
            #expect(listeners.guardFile[.listeners] & 1 == 0)
        }
    }

    /// Writes a person in another process, or deletes it.
    private func writeElsewhere(_ cache: NormalizedCache, _ id: String, _ name: String?) async {
        let directory = cache.engine.directory.path
        await #expect(processExitsWith: .success) {
            [directory = directory as String, id = id as String, name = name as String?] in
            let cache = try NormalizedCache(directory: directory, configuration: .forTests)
            if let name {
                try cache.set(Person(id, name)).wait()
            } else {
                try cache.delete(id).wait()
            }
            cache.close()
        }
    }
}
