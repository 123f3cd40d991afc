import EspalierModels
import EspalierRecords
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Observing models without a provider")
struct ObservationTests {
    /// Collects what an observation sends, and waits for a state.
    private final class Log<Value: Sendable & Equatable>: Sendable {
        private let values = Mutex<[Value]>([])
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        var all: [Value] { values.withLock { $0 } }

        func add(_ value: Value) {
            values.withLock { $0.append(value) }
            continuation.yield()
        }

        /// Returns when the last value is `value`.
        func wait(for value: Value) async {
            if all.last == value { return }
            for await _ in stream where all.last == value { return }
        }
    }

    /// Ends an observation of its own when it is released.
    private final class Row: Sendable {
        let photo: CacheObservation
        init(_ cache: NormalizedCache) { photo = cache.observe(Person.self, "photo") { _ in } }
        func show() {}
    }

    @Test("An observation may hold the last reference to an object that has another observation")
    func nestedEnd() async throws {
        try await withCache { cache in
            let log = Log<String?>()
            var list: CacheObservation? = { row in
                cache.observe(Person.self, "list") { person in
                    row.show()
                    log.add(person?.name)
                }
            }(Row(cache))
            await log.wait(for: nil)
            #expect(list != nil)
            list = nil
            // The handler may still be running, and then the object goes with it.
            for _ in 0..<10_000 where cache.engine.observations.count.observers > 0 {
                try await Task.sleep(for: .milliseconds(1))
            }
            #expect(cache.engine.observations.count.observers == 0)
        }
        // Closing a cache releases what observations hold, too.
        let scratch = try Scratch()
        let cache = try scratch.open()
        let observation = { row in
            cache.observe(Person.self, "list") { _ in row.show() }
        }(Row(cache))
        cache.close()
        withExtendedLifetime(observation) {}
    }

    @Test(
        "An observation sends the current model first, and then each new state, from deep below too"
    )
    func states() async throws {
        try await withCache { cache in
            try cache.set(Message("m:1", from: Person("a", "Ada"))).wait()
            var states = cache.updates(of: Message.self, "m:1").makeAsyncIterator()
            #expect(await states.next()??.sender.name == "Ada")
            try cache.set(Person("a", "Grace")).wait()
            #expect(await states.next()??.sender.name == "Grace")
            try cache.delete("m:1").wait()
            #expect(await states.next() == .some(nil))
            try cache.set(Message("m:1", from: Person("b", "Bob"))).wait()
            #expect(await states.next()??.sender.name == "Bob")
            try cache.set(Person("b", "Ben")).wait()
            #expect(await states.next()??.sender.name == "Ben")
        }
    }

    @Test(
        "An observer sees a part again whose optimistic deletion is rolled back",
        .timeLimit(.minutes(1)))
    func rolledBackDeletion() async throws {
        try await withCache { cache in
            let messages = (1...3).map { Message("m:\($0)", from: Person("p:\($0)", "Ada")) }
            try await cache.set(Feed("f", messages: messages)).committed
            var states = cache.updates(of: Feed.self, "f").makeAsyncIterator()
            #expect(await states.next()??.messages.count == 3)
            let change = cache.optimistically { $0.delete("m:2") }
            #expect(await states.next()??.messages.count == 2)
            try await change.rollback().committed
            #expect(await states.next()??.messages.count == 3)
        }
    }

    @Test("An observer of a tree with a lost record is told when the record is there again")
    func restored() async throws {
        let message = Message("m:1", from: Person("a", "Ada"))
        let records = try await withCache { cache in
            try await cache.set(message).committed
            return try CacheContents(of: cache).records
        }
        try await withCache { cache in
            let restoration = Restoration()
            let (parents, children) = (
                records.filter { $0.identifier == "m:1" }, records.filter { $0.identifier == "a" }
            )
            try await cache.restore(parents, as: restoration).committed
            var states = cache.updates(of: Message.self, "m:1").makeAsyncIterator()
            #expect(await states.next() == .some(nil))
            try await cache.restore(children, as: restoration).committed
            #expect(await states.next() == .some(message))
            try await cache.set(Person("a", "Eva")).committed
            #expect(await states.next()??.sender.name == "Eva")
        }
    }

    @Test("An observer of a tree with a lost record is told when the record is deleted")
    func deletedLost() async throws {
        let feed = Feed("f", messages: (1...2).map { Message("m:\($0)", from: Person("a", "Ada")) })
        let records = try await withCache { cache in
            try await cache.set(feed).committed
            return try CacheContents(of: cache).records
        }
        try await withCache { cache in
            let others = records.filter { $0.identifier != "m:1" }
            try await cache.restore(others, as: Restoration()).committed
            var states = cache.updates(of: Feed.self, "f").makeAsyncIterator()
            #expect(await states.next() == .some(nil))
            try await cache.delete("m:1").committed
            #expect(await states.next()??.messages.map(\.id) == ["m:2"])
        }
    }

