import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Writes that wait for room in the queue", .timeLimit(.minutes(2)))
struct AwaitedRoomTests {
    private static func configuration() -> Configuration {
        var configuration = Configuration.forTests
        configuration.queueLimit = .kibibytes(64)
        return configuration
    }

    /// A person of 16 KB: four of them fill the queue.
    private static func person(_ number: Int) -> Person {
        Person("p:\(number)", String(repeating: "\(number) ", count: 8_000))
    }

    @Test("No write that waits for room is lost, however full the queue is")
    func room() async throws {
        try await withCache(Self.configuration()) { cache in
            let gate = Gate(in: cache)
            let writes = (0..<24).map { number in
                Task { try await cache.writeAwaitingRoom { $0.set(Self.person(number)) } }
            }
            // As many as the queue has room for.
            while try cache.statistics().pendingWrites < 2 {
                try await Task.sleep(for: .milliseconds(1))
            }
            let statistics = try cache.statistics()
            #expect(statistics.pendingBytes <= .kibibytes(64))
            #expect(statistics.writerBlockedFor.map { $0 > .zero } == true)
            gate.open()
            for write in writes { try await write.value.committed }
            for number in 0..<24 { #expect(await cache.read(Person.self, "p:\(number)") != nil) }
            let after = try cache.statistics()
            #expect(after.droppedWrites == [:])
            #expect(after.pendingWrites == 0)
            #expect(after.pendingBytes == ByteCount(0))
        }
    }

    @Test("The room of an admitted write is taken before its bytes are measured")
    func reserved() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration())
        defer { cache.close() }
        let gate = Gate(in: cache)
        defer { gate.open() }
        let queue = cache.engine.queue
        #expect(queue.whenRoom(for: 40_000) { _ in } == nil)
        let before = queue.pending.byteCount
        let write = queue.submit(coalescingKey: nil, isDroppable: false, reserved: 40_000) {
            .barrier
        }
        #expect(write != nil && queue.pending.byteCount == before + 40_000)
        #expect(queue.whenRoom(for: 40_000) { _ in } != nil)
    }

    @Test("Writes that wait for room are let in while others keep the queue full")
    func fullQueue() throws {
        let queue = WriteQueue(
            limit: .kibibytes(16),
            WriteFailures(
                StatisticsRecorder(), Broadcast<CacheEvent>(buffering: .bufferingNewest(16))))
        func submit(_ reserved: Int = 0) throws {
            let write = queue.submit(coalescingKey: nil, isDroppable: false, reserved: reserved) {
                .barrier
            }
            _ = try #require(write)
        }
        for _ in 0..<16 { try submit() }
        let full = queue.pending.byteCount
        #expect(full == 16 * PendingWrite.assumedByteCount)
        let admitted = Mutex<[Int]>([])
        for number in 0..<3 {
            let wait = queue.whenRoom(for: 15_000) { _ in
                admitted.withLock { $0.append(number) }
            }
            #expect(wait != nil)
        }
        var (largest, rounds) = (0, [Int]())
        for round in 1...100 {
            let taken = try #require(queue.take(atMost: 2, until: nil))
            // The second one does not fit in the commit.
            queue.putBack(taken.dropFirst())
            queue.admit()
            if admitted.withLock(\.count) > rounds.count {
                rounds.append(round)
                #expect(admitted.withLock(\.count) == rounds.count)
                try submit(15_000)
            }
            // Others fill the queue again.
            while queue.pending.byteCount < full { try submit() }
            queue.finish(taken[0], .success(()))
            largest = max(largest, queue.pending.byteCount)
        }
        #expect(admitted.withLock { $0 } == [0, 1, 2])
        // The first one when those 16 are taken that were there before.
        #expect(rounds.first == 16)
        #expect(largest > full && largest < full + 15_000)
        #expect(queue.awaitingRoom == 0)
    }

    @Test("A write that does not fit in an empty queue is submitted, and so is the one behind it")
    func largerThanTheQueue() async throws {
        try await withCache(Self.configuration()) { cache in
            let large = Person("large", String(repeating: "x", count: 100_000))
            try await cache.writeAwaitingRoom { $0.set(large) }.committed
            try await cache.writeAwaitingRoom { $0.set(Self.person(1)) }.committed
            #expect(await cache.read(Person.self, "large") != nil)
            #expect(await cache.read(Person.self, "p:1") != nil)
        }
    }

    @Test("A cancelled wait writes nothing, and lets the next one in")
    func cancellation() async throws {
        try await withCache(Self.configuration()) { cache in
            let gate = Gate(in: cache)
            for number in 0..<4 {
                try await cache.writeAwaitingRoom { $0.set(Self.person(number)) }
            }
            let cancelled = Task { try await cache.writeAwaitingRoom { $0.set(Self.person(7)) } }
            while cache.engine.queue.awaitingRoom == 0 {
                try await Task.sleep(for: .milliseconds(1))
            }
            let next = Task { try await cache.writeAwaitingRoom { $0.set(Self.person(8)) } }
            while cache.engine.queue.awaitingRoom == 1 {
                try await Task.sleep(for: .milliseconds(1))
            }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
            gate.open()
            try await next.value.committed
            #expect(await cache.read(Person.self, "p:7") == nil)
            #expect(await cache.read(Person.self, "p:8") != nil)
            #expect(cache.engine.queue.awaitingRoom == 0)
        }
    }

    @Test("Closing the cache ends the waits")
    func closing() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration())
        let gate = Gate(in: cache)
        for number in 0..<4 { try await cache.writeAwaitingRoom { $0.set(Self.person(number)) } }
        let waiting = Task { try await cache.writeAwaitingRoom { $0.set(Self.person(9)) } }
        while cache.engine.queue.awaitingRoom == 0 { try await Task.sleep(for: .milliseconds(1)) }
        let closing = Task { cache.close() }
        let ticket = try await waiting.value
        #expect(ticket.isFailed(with: .closed))
        gate.open()
        await closing.value
        let again = try scratch.open(Self.configuration())
        #expect(await again.read(Person.self, "p:2") != nil)
        #expect(await again.read(Person.self, "p:9") == nil)
        again.close()
    }

    @Test("A wait for a ticket ends with its timeout or its task, and the write goes on")
    func timeout() async throws {
        try await withCache { cache in
            let gate = Gate(in: cache)
            let ticket = cache.set(Person("p", "Ada"))
            await #expect(throws: CacheError.self) {
                try await ticket.committed(timeout: .milliseconds(1))
            }
            let waiting = Task { try await ticket.committed(timeout: .seconds(600)) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            #expect(ticket.result == nil)
            gate.open()
            try await ticket.committed(timeout: .seconds(600))
            #expect(await cache.read(Person.self, "p")?.name == "Ada")
        }
    }
}

extension WriteTicket {
    fileprivate func isFailed(with code: CacheError.Code) -> Bool {
        guard case .failure(let error)? = result else { return false }
        return error.code == code
    }
}
