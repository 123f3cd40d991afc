import EspalierCharts
import EspalierStore
import Foundation

/// The same feeds with and without compression: what they take, and what that costs.
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
        // Where filling took longer than it was to, there is some time for reading all the same.
        let timings = try Rounds(seconds: max(time.left, time.seconds * 0.2), isShuffled: true).run(
            [
                Rounds.Way(Self.baseline) { try read(rawCache) },
                Rounds.Way("a feed read, compressed") { try read(packedCache) },
            ])
        var figures: [Report.Fact] = [
            ("budget", "budget of the full caches", .size(raw.budget.bytes)),
            ("feeds.raw", "feeds that fit, raw", .count(raw.result.feeds)),
            ("feeds.compressed", "feeds that fit, compressed", .count(compressed.result.feeds)),
            ("recordBytes.raw", "bytes a record, raw", .real(raw.mean, decimals: 1)),
            (
                "recordBytes.compressed", "bytes a record, compressed",
                .real(compressed.mean, decimals: 1)
            ),
        ]
        for size in compressed.result.sizes {
            figures.append(("ofRaw.\(size.type)", "\(size.type): of raw", .share(size.ratio)))
        }
        if let cost {
            figures += [
                ("payloadBytes", "mean payload, bytes", .real(cost.meanPayload, decimals: 1)),
                (
                    "copyNanoseconds", "copying and checking it",
                    .nanoseconds(Int(cost.copyingAndChecking))
                ),
                ("compressNanoseconds", "compressing it", .nanoseconds(Int(cost.compressing))),
            ]
        }
        return SuiteResult(
            suite: .compression, timings: timings, baseline: Self.baseline, figures: figures,
            chart: .bars(Self.chart(compressed.result.sizes)))
    }

    private struct Full {
        let budget: ByteCount
        let result: EvictionBench.Result
        var mean: Double {
            Double(result.statistics.recordBytes.bytes) / Double(max(1, result.statistics.records))
        }
    }

    /// A cache that has evicted, and so is full.
    private func filled(_ name: String, _ compression: Compression) throws -> Full {
        let budget = ByteCount.mebibytes(time.isTrial ? 1 : 4)
        var bench = EvictionBench(path: folder + "/" + name, budget: budget)
        bench.turnover = time.isTrial ? 0.05 : 0.5
        bench.compression = compression
        return Full(budget: budget, result: try bench.run())
    }

    /// - Parameter sizes: of types, and last of all of them together.
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
