/// Compares a report with the speed that the project promises.
struct Promises {
    let report: Report

    struct Row {
        let promise: String
        let wanted: String
        let measured: String
        let isKept: Bool
    }

    var rows: [Row] {
        [
            times("read a feed, to a JSON blob", "read-warm", .jsonBlobs, .engine, 7),
            times("the same, compressed", "read-warm", .jsonBlobs, .engineCompressed, 4),
            times(
                "read a feed, to normalized rows as Apollo has them", "read-warm", .genericRows,
                .engine, 20),
            times(
                "read a feed, to normalized rows that know their types", "read-warm",
                .typedRows, .engine, 20),
            times(
                "rewrite with 1 % changed, to a JSON blob", "rewrite-edited", .jsonBlobs, .engine, 5
            ),
            times(
                "update a person and re-read a feed, to JSON blobs", "update-person", .jsonBlobs,
                .engine, 30),
        ].compactMap(\.self) + baselines + opening + latency
    }

    /// Returns a row about how many times as long one contender takes as another.
    private func times(
        _ promise: String, _ workload: String, _ slower: ContenderID, _ faster: ContenderID,
        _ wanted: Double
    ) -> Row? {
        guard let ratio = report.outcome(workload)?.ratio(of: slower, to: faster) else {
            return nil
        }
        return Row(
            promise: promise, wanted: "≥ \(Format.ratio(wanted))", measured: Format.ratio(ratio),
            isKept: ratio >= wanted)
    }

    private func points(_ contender: ContenderID) -> [Growth.Point] {
        report.growth.filter { $0.contender == contender }
    }

    private var baselines: [Row] {
        points(.engine).compactMap { point in
            let baselines = points(.handWrittenBaseline)
            guard let baseline = baselines.first(where: { $0.records == point.records }) else {
                return nil
            }
            let ratio = point.read.median / baseline.read.median
            return Row(
                promise:
                    "read a feed of \(Format.count(point.records)) records, to the baseline",
                wanted: "< 1.5",
                measured: Format.ratio(ratio), isKept: ratio < 1.5)
        }
    }

    private var opening: [Row] {
        points(.engine).map { point in
            Row(
                promise: "open \(Format.count(point.records)) records", wanted: "< 5,000 us",
                measured: Format.microseconds(point.open.median) + " us",
                isKept: point.open.median < 5_000)
        }
    }

    private var latency: [Row] {
        report.latencies.filter { $0.hasWriter && $0.contender == .engineSnapshot }.compactMap {
            beside in
            guard
                let alone = report.latencies.first(where: {
                    !$0.hasWriter && $0.contender == beside.contender
                })
            else { return nil }
            let ratio = beside.middleP99 / alone.middleP99
            return Row(
                promise: "p99 of \(beside.contender.name) beside a writer, to without",
                wanted: "≤ 1.5",
                measured: Format.ratio(ratio), isKept: ratio <= 1.5)
        }
    }

    var table: String {
        var table = MarkdownTable(["", "promised", "measured", "kept"])
        for row in rows {
            table.append([row.promise, row.wanted, row.measured, row.isKept ? "yes" : "**no**"])
        }
        return rows.isEmpty ? "" : table.text
    }
}
