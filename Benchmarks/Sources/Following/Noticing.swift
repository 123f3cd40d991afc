import ArgumentParser
import Espalier
import Foundation

/// Measures how soon screens show what another process commits.
struct Noticing: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "noticing",
        abstract: "50 providers beside the commits of another process; then both are idle.")

    @Option(help: "The commits of the other process.") var commits = 1_000
    @Option(help: "The microseconds between two commits, on average.") var pause = 2_000
    @Option(help: "The seconds of doing nothing.") var idle = 10
    @Option(help: "The providers.") var providers = 50

    @MainActor
    func run() async throws {
        let scratch = Scratch()
        let cache = try scratch.open()
        let people = (0..<providers).map { Person(id: $0, name: "", time: 0) }
        try await cache.set(people).committed
        let manager = DataModelManager(cache: cache)
        let screens = people.map { _ in DataProvider<Person>(dataModelManager: manager) }
        for (person, screen) in zip(people, screens) {
            _ = try await screen.fetch(person.modelIdentifier)
        }
        let times = Shown()
        let watching = screens.map { screen in
            Task { @MainActor in
                for await change in screen.changes {
                    guard let person = change.data else { continue }
                    times.values.append(.microseconds(Person.now - person.time))
                }
            }
        }
        let peer = try Peer.Running([
            scratch.path, "--commits", "\(commits)", "--people", "\(providers)", "--pause",
            "\(pause)",
        ])
        try await Task.detached { [peer = Sending(peer)] in try peer.value.waitForLine() }.value
        try await Task.sleep(for: .seconds(1))
        await manager.flush()
        var stale = 0
        for screen in screens {
            let stored: Person? = await cache.read(Person.self, screen.modelIdentifier ?? "")
            if stored != screen.data { stale += 1 }
        }
        print("\(commits) commits of another process, \(providers) screens")
        print("  from before the commit to the screen, median", microseconds: times.values.median)
        print("  the same, 99 %", microseconds: times.values.within(0.99))
        print("  screens that do not show what a read gives: \(stale)")
        let before = Self.processorTime
        try await Task.sleep(for: .seconds(idle))
        print("  idle for \(idle) s, processor time", microseconds: Self.processorTime - before)
        try peer.end()
        for task in watching { task.cancel() }
        cache.close()
    }

    /// The microseconds that this process has run.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }

    @MainActor
    private final class Shown { var values = Times() }

    private struct Sending: @unchecked Sendable {
        let value: Peer.Running
        init(_ value: Peer.Running) { self.value = value }
    }
}
