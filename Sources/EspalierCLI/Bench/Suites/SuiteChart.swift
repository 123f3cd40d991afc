import EspalierCharts

/// The picture of a suite's result.
enum SuiteChart: Sendable {
    case bars(BarChart)
    case lines(LineChart)
    case percentiles(PercentileChart)

    /// - Parameter note: says below it what was measured on.
    func svg(note: String) -> String {
        switch self {
        case .bars(var chart):
            chart.note = note
            return chart.svg
        case .lines(var chart):
            chart.note = note
            return chart.svg
        case .percentiles(var chart):
            chart.note = note
            return chart.svg
        }
    }

    /// Medians as bars, with their ratios to the baseline.
    static func medians(
        _ title: String, _ subtitle: String, sections: [(title: String?, timings: [Timing])],
        baseline: Timing?,
        emphasised: String
    ) -> SuiteChart {
        let sections = sections.map { title, timings in
            BarChart.Section(
                title,
                bars: timings.map { timing in
                    BarChart.Bar(
                        timing.name, timing.median ?? .nan,
                        detail: timing.ratio(to: baseline).map { ChartUnit.ratio.text($0) },
                        isEmphasised: timing.name == emphasised)
                })
        }
        return .bars(
            BarChart(
                title: title, subtitle: subtitle, unit: .microseconds, scale: .logarithmic,
                sections: sections))
    }
}
