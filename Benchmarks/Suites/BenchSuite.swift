#if CommandLine
package import EspalierCharts

/// The suites of `espalier bench`. Each runs in a folder of its own, for the time that it is given.
package enum BenchSuite: String, CaseIterable, Sendable {
    case reading, writing, latency, eviction, opening, compression
    #if Encryption
    case encryption
    #endif

    /// What the suite does, for the title of its result.
    package var about: String {
        switch self {
        case .reading: "a feed of 601 nodes is read, and one node"
        case .writing: "writes until they are committed"
        case .latency:
            "one node read on schedule, 10,000 times a second, while a writer commits 100 times a second"
        case .eviction:
            "feeds into a small cache, recent ones read more often, missing ones fetched again"
        case .opening: "a closed cache opened, by the records in it"
        case .compression: "the same feeds with and without compression"
        #if Encryption
        case .encryption: "the same feeds with and without encryption"
        #endif
        }
    }

    /// Runs the suite.
    ///
    /// - Parameters:
    ///   - folder: An empty folder for the suite's caches.
    ///   - time: How long the suite may take.
    /// - Throws: A `CacheError`, or a `BenchError` if a read gave something other than was written.
    package func run(in folder: String, for time: Allotment) throws -> SuiteResult {
        switch self {
        case .reading: try ReadingSuite(folder: folder, time: time).run()
        case .writing: try WritingSuite(folder: folder, time: time).run()
        case .latency: try LatencySuite(folder: folder, time: time).run()
        case .eviction: try EvictionSuite(folder: folder, time: time).run()
        case .opening: try OpeningSuite(folder: folder, time: time).run()
        case .compression: try CompressionSuite(folder: folder, time: time).run()
        #if Encryption
        case .encryption: try EncryptionSuite(folder: folder, time: time).run()
        #endif
        }
    }
}

/// What a suite measured.
package struct SuiteResult: Sendable {
    package let suite: BenchSuite
    package let timings: [Timing]
    /// The name of the timing with which the others are compared.
    package let baseline: String
    /// What was counted, or follows from times.
    package var figures: [SuiteFigure] = []
    package let chart: SuiteChart

    /// Returns how many times the baseline's median a timing's median is.
    package func ratio(of timing: Timing) -> Double? {
        timing.ratio(to: timings.first { $0.name == baseline })
    }
}

/// A number of a suite that is no time of a turn.
package struct SuiteFigure: Sendable {
    package enum Value: Sendable {
        case count(Int)
        case bytes(Int)
        /// From 0 to 1.
        case share(Double)
        case number(Double, decimals: Int)
        case nanoseconds(Int)
        case flag(Bool)
    }

    /// What programs call it. A dot separates a group from its member.
    package let name: String
    /// What people read.
    package let title: String
    package let value: Value

    init(_ name: String, _ title: String, _ value: Value) {
        self.name = name
        self.title = title
        self.value = value
    }
}

/// The picture of a suite's result.
package enum SuiteChart: Sendable {
    case bars(BarChart)
    case lines(LineChart)
    case percentiles(PercentileChart)

    /// Draws the chart.
    ///
    /// - Parameter note: A line below the chart, which says on what machine was measured.
    package func svg(note: String) -> String {
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

    /// Returns a chart of medians as bars, with their ratios to the baseline.
    static func medians(
        _ title: String, _ subtitle: String, sections: [(title: String?, timings: [Timing])],
        baseline: Timing?, emphasised: String
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

/// Why the times of a suite are worthless.
package enum BenchError: Error, CustomStringConvertible {
    case miss(String)
    case differs(String)

    package var description: String {
        switch self {
        case .miss(let reason): "a read missed: \(reason)"
        case .differs(let reader): "\(reader) read something other than was written"
        }
    }
}
#endif
