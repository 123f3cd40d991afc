import ArgumentParser
import Espalier
import Foundation

/// The main actor under load: 100 feeds a second are posted, shown and written to disk.
struct Watching: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watching", abstract: "The longest time the main actor was not free, while feeds pass.")

    @Option(help: "Seconds.") var seconds = 10
    @Option(help: "Updates a second.") var rate = 100

    @MainActor
    func run() async throws {
        let directory = NSTemporaryDirectory() + "espalier-watching-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let cache = try NormalizedCache(directory: directory, configuration: Configuration(budget: .mebibytes(50)))
        let manager = DataModelManager(cache: cache)
        let feeds = (0..<20).map { _ in DataProvider<Feed>(dataModelManager: manager) }
        for (number, feed) in feeds.enumerated() {
            feed.setData(Feed(number: number, showing: Person(id: 1, name: "Ada")))
        }
        await manager.flush()

        let idle = await longestGaps(while: Task { try? await Task.sleep(for: .seconds(2)) })
        let posts = (0..<seconds * rate).map {
            Feed(number: $0 % 20, showing: Person(id: 1, name: "Ada \($0)"))
        }
        let interval = Duration.seconds(1) / rate
        let writing = Task.detached { [rate] in
            let clock = ContinuousClock()
            let start = clock.now
            for (number, post) in posts.enumerated() {
                try? await clock.sleep(until: start + interval * number)
                manager.updateModel(post)
            }
            _ = rate
        }
        let busy = await longestGaps(while: Task { await writing.value })
        await manager.flush()
        let written = try cache.statistics().records
        cache.close()
        print("\(posts.count) updates of 499 nodes in \(seconds) s, 20 screens, \(written) records on disk")
        print("  longest gaps on the main actor, idle  \(idle.map { "\($0)" }.joined(separator: ", ")) ms")
        print("  longest gaps on the main actor, busy  \(busy.map { "\($0)" }.joined(separator: ", ")) ms")
    }

    /// The five longest times between two turns of a task that only wants the main actor.
    @MainActor
    private func longestGaps(while work: Task<Void, Never>) async -> [Double] {
        let done = Done()
        Task { @MainActor in
            await work.value
            done.isDone = true
        }
        let clock = ContinuousClock()
        var gaps: [Double] = []
        var last = clock.now
        while !done.isDone {
            await Task.yield()
            let now = clock.now
            gaps.append((now - last).microseconds / 1_000)
            last = now
        }
        return gaps.sorted().suffix(5).map { ($0 * 100).rounded() / 100 }
    }

    @MainActor
    private final class Done { var isDone = false }
}
