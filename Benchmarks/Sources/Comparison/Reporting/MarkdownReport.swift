import Feeds

/// The report as tables, each of which can stand in a document by itself.
struct MarkdownReport {
    let report: Report

    /// The tables, by the names under which documents ask for them.
    var sections: [(name: String, title: String, text: String)] {
        var sections = [
            ("promises", "What is promised", Promises(report: report).table),
            (
                "feeds", "Feeds, nothing waits for the disk: median microseconds",
                table(of: .process)
            ),
            ("ratios", "The same, times as long as Espalier", ratios(of: .process)),
            (
                "power", "Writing, each write waits for the disk once: median microseconds",
                table(of: .power)
            ),
            ("threads", "Feeds read a second, by threads", threads),
            ("latency", "Reading beside a writer, microseconds", latency),
            ("eviction", "Eviction under pressure", eviction),
        ]
        for content in FeedContent.allCases {
            sections.append(
                (
                    "budget-\(content.rawValue)", "What a budget holds: \(content.name)",
                    budgets(content)
                ))
        }
        sections.append(("space", "Space", space))
        for (name, title, value) in Self.growing {
            sections.append(("growth-\(name)", title + ": microseconds by records", growth(value)))
        }
        return sections.filter { !$0.2.isEmpty }
    }

    var text: String {
        let head = """
            # What one run measured

            \(report.surroundings.text).

            Medians; in brackets the 10th and the 90th percentile, or of fewer than 20 values the least and the greatest.

            """
        return sections.reduce(head) { $0 + "\n## \($1.title)\n\n\($1.text)" }
            + "\n## What was done\n\n" + meanings
    }

    private var meanings: String {
        var seen: Set<String> = []
        return report.outcomes.filter { seen.insert($0.workload).inserted }
            .map { "- **\($0.title)**: \($0.meaning)\n" }.joined()
    }

    // MARK: Feeds

    private func outcomes(_ durability: Durability) -> [Outcome] {
        report.outcomes.filter { outcome in
            outcome.durability == durability
                && outcome.figures.allSatisfy { $0.unit == .microseconds }
        }
    }

    private func table(of durability: Durability) -> String {
        byContender(outcomes(durability)) { outcome, figure in
            let value = Format.value(figure.median, figure.unit)
            return
                "\(value) (\(Format.value(figure.low, figure.unit))–\(Format.value(figure.high, figure.unit)))"
        }
    }

    private func ratios(of durability: Durability) -> String {
        byContender(outcomes(durability)) { outcome, figure in
            outcome.ratio(of: figure.contender, to: .engine).map(Format.ratio) ?? "–"
        }
    }

    private func byContender(_ outcomes: [Outcome], _ cell: (Outcome, Figure) -> String) -> String {
        let most = outcomes.max { $0.figures.count < $1.figures.count }
        guard let contenders = most?.figures.map(\.contender) else { return "" }
        // Contenders are rows: there are more of them than workloads, which have long names.
        var table = MarkdownTable([""] + outcomes.map(\.title))
        for contender in contenders {
            table.append(
                [contender.name]
                    + outcomes.map { outcome in
                        outcome.figure(of: contender).map { cell(outcome, $0) } ?? "–"
                    })
        }
        return table.text
    }

    private var threads: String {
        byContender(report.outcomes.filter { $0.workload.hasPrefix("threads") }) {
            Format.value($1.median, $1.unit)
        }
    }

    // MARK: The rest

    private var latency: String {
        guard !report.latencies.isEmpty else { return "" }
        var table = MarkdownTable(
            [
                "", "p50", "p99", "p99.9", "max", "with writer: p50", "p99", "p99.9", "max",
                "p99 to without",
                "commits a second",
            ])
        for alone in report.latencies where !alone.hasWriter {
            guard
                let beside = report.latencies.first(where: {
                    $0.hasWriter && $0.contender == alone.contender
                })
            else {
                continue
            }
            let figures = [alone, beside].flatMap { [$0.p50, $0.p99, $0.p999 ?? .nan, $0.most] }
            let ratio = Format.ratio(beside.middleP99 / alone.middleP99)
            table.append(
                [alone.contender.name] + figures.map(Format.microseconds) + [
                    ratio, Format.ratio(beside.commits),
                ])
        }
        return table.text
    }

