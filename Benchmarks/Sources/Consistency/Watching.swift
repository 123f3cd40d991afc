import ArgumentParser
import Espalier
import Foundation

/// Measures the main actor under load: 100 feeds a second are posted, shown and written to disk.
struct Watching: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watching",
        abstract: "The longest time the main actor was not free, while feeds pass.")

    @Option(help: "Seconds.") var seconds = 10
    @Option(help: "Updates a second.") var rate = 100

    @MainActor
    func run() async throws {
        let directory =
            NSTemporaryDirectory() + "espalier-watching-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let cache = try NormalizedCache(
            directory: directory, configuration: Configuration(budget: .mebibytes(50)))
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
        print(
            "\(posts.count) updates of 499 nodes in \(seconds) s, 20 screens, \(written) records on disk"
        )
        for (name, seen) in [("idle", idle), ("busy", busy)] {
            print(
                "  \(name): longest gaps on the main actor \(seen.gaps.map { "\($0)" }.joined(separator: ", ")) ms"
            )
            print(
                "        most work of its thread in one \(seen.work.map { "\($0)" }.joined(separator: ", ")) ms"
            )
        }
    }

    /// The five longest times between two turns of a task that needs the main actor every half
    /// millisecond. The task sleeps in between: the system interrupts a thread that never sleeps,
    /// which would be no fault of the measured code.
    @MainActor
    private func longestGaps(while work: Task<Void, Never>) async -> (
        gaps: [Double], work: [Double]
    ) {
        let done = Done()
        Task { @MainActor in
            await work.value
            done.isDone = true
        }
        let clock = ContinuousClock()
        var gaps: [Double] = []
        var work: [Double] = []
        var last = clock.now
        var worked = Self.processorTime
        while !done.isDone {
            try? await Task.sleep(for: .microseconds(500))
            let now = clock.now
            gaps.append((now - last).microseconds / 1_000)
            last = now
            let time = Self.processorTime
            work.append(time - worked)
            worked = time
        }
        func longest(_ times: [Double]) -> [Double] {
            times.sorted().suffix(5).map { ($0 * 100).rounded() / 100 }
        }
        return (longest(gaps), longest(work))
    }

    /// The milliseconds that this thread has run.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    @MainActor
    private final class Done { var isDone = false }
}
