import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierLMDB
@testable import EspalierStore

@Suite("Several objects over one directory, and what ends with each", .timeLimit(.minutes(2)))
struct SharedEngineTests {
    private let anna = Person("p:1", "Anna")

    /// Whether code runs on another thread than the test.
    private func isElsewhere(_ body: (@escaping @Sendable () -> Void) -> Void) async -> Bool {
        let ended = Resumption<Bool>()
        func call() {
            let caller = ObjectIdentifier(Thread.current)
            body { ended.resume(ObjectIdentifier(Thread.current) != caller) }
        }
        call()
        return await ended.value
    }

    @Test("Closing one object commits its writes, even if another object is open")
    func commits() throws {
        let scratch = try Scratch()
        let (first, second) = (try scratch.open(.forTests), try scratch.open(.forTests))
        let isClosed = DispatchSemaphore(value: 0)
        let ticket = try withBlockedWriter(second) {
            let ticket = first.set(anna)
            Thread.detachNewThread {
                first.close()
                isClosed.signal()
            }
            // The writer is blocked, so the object can't be closed yet.
            #expect(isClosed.wait(timeout: .now() + .milliseconds(100)) == .timedOut)
            return ticket
        }
        isClosed.wait()
        #expect(ticket.result != nil)
        #expect(second.read(Person.self, "p:1", consistency: .snapshot) == anna)
        second.close()
    }

    @Test("The sequences of an object end with it, and those of another one go on")
    func sequences() async throws {
        let scratch = try Scratch()
        let (first, second) = (try scratch.open(.forTests), try scratch.open(.forTests))
        var states = first.updates(of: Person.self, "p:1").makeAsyncIterator()
        var changes = first.changes().makeAsyncIterator()
        var events = first.events().makeAsyncIterator()
        var others = second.changes().makeAsyncIterator()
        #expect(await states.next() == .some(nil))
        first.set(anna)
        first.close()
        // What was sent before is not lost.
        #expect(await changes.next()?.written == ["p:1"])
        #expect(await changes.next() == nil)
        while await states.next() != nil {}
        #expect(await events.next() == nil)
        #expect(await others.next()?.written == ["p:1"])
        try second.set(Person("p:2", "Bea")).wait()
        #expect(await others.next()?.written == ["p:2"])
        // Sequences that a closed object is asked for have no elements.
        var late = first.updates(of: Person.self, "p:1").makeAsyncIterator()
        #expect(await late.next() == nil)
        var lateChanges = first.changes().makeAsyncIterator()
        #expect(await lateChanges.next() == nil)
        var lateEvents = first.events().makeAsyncIterator()
        #expect(await lateEvents.next() == nil)
        second.close()
    }

    @Test("An object that is released ends its sequences, and leaves the others open")
    func released() async throws {
        let scratch = try Scratch()
        let second = try scratch.open(.forTests)
        var changes = try { try scratch.open(.forTests).changes() }().makeAsyncIterator()
        #expect(await changes.next() == nil)
        try second.set(anna).wait()
        #expect(await second.read(Person.self, "p:1") == anna)
        second.close()
    }

    @Test("The answer of a request is stored, although the object that began the request is closed")
    func joined() async throws {
        let scratch = try Scratch()
        let (first, second) = (try scratch.open(.forTests), try scratch.open(.forTests))
        let network = StepNetwork<Person>()
        let tasks = [first, second].map { cache in
            Task {
                try await cache.fetch(Person.self, "p:1", policy: .cacheThenNetwork) {
                    try await network.ask()
                }
            }
        }
        let key = SingleFlight.Key(.model, Person.self, "p:1")
        while second.engine.flights.passageCount(key) != 2 { await Task.yield() }
        first.close()
        network.answer(1, with: .success(anna))
        #expect(try await tasks[1].value == anna)
        _ = try? await tasks[0].value
        #expect(network.calls.count == 1)
        #expect(await second.read(Person.self, "p:1") == anna)
        second.close()
    }

    @Test("A completion may wait for a read, even if the cache has one thread for reads")
    func completions() async throws {
        var configuration = Configuration.forTests
        configuration.readerThreads = 1
        try await withCache(configuration) { cache in
            let ended = Resumption<Person?>()
            let delegate: any CacheDelegate = cache
            cache.setModels([anna], options: CacheWriteOptions()) { _ in
                let isRead = DispatchSemaphore(value: 0)
                let found = Mutex<Person?>(nil)
                delegate.modelForKey("p:1", context: nil) { (person: Person?, _: (any Error)?) in
                    found.withLock { $0 = person }
                    isRead.signal()
                }
                isRead.wait()
                ended.resume(found.withLock { $0 })
            }
            #expect(await ended.value?.name == "Anna")
        }
    }

    @Test("Completions never run inside the call, even if the cache is closed")
    func elsewhere() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        let withoutKey = await isElsewhere { end in
            cache.modelForKey(nil, context: nil) { (_: Person?, _: (any Error)?) in end() }
        }
        #expect(withoutKey)
        cache.close()
        let closed = await isElsewhere { end in
            cache.modelForKey("p:1", context: nil) { (_: Person?, _: (any Error)?) in end() }
        }
        #expect(closed)
    }

    @Test("Submitting a write does not wait for another process that has the lock of the cache")
    func submitting() throws {
        let scratch = try Scratch()
        var configuration = Configuration.forTests
        configuration.writeDeadline = .seconds(30)
        let cache = try scratch.open(configuration)
        try cache.set(anna).wait()
        let guardFile = try GuardFile(path: scratch.directory + "/guard", create: false)
        let ticket = try guardFile.withExclusiveLock { lock in
            // The cache has to look for a new generation, for which it needs the lock.
            _ = lock.advanceGeneration()
            let start = Moment.now
            let ticket = cache.set(Person("p:2", "Bea"))
            #expect(Moment.now.nanoseconds(since: start) < 10_000_000_000)
            return ticket
        }
        #expect(code(ticket) == nil)
        cache.close()
    }

    @Test("Only the transaction fails whose closure throws an error of another cache")
    func foreignError() throws {
        try withCache { cache in
            let busy = CacheError(LMDBError(.busy, .lockGuard))
            #expect(busy.isLockTimeout)
            let (tickets, failing) = try withBlockedWriter(cache) {
                let failing = cache.submit { transaction in
                    try transaction.set(Person("x", "X"))
                    throw busy
                }
                return ((0..<10).map { cache.set(Person("p:\($0)", "P")) }, failing)
            }
            for ticket in tickets { #expect(code(ticket) == nil) }
            #expect(code(failing.0) == .rolledBack)
            #expect(cache.read(Person.self, "x") == nil)
            #expect(throws: CacheError.self) {
                try cache.transaction { transaction in
                    try transaction.set(Person("x", "X"))
                    throw busy
                }
            }
            #expect(code { try cache.transaction { _ in throw busy } } == busy.code)
        }
    }
}