    @Test("A consumer that does not keep up gets the last state, and nothing grows meanwhile")
    func slow() async throws {
        try await withCache { cache in
            try cache.set(Person("a", "0")).wait()
            var updates: AsyncStream<Person?>? = cache.updates(of: Person.self, "a")
            for number in 1...500 { cache.set(Person("a", "\(number)")) }
            try await cache.flush()
            if let updates {
                for await person in updates where person?.name == "500" { break }
            }
            updates = nil
            #expect(cache.observerCount == (0, 0))
        }
    }

    @Test("Several nodes are followed together, and a collection with its elements")
    func several() async throws {
        try await withCache { cache in
            try cache.set([Person("a", "Ada"), Person("b", "Bob")]).wait()
            try cache.setCollection([Person("a", "Ada")], forKey: "people").wait()
            var people = cache.updates(of: Person.self, ids: ["a", "b", "c"]).makeAsyncIterator()
            #expect(await people.next()?.keys.sorted() == ["a", "b"])
            var list = cache.updates(ofCollection: "people", of: Person.self).makeAsyncIterator()
            #expect(await list.next()??.map(\.name) == ["Ada"])
            try cache.set(Person("c", "Carl")).wait()
            #expect(await people.next()?.keys.sorted() == ["a", "b", "c"])
            try cache.append([Person("c", "Carl")], toCollection: "people").wait()
            #expect(await list.next()??.map(\.name) == ["Ada", "Carl"])
            try cache.set(Person("c", "Carla")).wait()
            #expect(await list.next()??.map(\.name) == ["Ada", "Carla"])
            #expect(await people.next()?["c"]?.name == "Carla")
        }
    }

    @Test("Only the observers of a changed node run, and released ones leave nothing behind")
    func many() async throws {
        try await withCache { cache in
            try cache.set((0..<10_000).map { Person("p:\($0)", "0") }).wait()
            let calls = Mutex(0)
            let first = Log<String?>()
            let last = Log<String?>()
            var observations = [cache.observe(Person.self, "p:0") { first.add($0?.name) }]
            observations += (1..<10_000).map { number in
                cache.observe(Person.self, "p:\(number)") { _ in calls.withLock { $0 += 1 } }
            }
            // Observers read in the order of registration.
            observations.append(cache.observe(Person.self, "p:9999") { last.add($0?.name) })
            await last.wait(for: "0")
            #expect(calls.withLock { $0 } == 9_999)
            #expect(cache.observerCount == (10_001, 10_000))
            try cache.set(Person("p:0", "1")).wait()
            await first.wait(for: "1")
            #expect(calls.withLock { $0 } == 9_999)
            #expect(first.all == ["0", "1"])
            observations = []
            #expect(cache.observerCount == (0, 0))
            // The subscription is a task, which ends after it was cancelled.
            for _ in 0..<30_000 where cache.hasChangeSubscribers {
                try await Task.sleep(for: .milliseconds(1))
            }
            #expect(!cache.hasChangeSubscribers)
        }
    }

    @Test("Emptying the cache sends nil, and closing it ends the sequences")
    func ends() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        try cache.set(Person("a", "Ada")).wait()
        var states = cache.updates(of: Person.self, "a").makeAsyncIterator()
        #expect(await states.next()??.name == "Ada")
        try cache.removeAll().wait()
        #expect(await states.next() == .some(nil))
        cache.close()
        #expect(await states.next() == nil)
        var late = cache.updates(of: Person.self, "a").makeAsyncIterator()
        #expect(await late.next() == nil)
    }

    @Test("After random commits every observer has sent what a fresh read gives")
    func random() async throws {
        try await withCache { cache in
            try cache.set(
                (0..<20).map { Message("m:\($0)", from: Person("p:\($0 % 5)", "0")) }
            ).wait()
            let logs = (0..<20).map { _ in Log<Message?>() }
            let observations = logs.enumerated().map { number, log in
                cache.observe(Message.self, "m:\(number)") { log.add($0) }
            }
            for step in 0..<400 {
                switch Int.random(in: 0..<4) {
                case 0: cache.set(Person("p:\(Int.random(in: 0..<5))", "\(step)"))
                case 1:
                    let number = Int.random(in: 0..<20)
                    cache.set(Message("m:\(number)", from: Person("p:\(step % 5)", "\(step)")))
                case 2: cache.delete("m:\(Int.random(in: 0..<20))")
                default:
                    let number = Int.random(in: 0..<20)
                    cache.set(
                        Message(
                            "m:\(number)", from: Person("p:\(step % 5)", "\(step)"),
                            to: Person("p:0", "\(step)")))
                }
            }
            try await cache.flush()
            for (number, log) in logs.enumerated() {
                await log.wait(for: await cache.read(Message.self, "m:\(number)"))
            }
            #expect(observations.count == 20)
        }
    }
}

extension NormalizedCache {
    fileprivate var observerCount: (Int, Int) { engine.observations.count }
    fileprivate var hasChangeSubscribers: Bool { engine.changeSets.hasSubscribers }
}
