#if CommandLine
import EspalierCharts
import EspalierCompression
import EspalierFixtures
import EspalierInspection
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation

/// Stores the same feeds with and without compression: the room they take, and the time it costs.
struct CompressionSuite {
    let folder: String
    let time: Allotment

    private static let baseline = "a feed read, raw"

    func run() throws -> SuiteResult {
        let raw = try filled("raw", .none)
        let compressed = try filled("compressed", .standard)
        let feeds = time.isTrial ? 1 : 20
        let rawCache = try FeedCache.filled(
            folder + "/reading-raw", compression: .none, feeds: feeds)
        let packedCache = try FeedCache.filled(
            folder + "/reading-compressed", compression: .standard, feeds: feeds)
        defer {
            rawCache.close()
            packedCache.close()
        }
        let cost = time.isTrial ? nil : try RecordCost.measure(packedCache)
        func read(_ cache: NormalizedCache) throws {
            let feed = try cache.readOutcome(
                HandWrittenFeed.self, FeedCache.identifier, consistency: .snapshot
            ).hit()
            guard feed.posts.count == FeedCache.posts else { throw BenchError.differs("a cache") }
        }
        // Reading gets a fifth of the time, even if filling took longer than was planned.
        let timings = try Rounds(seconds: max(time.left, time.seconds * 0.2), isShuffled: true).run(
            [
                Rounds.Way(Self.baseline) { try read(rawCache) },
                Rounds.Way("a feed read, compressed") { try read(packedCache) },
            ])
        var figures: [SuiteFigure] = [
            .init("budget", "budget of the full caches", .bytes(raw.budget.bytes)),
            .init("feeds.raw", "feeds that fit, raw", .count(raw.result.feeds)),
            .init(
                "feeds.compressed", "feeds that fit, compressed", .count(compressed.result.feeds)),
            .init("recordBytes.raw", "bytes a record, raw", .number(raw.mean, decimals: 1)),
            .init(
                "recordBytes.compressed", "bytes a record, compressed",
                .number(compressed.mean, decimals: 1)),
        ]
        for size in compressed.result.sizes {
            figures.append(.init("ofRaw.\(size.type)", "\(size.type): of raw", .share(size.ratio)))
        }
        if let cost {
            figures += [
                .init(
                    "payloadBytes", "mean payload, bytes", .number(cost.meanPayload, decimals: 1)),
                .init(
                    "copyNanoseconds", "copying and checking it",
                    .nanoseconds(Int(cost.copyingAndChecking))),
                .init("compressNanoseconds", "compressing it", .nanoseconds(Int(cost.compressing))),
            ]
        }
        return SuiteResult(
            suite: .compression, timings: timings, baseline: Self.baseline, figures: figures,
            chart: .bars(Self.chart(compressed.result.sizes)))
    }

    private struct Full {
        let budget: ByteCount
        let result: EvictionWorkload.Result
        var mean: Double {
            Double(result.statistics.recordBytes.bytes) / Double(max(1, result.statistics.records))
        }
    }

    /// Fills a cache until it evicts, and so is full.
    private func filled(_ name: String, _ compression: Compression) throws -> Full {
        let budget = ByteCount.mebibytes(time.isTrial ? 1 : 4)
        var bench = EvictionWorkload(path: folder + "/" + name, budget: budget)
        bench.turnover = time.isTrial ? 0.05 : 0.5
        bench.compression = compression
        return Full(budget: budget, result: try bench.run())
    }

    /// - Parameter sizes: The sizes of each type, and of all types together as the last.
    private static func chart(_ sizes: [TypeSizes]) -> BarChart {
        BarChart(
            title: "What compression leaves of a record",
            subtitle: "Stored bytes of raw ones, zstd with dictionaries",
            unit: .share,
            sections: [
                .init(
                    bars: sizes.suffix(1).map { .init("all records", $0.ratio, isEmphasised: true) }
                ),
                .init("By type", bars: sizes.dropLast().map { .init($0.type, $0.ratio) }),
            ])
    }
}

/// What compressing one record costs beside copying and checking it, which is the cost of storing
/// it raw.
struct RecordCost {
    /// Nanoseconds for one record.
    let copyingAndChecking: Double
    let compressing: Double
    /// Bytes.
    let meanPayload: Double

    private static let passes = 15

    /// Measures over the records of a compressed cache. Returns nil if they are too few to train a
    /// dictionary.
    static func measure(_ cache: NormalizedCache) throws -> RecordCost? {
        var payloads: [[UInt8]] = []
        try cache.inspect { inspection in
            try inspection.forEachRecord { handle, stored in
                if case .record(let record) = stored, record.children.count < 4 {
                    payloads.append(try inspection.bytes(of: handle) ?? [])
                }
                return true
            }
        }
        guard let dictionary = DictionaryTrainer.train(payloads.prefix(4_000), size: 16 << 10),
            let digest = CompressionDigest(dictionary, level: 3),
            let compressor = Compressor(level: 3)
        else { return nil }
        let measured = payloads.suffix(2_000)
        var copies = [UInt8](repeating: 0, count: 64 << 10)
        let copying = nanoseconds(measured) { payload in
            copies.replaceSubrange(0..<payload.count, with: payload)
            return Int(truncatingIfNeeded: XXHash64.hash(payload))
        }
        let compressing = nanoseconds(measured) { payload in
            payload.withRawSpan {
                compressor.compress($0, with: digest, limit: payload.count)?.count ?? 0
            }
        }
        let bytes = measured.reduce(0) { $0 + $1.count }
        return RecordCost(
            copyingAndChecking: copying, compressing: compressing,
            meanPayload: Double(bytes) / Double(max(1, measured.count)))
    }

    /// Returns the median of some passes over all items, divided by their number.
    private static func nanoseconds(_ items: ArraySlice<[UInt8]>, _ body: ([UInt8]) -> Int)
        -> Double
    {
        var sum = 0
        let passes = (0..<passes).map { _ in
            ContinuousClock().measure { for item in items { sum &+= body(item) } } / .nanoseconds(1)
        }
        // Uses the sum: otherwise the compiler could leave out the work.
        guard sum != 1 else { return 0 }
        return passes.sorted()[passes.count / 2] / Double(max(1, items.count))
    }
}

/// The bytes that the records of a type take, raw and as stored.
struct TypeSizes {
    let type: String
    var records = 0
    var raw = 0
    var stored = 0

    var ratio: Double { Double(stored) / Double(max(1, raw)) }

    /// Returns the sizes of all types, largest first, and of all types together as the last.
    static func measure(_ inspection: Inspection) throws -> [TypeSizes] {
        var types: [String: TypeSizes] = [:]
        var all = TypeSizes(type: "all")
        try inspection.forEachRecord { _, stored in
            guard case .record(let record) = stored else { return true }
            let type = record.shape.types.first ?? "\(record.nameSpace)"
            types[type, default: TypeSizes(type: type)].add(record)
            all.add(record)
            return true
        }
        return types.values.sorted { ($0.raw, $0.type) > ($1.raw, $1.type) } + [all]
    }

    private mutating func add(_ record: Record) {
        records += 1
        raw += record.rawByteCount
        stored += record.storedByteCount
    }
}
#endif
