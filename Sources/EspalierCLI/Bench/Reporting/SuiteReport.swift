/// The times of a suite as rows: count, percentiles, and the ratio of the median to the baseline's.
struct SuiteReport: Printable {
    let result: SuiteResult

    static let percentiles: [(name: String, title: String, percentile: Double)] = [
        ("p50", "p50", 50), ("p90", "p90", 90), ("p99", "p99", 99), ("p999", "p99.9", 99.9),
        ("max", "max", 100),
    ]

    static let columns: [Report.Column] =
        [.left("name"), .left("unit"), .right("count")]
        + percentiles.map { .right($0.name, $0.title) } + [.right("ratio")]

    var report: Report {
        var report = Report(.list, columns: Self.columns)
        for timing in result.timings { report.append(cells(of: timing)) }
        return report
    }

    func cells(of timing: Timing) -> [Cell] {
        [.text(timing.name), .text(Timing.unit), .count(timing.latencies.count)]
            + Self.percentiles.map { Self.cell(timing.latencies.microseconds(at: $0.percentile)) }
            + [result.ratio(of: timing).map { .real($0, decimals: 2) } ?? .nothing]
    }

    /// Three digits are what the histogram has.
    private static func cell(_ microseconds: Double?) -> Cell {
        guard let microseconds else { return .nothing }
        return .real(microseconds, decimals: microseconds < 10 ? 2 : microseconds < 100 ? 1 : 0)
    }
}
