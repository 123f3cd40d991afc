import Dispatch
import EspalierRecords
import EspalierStore
import Foundation
import Synchronization

/// Reads of one feed while feeds are written beside them, with a budget that makes every write evict and with one that never does.
struct ReadLatencyBench {
    var reads = 10_000

    struct Result {
        var median = Duration.zero
        var p999 = Duration.zero
        var evicted = 0
        var writes = 0
    }

    func run(budget: ByteCount) throws -> Result {
        let path = NSTemporaryDirectory() + "espalier-reads-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let configuration = Configuration(budget: budget, durability: .noSync)
        let cache = try NormalizedCache(directory: path, configuration: configuration)
        defer { cache.close() }
        let isOver = Mutex(false)
        let ended = DispatchSemaphore(value: 0)
        let writes = Mutex(0)
        // Until a small budget is full.
        var random = SplitMix64(state: 3)
        let people = ZipfTable(count: EvictionBench.people, exponent: 0.99)
        for id in 0..<400 { try cache.set(feed(id, people, &random)).wait() }
        let writer = Thread {
            var random = SplitMix64(state: 4)
            var id = 400
            while !isOver.withLock({ $0 }) {
                try? cache.set(feed(id, people, &random)).wait()
                id += 1
                writes.withLock { $0 += 1 }
                // As much writing in both runs.
                Thread.sleep(forTimeInterval: 0.005)
            }
            ended.signal()
        }
        writer.start()
        try cache.set(feed(-1, people, &random)).wait()
        var times: [Duration] = []
        for _ in 0..<reads {
            let start = ContinuousClock.now
            let feed = cache.read(WorkloadFeed.self, WorkloadFeed.identifier(-1), consistency: .snapshot)
            times.append(ContinuousClock.now - start)
            guard feed != nil else { throw BenchError.miss("the feed that is read all the time is gone") }
        }
        isOver.withLock { $0 = true }
        ended.wait()
        times.sort()
        return Result(
            median: times[times.count / 2], p999: times[times.count * 999 / 1_000],
            evicted: try cache.statistics().evictions.records, writes: writes.withLock { $0 })
    }

    private func feed(_ id: Int, _ people: ZipfTable, _ random: inout SplitMix64) -> WorkloadFeed {
        WorkloadFeed(id: id) { WorkloadPerson(id: people.draw(&random)) }
    }
}
