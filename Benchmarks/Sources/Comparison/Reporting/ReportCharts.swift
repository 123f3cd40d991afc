import EspalierCharts
import Feeds

/// The report as charts, each an SVG document.
struct ReportCharts {
    let report: Report

    var all: [(name: String, svg: String)] {
        var charts: [(String, String)] = []
        let groups: [(name: String, title: String, workloads: [String])] = [
            ("reading", "Reading", ["read-warm", "read-cold", "read-node"]),
            ("writing", "Writing", ["write-new", "rewrite-same", "rewrite-edited"]),
            ("changing", "Changing", ["update-person", "append", "delete"]),
        ]
        for group in groups {
            charts.append((group.name, bars(group.title, group.workloads)))
        }
        charts.append(("threads", threads))
        charts.append(("latency", latency))
        charts.append(("eviction", eviction))
        charts.append(("budget", budget))
        for (name, title, value) in MarkdownReport.growing {
            charts.append(("growth-\(name)", growth(title, value)))
        }
        return charts.map { ($0.0 + ".svg", $0.1) }
    }

    private var note: String { report.surroundings.machine + ", one run, medians" }

    // Leaves out the ceiling, which is no contender on disk: it would stretch every axis.
    private func bars(_ title: String, _ workloads: [String]) -> String {
        let sections = workloads.compactMap { report.outcome($0) }.map { outcome in
            BarChart.Section(
                outcome.title,
                bars: outcome.figures.filter { $0.contender.role != .ceiling }.map { figure in
                    BarChart.Bar(
                        figure.contender.name, figure.median,
                        detail: outcome.ratio(of: figure.contender, to: .engine)
                            .map { Format.ratio($0) + "×" },
                        isEmphasised: figure.contender == .engine)
                })
        }
        return BarChart(
            title: title,
            subtitle: "nothing waits for the disk; shorter is better, on a logarithmic scale",
            unit: .microseconds, scale: .logarithmic, sections: sections, note: note
        ).svg
    }

    private var threads: String {
        let sections = ReadingThreads.threads.compactMap { report.outcome("threads-\($0)") }.map {
            outcome in
            BarChart.Section(
                outcome.title,
                bars: outcome.figures.filter { $0.contender.role != .ceiling }.map {
                    BarChart.Bar(
                        $0.contender.name, $0.median, isEmphasised: $0.contender == .engine)
                })
        }
        return BarChart(
            title: "Feeds read a second", subtitle: "longer is better", unit: .named("feeds/s"),
            sections: sections,
            note: note
        ).svg
    }

    private var latency: String {
        let shown: [ContenderID] = [
            .engineSnapshot, .engine, .handWrittenBaseline, .jsonBlobs, .rocksDB,
        ]
        let series = report.latencies.filter { shown.contains($0.contender) }.flatMap { latency in
            // Shows the times without a writer only of the yardstick: with more lines a reader
            // could not tell them apart.
            latency.hasWriter || latency.contender == .engineSnapshot
                ? [
                    PercentileChart.Series(
                        latency.contender.name + (latency.hasWriter ? "" : ", no writer"),
                        points: [
                            (50, latency.p50), (90, latency.p90), (99, latency.p99),
                            (99.9, latency.p999),
                        ]
                        .compactMap { percentile, value in value.map { .init(percentile, $0) } },
                        isEmphasised: latency.contender == .engineSnapshot && latency.hasWriter)
                ] : []
        }
        return PercentileChart(
            title: "Reading a feed while a writer commits 100 times a second", series: series,
            note: note
        ).svg
    }

    private var eviction: String {
        let sections = report.evictions.map { result in
            BarChart.Section(
                "\(result.contender.name), which holds \(result.feedsHeld) feeds",
                bars: [
                    .init("hit rate", result.hitRate, isEmphasised: true),
                    .init("exact LRU of as many", result.leastRecentlyUsed),
                    .init("offline optimal of as many", result.offlineOptimal),
                ])
        }
        return BarChart(
            title: "Eviction: feeds read by Zipf from a cache too small for them",
            subtitle:
                "budget \(Format.bytes(Double(report.scale.evictionBudget))); longer is better",
            unit: .share,
            sections: sections, note: note
        ).svg
    }

    private var budget: String {
        let budgets = report.scale.budgets
        let shown = budgets.contains(8 << 20) ? 8 << 20 : budgets.max() ?? 0
        let sections = FeedContent.allCases.map { content in
            BarChart.Section(
                content.name,
                bars: report.budgets.filter { $0.content == content && $0.budget == shown }.map {
                    result in
                    BarChart.Bar(
                        result.contender.name, Double(result.feedsHeld),
                        detail: Format.count(result.recordsHeld) + " records",
                        isEmphasised: result.contender == .engineCompressed)
                })
        }
        return BarChart(
            title: "Feeds of \(report.scale.posts) posts that \(Format.mebibytes(shown)) hold",
            subtitle: "all files of the directory count; longer is better", unit: .named("feeds"),
            sections: sections, note: report.surroundings.machine + ", one run"
        ).svg
    }

    private func growth(_ title: String, _ value: (Growth.Point) -> Double) -> String {
        LineChart(
            title: title, x: .init("records", unit: .count, scale: .logarithmic),
            y: .init("median", unit: .microseconds, scale: .logarithmic),
            series: report.grown.map { contender in
                LineChart.Series(
                    contender.name,
                    points: report.growth.filter { $0.contender == contender }.map {
                        LineChart.Point(Double($0.records), value($0))
                    }, isEmphasised: contender == .engine)
            }, note: note
        ).svg
    }
}
