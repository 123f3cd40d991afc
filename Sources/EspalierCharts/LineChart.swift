/// Lines over an axis, as SVG: how something grows with something else.
///
///     let chart = LineChart(
///         title: "Opening a cache",
///         x: .init("records", unit: .count, scale: .logarithmic),
///         y: .init("time", unit: .microseconds, scale: .logarithmic),
///         series: [.init("espalier", points: [.init(1_000, 310), .init(100_000, 2_900)], isEmphasised: true)])
///     print(chart.svg)
///
/// A line breaks where a value is not finite or has no place on its axis. Points are drawn in the
/// order given. The same chart is the same bytes.
public struct LineChart: Sendable, Hashable {
    /// What is along one side.
    public struct Axis: Sendable, Hashable {
        public var title: String
        public var unit: ChartUnit
        public var scale: ChartScale

        public init(_ title: String, unit: ChartUnit, scale: ChartScale = .linear) {
            self.title = title
            self.unit = unit
            self.scale = scale
        }
    }

    /// What was measured, at a place of the horizontal axis.
    public struct Point: Sendable, Hashable {
        public var x: Double
        public var y: Double

        public init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// One line and its name, which stands at its end.
    public struct Series: Sendable, Hashable {
        public var name: String
        public var points: [Point]
        /// Drawn wider.
        public var isEmphasised: Bool

        public init(_ name: String, points: [Point], isEmphasised: Bool = false) {
            self.name = name
            self.points = points
            self.isEmphasised = isEmphasised
        }
    }

    public var title: String
    public var subtitle: String?
    public var x: Axis
    public var y: Axis
    public var series: [Series]
    /// A line below the chart, as of the machine.
    public var note: String?

    public init(
        title: String, subtitle: String? = nil, x: Axis, y: Axis, series: [Series],
        note: String? = nil
    ) {
        self.title = title
        self.subtitle = subtitle
        self.x = x
        self.y = y
        self.series = series
        self.note = note
    }

    /// The chart as an SVG document, readable on light and on dark pages.
    public var svg: String {
        let frame = ChartFrame(title: title, subtitle: subtitle, note: note)
        let points = series.flatMap(\.points)
        let placed = points.filter {
            x.unit.isPlaced($0.x, on: x.scale) && y.unit.isPlaced($0.y, on: y.scale)
        }
        guard !placed.isEmpty else { return frame.empty("Line chart") }
        let plot = LinePlot(frame: frame, names: series.map(\.name), y: y, values: placed.map(\.y))
        let axis = AxisTicks(length: plot.width, unit: x.unit) { count in
            Scale.lines(placed.map(\.x), on: x.scale, maxTicks: count)
        }
        return plot.svg(
            xTitle: x.title + (x.scale == .logarithmic ? ", logarithmic" : ""), xTicks: axis.labels,
            curves: series.map { series in
                LinePlot.Curve(
                    name: series.name,
                    points: series.points.map { point in
                        axis.scale?.position(of: point.x).map { (x: $0, y: point.y) }
                    },
                    isEmphasised: series.isEmphasised)
            },
            description: description)
    }

    private var description: String {
        let lines = series.map { series in
            // Of many the ends.
            let points =
                series.points.count > 12
                ? [series.points[0], series.points[series.points.count - 1]] : series.points
            let texts = points.map { "\(y.unit.text($0.y)) at \(x.unit.text($0.x))" }
            return "\(series.name): \(texts.joined(separator: ", "))."
        }
        return "Line chart of \(y.title) by \(x.title). " + lines.joined(separator: " ")
    }
}

extension ChartUnit {
    func isPlaced(_ value: Double, on scale: ChartScale) -> Bool {
        value.isFinite && (scale == .linear || value > 0)
    }
}
