import EspalierModels
import EspalierRecords
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

/// A model that records the threads that encode it.
private struct Traced: NormalizedModel, Equatable {
    static let threads = Mutex<Set<ObjectIdentifier>>([])

    let name: String
    var modelIdentifier: String? { "traced" }

    init(_ name: String) { self.name = name }

    init(from decoder: inout RecordDecoder) throws { name = try decoder.decode(forKey: "name") }

    func encode(to encoder: inout RecordEncoder) throws {
        Self.threads.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) }
        try encoder.encode(name, forKey: "name")
    }
}

@Suite("Threads that wait for their writes", .serialized)
struct WaitingThreadTests {
    /// Returns whether the thread that waited for one of many writes committed it itself, with half
    /// of its stack used or with hardly any of it used.
    private func writesItself(isDeep: Bool) throws -> Bool {
        try withCache { cache in
            let result = Mutex(false)
            let ended = DispatchSemaphore(value: 0)
            let thread = Thread {
                Traced.threads.withLock { $0 = [] }
                Self.atDepth(isDeep ? WorkerThreads.stackSize / 2 : .max) {
                    // The writer's own thread may commit some of the writes first.
                    for number in 0..<2_000 where !result.withLock(\.self) {
                        let isWritten = (try? cache.set(Traced("\(number)")).wait()) != nil
                        #expect(isWritten)
                        #expect(
                            cache.read(Traced.self, "traced", consistency: .snapshot)
                                == Traced("\(number)"))
                        let isOwn = Traced.threads.withLock {
                            $0.contains(ObjectIdentifier(Thread.current))
                        }
                        result.withLock { $0 = isOwn }
                    }
                }
                ended.signal()
            }
            thread.stackSize = WorkerThreads.stackSize
            thread.start()
            ended.wait()
            return result.withLock(\.self)
        }
    }

    /// Runs `body` where less than `count` bytes of the stack are left.
    private static func atDepth(_ count: Int, _ body: () -> Void) {
        guard StackSpace.isLeft(count) else { return body() }
        // The use after the call keeps it from being a tail call, so the stack grows.
        unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: 64) { room in
            unsafe room.initialize(repeating: count)
            atDepth(count, body)
            #expect(unsafe room[63] == count)
        }
    }

    @Test("A waiting thread commits its write itself unless it has much less stack than the writer")
    func own() throws {
        #expect(try writesItself(isDeep: false))
        #expect(try !writesItself(isDeep: true))
    }

    @Test("A write that its thread waits for takes effect after the writes submitted before")
    func order() throws {
        try withCache { cache in
            for number in 0..<300 {
                let isBefore = number.isMultiple(of: 2)
                cache.set(Person("p:1", "first \(number)"))
                if isBefore { cache.delete("p:2") }
                try cache.set(Person("p:1", "second \(number)")).wait()
                #expect(
                    cache.read(Person.self, "p:1", consistency: .snapshot)?.name
                        == "second \(number)")
                #expect(
                    cache.read(Person.self, "p:1", consistency: .latest)?.name == "second \(number)"
                )
            }
        }
    }

    @Test("Waiting threads leave the queue in order while others write, wait and read")
    func together() throws {
        try withCache { cache in
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for number in 0..<250 {
                    let person = Person("p:\(thread)", "\(number)")
                    let early = cache.set(Person("p:\(thread)", "early"))
                    let late = cache.set(person)
                    do {
                        if number.isMultiple(of: 3) { try early.wait() }
                        try late.wait()
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                    let found = cache.read(
                        Person.self, "p:\(thread)",
                        consistency: number.isMultiple(of: 2) ? .latest : .snapshot)
                    if found != person {
                        failures.withLock { $0.append("\(person): \(String(describing: found))") }
                    }
                }
            }
            #expect(failures.withLock(\.self) == [])
            let writes = try cache.statistics().writes
            #expect(writes == 2_000)
        }
    }

    @Test("A waiting thread gets the result of its write when the cache is closed meanwhile")
    func closing() throws {
        for _ in 0..<20 {
            try withCache { cache in
                let outcomes = Mutex<[CacheError.Code?]>([])
                DispatchQueue.concurrentPerform(iterations: 4) { thread in
                    for number in 0..<20 {
                        if thread == 0, number == 10 { cache.close() }
                        let ticket = cache.set(Person("p:\(thread)", "\(number)"))
                        let outcome = code(ticket)
                        outcomes.withLock { $0.append(outcome) }
                    }
                }
                let codes = outcomes.withLock(\.self)
                #expect(codes.count == 80)
                #expect(codes.allSatisfy { $0 == nil || $0 == .closed })
            }
        }
    }

    @Test("A waiting thread gets the error of a write that fails")
    func failing() throws {
        try withCache { cache in
            #expect(throws: CacheError.self) { try cache.set(Refusing()).wait() }
            try cache.set(Person("p:1", "after")).wait()
            cache.close()
            #expect(throws: CacheError.self) { try cache.set(Person("p:1", "closed")).wait() }
        }
    }
}
