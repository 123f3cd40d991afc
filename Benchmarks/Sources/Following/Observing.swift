import ArgumentParser
import Espalier
import Foundation
import Synchronization

/// Measures one change beside many observations.
struct Observing: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "observing", abstract: "10,000 observations, of which one has to run.")

    @Option(help: "The observations.") var observations = 10_000
    @Option(help: "The changes.") var changes = 200

    func run() async throws {
        let scratch = Scratch()
        let cache = try scratch.open()
        let people = (0..<observations).map { Person(id: $0, name: "", time: 0) }
        for start in stride(from: 0, to: people.count, by: 1_000) {
            let page = people[start..<min(people.count, start + 1_000)]
            try await cache.set(Array(page)).committed
        }
        let before = Self.residentBytes
        let calls = Atomic(0)
        let shown = Mutex(Times())
        var observed = people.map { person in
            cache.observe(Person.self, person.modelIdentifier ?? "") { person in
                calls.add(1, ordering: .relaxed)
                guard let person, person.time > 0 else { return }
                shown.withLock { $0.append(.microseconds(Person.now - person.time)) }
            }
        }
        while calls.load(ordering: .relaxed) < observations { usleep(1_000) }
        let during = Self.residentBytes
        for number in 0..<changes {
            let id = Int.random(in: 0..<observations)
            try await cache.set(Person(id: id, name: "\(number)", time: Person.now)).committed
            while calls.load(ordering: .relaxed) < observations + number + 1 { usleep(100) }
        }
        usleep(100_000)
        let unneeded = calls.load(ordering: .relaxed) - observations - changes
        // Without a use up to here, the compiler ends the observations at once.
        withExtendedLifetime(observed) {}
        observed.removeAll()
        let median = shown.withLock { $0.median }
        let worst = shown.withLock { $0.within(0.99) }
        print("\(observations) observations, \(changes) changes of one model each")
        print("  from before the commit to the observer, median", microseconds: median)
        print("  the same, 99 %", microseconds: worst)
        print("  calls of other observers: \(unneeded)")
        print("  memory of the observations: \((during - before) / observations) bytes each")
        // A second set of observations uses the memory of the first if that left nothing behind.
        observed = people.map { cache.observe(Person.self, $0.modelIdentifier ?? "") { _ in } }
        observed.removeAll()
        usleep(500_000)
        print("  memory after a second set: \((Self.residentBytes - during) / 1_024) KiB more")
        cache.close()
    }

    private static var residentBytes: Int {
        let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(getpagesize())
    }
}
