import ArgumentParser
import Espalier
import Foundation

/// Measures what a server needs: short reads beside long ones, cancelled reads, and what the form
/// that suspends costs.
struct Serving: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serving",
        abstract: "One-record reads beside two long ones, cancellation, and suspended reads.")

    @Option(help: "The elements of the list that the long reads return.") var elements = 60_000
    @Option(help: "How often each is measured.") var rounds = 60

    func run() async throws {
        let scratch = Scratch()
        let cache = try scratch.open()
        defer { cache.close() }
        for start in stride(from: 0, to: elements, by: 10_000) {
            let people = (start..<min(start + 10_000, elements)).map {
                Person(id: $0, name: "Person \($0)", time: 0)
            }
            try await cache.append(people, toCollection: "all").committed
        }
        try await measureBesideLongReads(cache)
        try await measureCancellation(cache)
        try await measureForms(cache)
    }

    /// Two long reads run while a short one is made.
    private func measureBesideLongReads(_ cache: NormalizedCache) async throws {
        let clock = ContinuousClock()
        var (long, short) = (Times(), Times())
        for round in 0..<rounds {
            let start = clock.now
            async let first = cache.collection(of: Person.self, forKey: "all")
            async let second = cache.collection(of: Person.self, forKey: "all")
            try await Task.sleep(for: .milliseconds(5))
            let begin = clock.now
            // More records than are read without a thread of the cache.
            let page = await cache.collection(
                of: Person.self, forKey: "all", range: round..<round + 150)
            short.append(clock.now - begin)
            let counts = await [first?.count, second?.count]
            long.append(clock.now - start)
            precondition(page?.count == 150 && counts == [elements, elements])
        }
        print("\(rounds) rounds: two reads of \(elements) records, and one of 150 beside them")
        print("  both long reads, median", microseconds: long.median)
        print("  the short read, median", microseconds: short.median)
        print("  the short read, 95 of 100 within", microseconds: short.within(0.95))
    }

    private func measureCancellation(_ cache: NormalizedCache) async throws {
        let clock = ContinuousClock()
        var times = Times()
        for _ in 0..<rounds {
            let read = Task {
                await cache.collectionOutcome(of: Person.self, forKey: "all")
            }
            try await Task.sleep(for: .milliseconds(5))
            let start = clock.now
            read.cancel()
            let reason = await read.value.reason
            times.append(clock.now - start)
            precondition(reason == .cancelled)
        }
        print("a long read after its task was cancelled")
        print("  until it returns, median", microseconds: times.median)
        print("  95 of 100 within", microseconds: times.within(0.95))
    }

    private func measureForms(_ cache: NormalizedCache) async throws {
        let clock = ContinuousClock()
        let reads = 200
        var (blocking, suspending) = (Times(), Times())
        for round in 0..<rounds * 10 {
            blocking.append(clock.measure { readAll(cache, round, reads) } / reads)
            let start = clock.now
            for number in 0..<reads {
                _ = await cache.read(Person.self, "Person:\((round + number) % elements)")
            }
            suspending.append((clock.now - start) / reads)
        }
        print("reads of one record, median")
        print("  blocking: \((blocking.median * 100).rounded() / 100) us")
        print("  suspending: \((suspending.median * 100).rounded() / 100) us")
    }

    /// Not asynchronous, so that the reads block.
    private func readAll(_ cache: NormalizedCache, _ first: Int, _ count: Int) {
        for number in 0..<count {
            _ = cache.read(Person.self, "Person:\((first + number) % elements)")
        }
    }
}
