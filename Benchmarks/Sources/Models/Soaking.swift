import ArgumentParser
import CAllocations
import Espalier
import Feeds
import Foundation

/// Reads and changes more trees than the memory for decoded trees holds, and compares the heap with
/// its budget.
struct Soaking: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: """
            Compares the heap that decoded trees take with their budget, for a minute. Fails if \
            they take a tenth more.
            """)

    @Option(help: "How many seconds to run.")
    var seconds = 60

    @Option(help: "The budget of the memory for decoded trees, in MiB.")
    var budget = 8

    /// What the heap has after some seconds of work.
    private struct Sample {
        /// The bytes that decoded trees take: what removing them gives back.
        let trees: Double
        /// The bytes of the rest.
        let rest: Double
    }

    func run() throws {
        let scratch = try Scratch()
        let cache = try scratch.cache("soak", memory: .mebibytes(budget))
        defer { cache.close() }
        let timelines = (1...160).map { seed in
            var source = Feeds.Sample(seed: UInt64(seed))
            return source.timeline(posts: 100)
        }
        for timeline in timelines { try cache.set(timeline).wait() }
        var samples: [Sample] = []
        var (operations, random) = (0, SystemRandomNumberGenerator())
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            let pause = ContinuousClock.now + .seconds(2)
            while ContinuousClock.now < pause {
                // Some trees are read much more often than others.
                let share = Double.random(in: 0..<1, using: &random)
                let timeline = timelines[Int(share * share * Double(timelines.count))]
                try step(cache, timeline, operations)
                operations += 1
            }
            samples.append(try measure(cache))
        }
        let share = report(samples, operations, try cache.statistics().memory)
        // What is estimated may be a tenth too low.
        guard share <= 1.1 else { throw ExitCode.failure }
    }

    private func step(
        _ cache: NormalizedCache, _ timeline: Timeline, _ number: Int
    ) throws {
        switch number % 20 {
        case 0:
            try cache.set(timeline.feeds[0].posts[number % 100].author.renamed(number)).wait()
        case 1: try cache.set(timeline).wait()
        default: _ = try cache.hit(Timeline.self, "Timeline:\(timeline.id)")
        }
    }

    private func measure(_ cache: NormalizedCache) throws -> Sample {
        let full = Double(heap_bytes())
        cache.trimMemory()
        let rest = Double(heap_bytes())
        return Sample(trees: full - rest, rest: rest)
    }

    /// Prints the figures. Returns the largest share of the budget that decoded trees have taken.
    private func report(
        _ samples: [Sample], _ operations: Int, _ memory: MemoryStatistics
    ) -> Double {
        let limit = Double(budget << 20)
        let most = samples.map(\.trees).max() ?? 0
        print(
            String(
                format: """
                    %ld operations, %ld samples, budget %.1f MB
                    decoded trees take %.1f MB of heap at most, %.2f of the budget
                    the rest of the heap: %.1f MB after the first sample, %.1f MB after the last
                    found %ld, changed %ld, not found %ld, removed %ld
                    """,
                operations, samples.count, limit / 1e6, most / 1e6, most / limit,
                (samples.first?.rest ?? 0) / 1e6, (samples.last?.rest ?? 0) / 1e6, memory.hits,
                memory.staleReads, memory.misses, memory.removals))
        return most / limit
    }
}
