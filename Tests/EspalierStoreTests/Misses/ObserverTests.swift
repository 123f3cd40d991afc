import EspalierRecords
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("An observer is called for each miss, and for nothing else")
struct ObserverTests {
    /// The misses with which observers were called.
    final class Log: Sendable {
        private let entries = Mutex<[Miss]>([])
        func add(_ miss: Miss) { entries.withLock { $0.append(miss) } }
        var misses: [Miss] { entries.withLock { $0 } }
    }

    private let anna = Person("p:1", "Anna")

    @Test(
        """
        An observer is called once for each miss, with its type, identifier and reason, and never \
        for a hit
        """)
    func content() throws {
        try withCache { cache in
            let log = Log()
            cache.observeMisses { log.add($0) }
            try cache.set(Message("m:1", from: anna)).wait()
            #expect(cache.read(Message.self, "m:1") != nil)
            #expect(log.misses.isEmpty)
            _ = cache.read(Message.self, "m:9")
            _ = cache.modelOutcome(Person.self, forKey: "k")
            _ = cache.collectionOutcome(of: Person.self, forKey: "c")
            _ = cache.read(Box<Int>.self, "p:1", access: .peek)
            try cache.damage("p:1")
            _ = cache.read(Message.self, "m:1")
            let missing = MissingField(identifier: "p:1", type: "Box<Int>", path: "value")
            #expect(
                log.misses == [
                    Miss(type: "Message", nameSpace: .node, identifier: "m:9", reason: .notFound),
                    Miss(type: "Person", nameSpace: .key, identifier: "k", reason: .notFound),
                    Miss(
                        type: "Person", nameSpace: .collection, identifier: "c", reason: .notFound),
                    Miss(
                        type: "Box<Int>", nameSpace: .node, identifier: "p:1",
                        reason: .incomplete([missing])),
                    Miss(
                        type: "Message", nameSpace: .node, identifier: "m:1",
                        reason: .damaged(path: "m:1.sender", detail: "the check does not match")),
                ])
            #expect(log.misses.count == (try cache.statistics().misses.values.reduce(0, +)))
            try cache.set(anna).wait()
        }
    }

    @Test(
        """
        An observer is called on the thread of the read before the read returns, also for reads \
        that suspend
        """)
    func threads() async throws {
        try await withCache { (cache: NormalizedCache) async throws in
            let log = Log()
            let thread = Mutex<ObjectIdentifier?>(nil)
            cache.observeMisses { miss in
                log.add(miss)
                thread.withLock { $0 = ObjectIdentifier(Thread.current) }
            }
            func readHere() {
                #expect(cache.read(Person.self, "p:1", consistency: .snapshot) == nil)
                #expect(thread.withLock { $0 } == ObjectIdentifier(Thread.current))
            }
            readHere()
            #expect(log.misses.count == 1)
            #expect(await cache.read(Person.self, "p:2") == nil)
            #expect(log.misses.map(\.identifier) == ["p:1", "p:2"])
        }
    }

    @Test(
        """
        Observers are called in the order of their registration, until they are cancelled or the \
        cache is closed
        """)
    func cancelling() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        let again = try scratch.open()
        let names = Mutex<[String]>([])
        let first = cache.observeMisses { _ in names.withLock { $0.append("first") } }
        // Registered with one object, called for the reads of another.
        again.observeMisses { _ in names.withLock { $0.append("second") } }
        _ = cache.read(Person.self, "p:1")
        first.cancel()
        first.cancel()
        _ = again.read(Person.self, "p:1")
        #expect(names.withLock { $0 } == ["first", "second", "second"])
        cache.close()
        again.close()
        _ = again.read(Person.self, "p:1")
        #expect(names.withLock { $0 }.count == 3)
    }

    @Test(
        """
        An observer may read and write, is not called for its own misses, and can neither wait for \
        a write nor block the writer
        """
    )
    func inside() throws {
        try withCache { (cache: NormalizedCache) throws in
            let log = Log()
            let codes = Mutex<[CacheError.Code?]>([])
            let observation = cache.observeMisses { [weak cache] miss in
                log.add(miss)
                guard let cache else { return }
                let ticket = cache.set(Person(miss.identifier, "made up"))
                codes.withLock { $0.append(code(ticket)) }
                #expect(cache.read(Person.self, "nobody", consistency: .snapshot) == nil)
                cache.set(Person("p:8", "more"))
            }
            #expect(cache.read(Person.self, "p:1") == nil)
            #expect(log.misses.map(\.identifier) == ["p:1"])
            #expect(codes.withLock { $0 } == [.waitInsideRead])
            #expect(cache.read(Person.self, "p:1")?.name == "made up")
            let misses = try cache.statistics().misses
            #expect(misses["notFound"] == 2)
            observation.cancel()
        }
    }

    @Test("Parallel reads call an observer once for each miss")
    func sideBySide() async throws {
        try await withCache { (cache: NormalizedCache) async throws in
            let log = Log()
            cache.observeMisses { log.add($0) }
            try await cache.set(anna).committed
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        for read in 0..<50 {
                            _ = await cache.read(
                                Person.self, read % 2 == 0 ? "p:1" : "x:\(task):\(read)")
                        }
                    }
                }
            }
            #expect(log.misses.count == 200)
            #expect(Set(log.misses.map(\.identifier)).count == 200)
        }
    }

    /// Sets a flag when it is deallocated.
    final class Held: Sendable {
        private let onEnd: @Sendable () -> Void
        init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
        deinit { onEnd() }
    }

    @Test("A cancelled observer releases the objects it retained")
    func lifetime() throws {
        try withCache { cache in
            let ends = Log()
            var held: Held? = Held {
                ends.add(Miss(type: "", nameSpace: .node, identifier: "", reason: .notFound))
            }
            let observation = cache.observeMisses { [held] _ in _ = held }
            held = nil
            #expect(ends.misses.isEmpty)
            observation.cancel()
            #expect(ends.misses.count == 1)
        }
    }
}
