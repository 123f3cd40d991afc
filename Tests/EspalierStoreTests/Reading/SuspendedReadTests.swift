import EspalierModels
import EspalierRecords
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Reads that suspend", .timeLimit(.minutes(2)))
struct SuspendedReadTests {
    /// A node that notes that it is decoded, and can wait until it may go on.
    private struct Noted: NormalizedModel {
        private static let decoded = Mutex<[String]>([])
        static let isDecoding = DispatchSemaphore(value: 0)
        static let mayGoOn = DispatchSemaphore(value: 0)

        let id: String
        let people: [Person]
        let isSlow: Bool
        let next: [Noted]

        /// - Parameter people: The number of nodes in front of the place where it waits.
        init(_ id: String, people: Int, isSlow: Bool = false, next: [Noted] = []) {
            self.id = id
            self.people = (0..<people).map { Person("\(id) \($0)", "") }
            self.isSlow = isSlow
            self.next = next
        }

        var modelIdentifier: String? { id }

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            people = try decoder.decode(forKey: "people")
            isSlow = try decoder.decode(forKey: "isSlow")
            if isSlow {
                Self.isDecoding.signal()
                _ = Self.mayGoOn.wait(timeout: .now() + 600)
            }
            next = try decoder.decode(forKey: "next")
            Self.decoded.withLock { [id] in $0.append(id) }
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(people, forKey: "people")
            try encoder.encode(isSlow, forKey: "isSlow")
            try encoder.encode(next, forKey: "next")
        }

        static func isDecoded(_ id: String) -> Bool { decoded.withLock { $0.contains(id) } }

        /// Suspends until a slow node waits.
        static func untilSlow() async {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    _ = isDecoding.wait(timeout: .now() + 600)
                    continuation.resume()
                }
            }
        }
    }

    @Test("A small tree is read on the calling thread, a larger one on a thread of the cache")
    func small() async throws {
        try await withCache { cache in
            try await cache.set(Noted("small", people: 127)).committed
            try await cache.set(Noted("large", people: 128)).committed
            // A ticket succeeds a moment before the writer is done with the commit.
            while cache.engine.queue.hasPendingWrites {
                try await Task.sleep(for: .milliseconds(1))
            }
            #expect(await cache.read(Noted.self, "small")?.people.count == 127)
            #expect(await cache.read(Noted.self, "missing") == nil)
            #expect(cache.engine.readerState.threads == 0)
            #expect(await cache.read(Noted.self, "large")?.people.count == 128)
            #expect(cache.engine.readerState.threads == 1)
            let statistics = try cache.statistics()
            #expect(statistics.hits == 2)
            #expect(statistics.misses == ["notFound": 1])
        }
    }

    @Test("A large tree that lacks fields lacks all of them in the form that suspends, too")
    func partial() async throws {
        try await withCache { cache in
            let bags = (0..<200).map { Bag("p:\($0)", $0 % 3 == 0 ? [:] : ["name": "Ada"]) }
            try await cache.set(Box("list", bags)).committed
            let read = await cache.readPartial(Box<[Person]>.self, "list")
            #expect(read.missing.count == 67)
            #expect(read.model?.value.count == 133)
        }
    }

    @Test("A cancelled read returns at once, reads no further record, and is not counted")
    func cancellation() async throws {
        var configuration = Configuration.forTests
        configuration.readerThreads = 1
        try await withCache(configuration) { cache in
            let after = Noted("after", people: 0)
            try await cache.set(Noted("slow", people: 200, isSlow: true, next: [after])).committed
            let read = Task { await cache.readOutcome(Noted.self, "slow") }
            await Noted.untilSlow()
            // This one waits for the only thread.
            let waiting = Task { await cache.readOutcome(Noted.self, "slow") }
            while !cache.engine.readerState.isWaiting {
                try await Task.sleep(for: .milliseconds(1))
            }
            read.cancel()
            waiting.cancel()
            #expect(await read.value.reason == .cancelled)
            #expect(await waiting.value.reason == .cancelled)
            Noted.mayGoOn.signal()
            // The thread has ended both reads before it begins this one.
            try await cache.set(Noted("next", people: 200)).committed
            #expect(await cache.read(Noted.self, "next") != nil)
            #expect(!Noted.isDecoded("after"))
            let statistics = try cache.statistics()
            #expect(statistics.hits == 1)
            #expect(statistics.misses == [:])
        }
    }

    @Test("A task that is cancelled already reads nothing")
    func cancelledTask() async throws {
        try await withCache { cache in
            try await cache.set(Person("p", "Ada")).committed
            let read = Task {
                while !Task.isCancelled { await Task.yield() }
                return await cache.readOutcome(Person.self, "p")
            }
            read.cancel()
            #expect(await read.value.reason == .cancelled)
            #expect(await cache.read(Person.self, "p") != nil)
        }
    }

    @Test("A short read does not wait behind long ones")
    func starvation() async throws {
        try await withCache { cache in
            try await cache.set(Noted("long", people: 200, isSlow: true)).committed
            try await cache.set(Noted("short", people: 200)).committed
            let long = (0..<4).map { _ in Task { await cache.read(Noted.self, "long") } }
            for _ in long { await Noted.untilSlow() }
            #expect(await cache.read(Noted.self, "short")?.people.count == 200)
            for _ in long { Noted.mayGoOn.signal() }
            for task in long { #expect(await task.value?.people.count == 200) }
        }
    }
}
