import Feeds
import Foundation
import Synchronization

/// Reads feeds by one, two and four threads at a time.
struct ReadingThreads {
    let contest: Contest
    static let threads = [1, 2, 4]

    func run() throws -> [Outcome] {
        let set = contest.scale.feedSet
        let scratch = try Scratch(in: contest.directory)
        let stands = try contest.contestants.map {
            try Stand($0, in: scratch.path, durability: .process)
        }
        for stand in stands { try stand.fill(set.feeds) }
        let outcomes = try Self.threads.map { count in
            contest.announce("reading by \(count) \(count == 1 ? "thread" : "threads")")
            var rates = stands.map { _ in [Double]() }
            var random = SplitMix64(state: 1)
            for _ in 0..<3 {
                for index in stands.indices.shuffled(using: &random) {
                    let stand = stands[index]
                    rates[index].append(try rate(of: stand, set.feeds.map(\.id), threads: count))
                }
            }
            return Outcome(
                workload: "threads-\(count)",
                title: "feeds read a second, \(count) \(count == 1 ? "thread" : "threads")",
                meaning:
                    "Feeds of 601 nodes, drawn by Zipf: how many all threads read in a second.",
                durability: .process,
                figures: zip(stands, rates).map {
                    Figure($0.contestant, unit: .perSecond, values: $1)
                })
        }
        for stand in stands { try stand.contender.close() }
        return outcomes
    }

    private func rate(of stand: Stand, _ identifiers: [String], threads: Int) throws -> Double {
        let counts = ReadCounts()
        let clock = ContinuousClock()
        let start = clock.now
        let end = start + .seconds(contest.scale.seconds / 4)
        let table = ZipfTable(count: identifiers.count)
        let lent = Lent(stand.contender)
        let name = stand.contestant.name
        let ended = DispatchSemaphore(value: 0)
        for thread in 0..<threads {
            Thread.detachNewThread {
                defer { ended.signal() }
                var random = SplitMix64(state: UInt64(thread + 1))
                do {
                    while clock.now < end {
                        guard try lent.value.read(identifiers[table.draw(&random)]) != nil else {
                            throw ComparisonError.missing("\(name): a feed")
                        }
                        counts.reads.add(1, ordering: .relaxed)
                    }
                } catch {
                    counts.failure.withLock { $0 = error }
                }
            }
        }
        for _ in 0..<threads { ended.wait() }
        if let error = counts.failure.withLock({ $0 }) { throw error }
        return Double(counts.reads.load(ordering: .relaxed))
            / ((clock.now - start).microseconds / 1e6)
    }

    private final class ReadCounts: Sendable {
        let reads = Atomic(0)
        let failure = Mutex<(any Error)?>(nil)
    }
}
