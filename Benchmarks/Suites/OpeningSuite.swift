#if CommandLine
import EspalierCharts
import EspalierFixtures
import EspalierStore

/// Opens caches of 1,000 to 1,000,000 records again and again.
struct OpeningSuite {
    let folder: String
    let time: Allotment

    private static let batch = 10_000

    private struct Size {
        let records: Int
        let path: String
        var name: String { "\(records.grouped) records" }
    }

    func run() throws -> SuiteResult {
        let sizes = try fill()
        let timings = try Rounds(seconds: time.left).run(
            sizes.flatMap { size in
                var opened: NormalizedCache?
                let open = Rounds.Way("open, \(size.name)") {
                    opened = try NormalizedCache(
                        directory: size.path, configuration: Self.configuration)
                }
                let read = Rounds.Way("read one node then, \(size.name)") {
                    _ = try opened?.readOutcome(
                        HandWrittenPerson.self, CollectionPeople.identifier(size.records / 2),
                        consistency: .snapshot
                    ).hit()
                }
                // The next opening needs it.
                let close = Rounds.Way("close, \(size.name)") { opened?.close() }
                return [open, read, close]
            })
        func growth(_ name: String, _ offset: Int, isEmphasised: Bool = false) -> LineChart.Series {
            LineChart.Series(
                name,
                points: sizes.enumerated().compactMap { index, size in
                    timings[index * 3 + offset].median.map { .init(Double(size.records), $0) }
                }, isEmphasised: isEmphasised)
        }
        return SuiteResult(
            suite: .opening, timings: timings, baseline: timings[0].name,
            chart: .lines(
                LineChart(
                    title: "Opening a cache",
                    subtitle: "Median time by the records in it, page cache warm",
                    x: .init("records", unit: .count, scale: .logarithmic),
                    y: .init("time", unit: .microseconds, scale: .logarithmic),
                    series: [
                        growth("open", 0, isEmphasised: true), growth("read one node", 1),
                        growth("close", 2),
                    ])))
    }

    private static var configuration: Configuration {
        Configuration(budget: .gibibytes(1), durability: FeedCache.durability, compression: .none)
    }

    /// Fills caches of growing sizes: the largest one only if that leaves time to open it.
    private func fill() throws -> [Size] {
        var sizes: [Size] = []
        var last = 0.0
        for records in time.isTrial ? [100, 1_000] : [1_000, 10_000, 100_000, 1_000_000] {
            if sizes.count >= 3, last * 10 > time.left * 0.5 { break }
            let size = Size(records: records, path: folder + "/\(records)")
            last = try ContinuousClock().measure { try fill(size) } / .seconds(1)
            sizes.append(size)
        }
        return sizes
    }

    private func fill(_ size: Size) throws {
        let cache = try NormalizedCache(directory: size.path, configuration: Self.configuration)
        defer { cache.close() }
        for start in stride(from: 0, to: size.records, by: Self.batch) {
            let batch = start..<min(start + Self.batch, size.records)
            try cache.set(batch.map { CollectionPeople.person($0) }).wait()
        }
    }
}
#endif
