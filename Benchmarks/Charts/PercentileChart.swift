import Foundation

/// A chart of latencies by percentile as SVG, as HdrHistogram draws it: every further nine has as
/// much room as the one before.
///
///     let chart = PercentileChart(
///         title: "One node read while a writer commits",
///         series: [
///             .init("snapshot", points: [.init(50, 1.2), .init(99, 3.4), .init(100, 230)]),
///             .init("latest", points: [.init(50, 1.3), .init(99, 5.1), .init(100, 900)]),
///         ])
///     print(chart.svg)
///
/// The largest value, at 100, stands behind the last percentile. The same chart is the same bytes.
public struct PercentileChart: Sendable, Hashable {
    /// The value that a percentage of all values do not exceed.
    public struct Point: Sendable, Hashable {
        /// From 0 to 100.
        public var percentile: Double
        public var value: Double

        public init(_ percentile: Double, _ value: Double) {
            self.percentile = percentile
            self.value = value
        }
    }

    /// A curve and its name.
    public typealias Series = ChartSeries<Point>

    public var title: String
    public var subtitle: String?
    public var unit: ChartUnit
    public var series: [Series]
    /// A line below the chart, such as the name of the machine.
    public var note: String?

    public init(
        title: String, subtitle: String? = nil, unit: ChartUnit = .microseconds, series: [Series],
        note: String? = nil
    ) {
        self.title = title
        self.subtitle = subtitle
        self.unit = unit
        self.series = series
        self.note = note
    }

    /// The chart as an SVG document, readable on light and on dark pages.
    public var svg: String {
        let frame = ChartFrame(title: title, subtitle: subtitle, note: note)
        let placed = series.flatMap(\.points).filter {
            ChartScale.logarithmic.hasPlace(for: $0.value) && (0...100).contains($0.percentile)
        }
        guard !placed.isEmpty else { return frame.empty("Percentile chart") }
        let scale = PercentileScale(placed.map(\.percentile))
        let plot = LinePlot(
            frame: frame, names: series.map(\.name),
            y: LineChart.Axis("latency", unit: unit, scale: .logarithmic),
            values: placed.map(\.value))
        return plot.svg(
            xTitle: "percentile",
            xTicks: AxisTicks.apart(scale.ticks, length: plot.width),
            curves: series.map { series in
                var series = series
                series.points.sort { $0.percentile < $1.percentile }
                return series.map { point in
                    scale.position(of: point.percentile).map { (x: $0, y: point.value) }
                }
            },
            description: description)
    }

    private var description: String {
        let lines = series.map { series in
            let points =
                series.points.count > 12
                ? [50, 90, 99, 99.9, 100].compactMap { series.last(to: $0) } : series.points
            let texts = points.map {
                "\(unit.text($0.value)) at \(PercentileScale.name(of: $0.percentile))"
            }
            return "\(series.name): \(texts.joined(separator: ", "))."
        }
        return "Percentile chart. " + lines.joined(separator: " ")
    }
}

extension ChartSeries<PercentileChart.Point> {
    fileprivate func last(to percentile: Double) -> PercentileChart.Point? {
        points.filter { $0.percentile <= percentile }.max { $0.percentile < $1.percentile }
    }
}

/// Places percentiles along an axis by the logarithm of the share above them, so that 90, 99 and
/// 99.9 are equally far apart.
struct PercentileScale {
    private let lower: Double
    /// The nines of the last percentile below 100.
    private let last: Double
    private let hasMaximum: Bool

    private static let named: [(Double, String)] = [
        (0, "min"), (50, "p50"), (90, "p90"), (99, "p99"), (99.9, "p99.9"), (99.99, "p99.99"),
        (99.999, "p99.999"),
        (99.9999, "p99.9999"), (100, "max"),
    ]

    /// The room between the last percentile and `max`.
    private static let maximumRoom = 0.5

    /// Creates a scale from p50, or from the lowest percentile if that is lower, to the highest.
    init(_ percentiles: [Double]) {
        let nines = percentiles.filter { $0 < 100 }.map(Self.nines)
        lower = min(nines.min() ?? .infinity, Self.nines(50))
        last = max(nines.max() ?? 0, Self.nines(90))
        hasMaximum = percentiles.contains(100)
    }

    private var upper: Double { last + (hasMaximum ? Self.maximumRoom : 0) }

    /// Returns a position from 0 to 1, or nil if the number is no percentile.
    func position(of percentile: Double) -> Double? {
        guard (0...100).contains(percentile) else { return nil }
        let place = percentile == 100 ? upper : Self.nines(percentile)
        return min(max((place - lower) / (upper - lower), 0), 1)
    }

    var ticks: [(position: Double, label: String)] {
        Self.named.compactMap { percentile, name in
            let isShown =
                percentile == 100
                ? hasMaximum : (lower...last + 1e-9).contains(Self.nines(percentile))
            guard isShown, let position = position(of: percentile) else { return nil }
            return (position: position, label: name)
        }
    }

    static func name(of percentile: Double) -> String {
        named.first { $0.0 == percentile }?.1 ?? "p" + ChartUnit.count.text(percentile)
    }

    /// Returns 1 for 90 and 2 for 99; at most 9, because doubles have no more precision.
    private static func nines(_ percentile: Double) -> Double {
        -log10(max(1 - percentile / 100, 1e-9))
    }
}