    private var eviction: String {
        guard !report.evictions.isEmpty else { return "" }
        var table = MarkdownTable([
            "", "budget", "most on disk", "feeds held", "hit rate", "exact LRU", "offline optimal",
            "us a read",
        ])
        for result in report.evictions {
            table.append([
                result.contender.name, Format.bytes(Double(result.budget)),
                Format.bytes(Double(result.mostBytes)),
                Format.count(result.feedsHeld), Format.percent(result.hitRate),
                Format.percent(result.leastRecentlyUsed), Format.percent(result.offlineOptimal),
                Format.microseconds(result.microsecondsPerRead),
            ])
        }
        return table.text
    }

    private func budgets(_ content: FeedContent) -> String {
        let results = report.budgets.filter { $0.content == content }
        guard !results.isEmpty else { return "" }
        var table = MarkdownTable([
            "", "budget", "most on disk", "feeds held", "records held", "bytes a record",
            "hit rate", "writes refused",
        ])
        for result in results {
            table.append([
                result.contender.name, Format.mebibytes(result.budget),
                Format.mebibytes(result.mostBytes), "\(result.feedsHeld)",
                Format.count(result.recordsHeld),
                Format.ratio(Double(result.budget) / Double(result.recordsHeld)),
                Format.percent(result.hitRate), "\(result.writesRefused)",
            ])
        }
        return table.text
    }

    private var space: String {
        guard !report.memory.isEmpty else { return "" }
        var table = MarkdownTable(["", "on disk", "memory of its own", "mapped file in memory"])
        for result in report.memory {
            let disk = report.outcome("size")?.figure(of: result.contender)
            table.append([
                result.contender.name, disk.map { Format.bytes($0.median) } ?? "–",
                Format.bytes(Double(result.ownBytes)),
                Format.bytes(Double(result.fileBytes)),
            ])
        }
        return table.text
    }

    static let growing: [(name: String, title: String, value: @Sendable (Growth.Point) -> Double)] =
        [
            ("read", "Reading a feed as caches grow", { $0.read.median }),
            ("node", "Reading one node as caches grow", { $0.node.median }),
            ("write", "Writing a new feed as caches grow", { $0.write.median }),
            ("rewrite", "Rewriting with 1 % changed as caches grow", { $0.rewrite.median }),
            ("open", "Opening as caches grow", { $0.open.median }),
        ]

    private func growth(_ value: (Growth.Point) -> Double) -> String {
        let sizes = Set(report.growth.map(\.records)).sorted()
        guard !sizes.isEmpty else { return "" }
        var table = MarkdownTable([""] + sizes.map(Format.count))
        for contender in report.grown {
            table.append(
                [contender.name]
                    + sizes.map { size in
                        report.growth.first { $0.contender == contender && $0.records == size }
                            .map { Format.microseconds(value($0)) + toBaseline($0, value) } ?? "–"
                    })
        }
        return table.text
    }

    /// Returns, in brackets, how many times as long as the baseline the engine takes at the same
    /// size.
    private func toBaseline(_ point: Growth.Point, _ value: (Growth.Point) -> Double) -> String {
        guard point.contender == .engine,
            let baseline = report.growth.first(where: {
                $0.records == point.records && $0.contender == .handWrittenBaseline
            })
        else { return "" }
        return " (\(Format.ratio(value(point) / value(baseline)))× baseline)"
    }
}

extension FeedContent {
    /// The name in titles.
    var name: String {
        switch self {
        case .generated: "generated words"
        case .prose: "English prose"
        case .uuids: "UUIDs as identifiers"
        }
    }
}
