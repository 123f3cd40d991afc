import EspalierCompression
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation

/// The same feeds with and without compression: what they take, and what that costs.
struct CompressionBench {
    var budget: ByteCount
    var turnover = 1.5
    var rounds = 200
    /// JSON of a feed of the design, which is what a row with a blob holds.
    static let blobBytes = 119_000

    struct Space {
        let raw: EvictionBench.Result
        let compressed: EvictionBench.Result
        /// The feed of the workload as JSON.
        let blobBytes: Int
    }

    /// Fills two caches until the budget has been evicted some times.
    func space() throws -> Space {
        var bench = EvictionBench(budget: budget, turnover: turnover)
        bench.compression = .none
        let raw = try bench.run()
        bench.compression = .standard
        let compressed = try bench.run()
        var random = SplitMix64(state: 1)
        let feed = WorkloadFeed(id: 100_000) { WorkloadPerson(id: Int(random.next() % 2_000)) }
        return Space(raw: raw, compressed: compressed, blobBytes: try JSONEncoder().encode(feed.blob).count)
    }

    struct Time {
        /// Medians in microseconds.
        let rawRead: Double
        let compressedRead: Double
        /// Nanoseconds a record, over the records of the feed.
        let copyAndCheck: Double
        let compressing: Double
        let meanPayload: Double
    }

    /// One feed read from both, turn by turn; then its records compressed one by one.
    func time() throws -> Time {
        let folder = NSTemporaryDirectory() + "espalier-bench-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let raw = try cache(folder + "/raw", .none)
        let compressed = try cache(folder + "/compressed", .standard)
        defer {
            raw.close()
            compressed.close()
        }
        let clock = ContinuousClock()
        var times: [[Double]] = [[], []]
        for round in 0..<rounds + 3 {
            for (index, cache) in [raw, compressed].enumerated() {
                var count: Int?
                let time = clock.measure {
                    count = cache.readOutcome(HandWrittenFeed.self, "Feed:7", consistency: .snapshot).value?.posts.count
                }
                guard count == 100 else { throw BenchError.differs("a cache") }
                if round >= 3 { times[index].append(time / .microseconds(1)) }
            }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        return try cost(of: compressed, medians: medians)
    }

    private func cache(_ path: String, _ compression: Compression) throws -> NormalizedCache {
        let configuration = Configuration(budget: .gibibytes(1), durability: .noSync, compression: compression)
        let cache = try NormalizedCache(directory: path, configuration: configuration)
        for seed in 1...20 as ClosedRange<UInt64> {
            try cache.set(HandWrittenFeed(FeedData(seed: seed, posts: 100))).wait()
        }
        if compression != .none { try cache.compact().wait() }
        return cache
    }

    private func cost(of cache: NormalizedCache, medians: [Double]) throws -> Time {
        var payloads: [[UInt8]] = []
        try cache.inspect { inspection in
            try inspection.forEachRecord { _, stored in
                if case .record(let record) = stored, record.children.count < 4 { payloads.append(record.payload) }
                return true
            }
        }
        guard let dictionary = DictionaryTrainer.train(payloads.prefix(4_000), size: 16 << 10),
            let digest = CompressionDigest(dictionary, level: 3), let compressor = Compressor(level: 3)
        else { throw BenchError.differs("the dictionary") }
        let measured = payloads.suffix(2_000)
        var copies = [UInt8](repeating: 0, count: 64 << 10)
        let copying = nanoseconds(measured) { payload in
            copies.replaceSubrange(0..<payload.count, with: payload)
            return Int(truncatingIfNeeded: XXHash64.hash(payload))
        }
        let compressing = nanoseconds(measured) { payload in
            compressor.compress(payload, with: digest, limit: payload.count)?.count ?? 0
        }
        let bytes = measured.reduce(0) { $0 + $1.count }
        return Time(
            rawRead: medians[0], compressedRead: medians[1], copyAndCheck: copying, compressing: compressing,
            meanPayload: Double(bytes) / Double(measured.count))
    }

    /// The median of some passes over all, for one.
    private func nanoseconds(_ items: ArraySlice<[UInt8]>, _ body: ([UInt8]) -> Int) -> Double {
        var sum = 0
        let passes = (0..<15).map { _ in
            ContinuousClock().measure { for item in items { sum &+= body(item) } } / .nanoseconds(1)
        }
        guard sum != 1 else { return 0 }
        return passes.sorted()[7] / Double(max(1, items.count))
    }
}
