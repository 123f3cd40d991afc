/// A chart of lines as SVG: it shows how one quantity grows with another.
///
///     let chart = LineChart(
///         title: "Opening a cache",
///         x: .init("records", unit: .count, scale: .logarithmic),
///         y: .init("time", unit: .microseconds, scale: .logarithmic),
///         series: [
///             .init("espalier", points: [.init(1_000, 310), .init(100_000, 2_900)])
///         ])
///     print(chart.svg)
///
/// A line breaks where a value is not finite or has no place on its axis. Points are drawn in the
/// order given. The same chart is the same bytes.
public struct LineChart: Sendable, Hashable {
    /// The quantity along one side.
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

    /// A measured value, at a place of the horizontal axis.
    public struct Point: Sendable, Hashable {
        public var x: Double
        public var y: Double

        public init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// A line and its name, which stands at the line's end.
    public typealias Series = ChartSeries<Point>

    public var title: String
    public var subtitle: String?
    public var x: Axis
    public var y: Axis
    public var series: [Series]
    /// A line below the chart, such as the name of the machine.
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
            x.scale.hasPlace(for: $0.x) && y.scale.hasPlace(for: $0.y)
        }
        guard !placed.isEmpty else { return frame.empty("Line chart") }
        let plot = LinePlot(frame: frame, names: series.map(\.name), y: y, values: placed.map(\.y))
        let axis = AxisTicks(length: plot.width, unit: x.unit) { count in
            Scale.lines(placed.map(\.x), on: x.scale, maxTicks: count)
        }
        return plot.svg(
            xTitle: x.title + (x.scale == .logarithmic ? ", logarithmic" : ""), xTicks: axis.labels,
            curves: series.map { series in
                series.map { point in
                    axis.scale?.position(of: point.x).map { (x: $0, y: point.y) }
                }
            },
            description: description)
    }

    private var description: String {
        let lines = series.map { series in
            // Of many points, the description names the first and the last.
            let points =
                series.points.count > 12
                ? [series.points[0], series.points[series.points.count - 1]] : series.points
            let texts = points.map { "\(y.unit.text($0.y)) at \(x.unit.text($0.x))" }
            return "\(series.name): \(texts.joined(separator: ", "))."
        }
        return "Line chart of \(y.title) by \(x.title). " + lines.joined(separator: " ")
    }
}

/// The points of one line, and its name.
public struct ChartSeries<Point> {
    public var name: String
    public var points: [Point]
    /// Whether the line is wider than others.
    public var isEmphasised: Bool

    public init(_ name: String, points: [Point], isEmphasised: Bool = false) {
        self.name = name
        self.points = points
        self.isEmphasised = isEmphasised
    }

    /// Returns the series with other points.
    func map<Other>(_ transform: (Point) -> Other) -> ChartSeries<Other> {
        ChartSeries<Other>(name, points: points.map(transform), isEmphasised: isEmphasised)
    }
}

extension ChartSeries: Sendable where Point: Sendable {}
extension ChartSeries: Equatable where Point: Equatable {}
extension ChartSeries: Hashable where Point: Hashable {}

/// Draws curves between two axes, each with its name at its end.
struct LinePlot {
    /// The places along the axis, from 0 to 1, and the values; nil for a gap.
    typealias Curve = ChartSeries<(x: Double, y: Double)?>

    let frame: ChartFrame
    let width: Double
    private let y: LineChart.Axis
    private let scale: Scale?
    private let tickLabels: [String]
    private let left: Double
    private let nameWidth: Double
    private let height: Double

    private static let nameHeight = 17.0
    /// A curve with more points has no mark at each of them.
    private static let maxMarks = 16

    init(frame: ChartFrame, names: [String], y: LineChart.Axis, values: [Double]) {
        self.frame = frame
        self.y = y
        // Leaves room for the names below each other.
        height = max(300, Double(names.count) * Self.nameHeight)
        scale = Scale.lines(values, on: y.scale, maxTicks: 8)
        tickLabels = scale.map { y.unit.labels(of: $0.ticks, on: $0.kind) } ?? []
        left = ChartFrame.margin + (tickLabels.map { $0.width(at: 11.5) }.max() ?? 0) + 10
        nameWidth = min(
            names.map { $0.width(at: 12.5, bold: true) }.max() ?? 0, ChartFrame.inside * 0.3)
        width = ChartFrame.width - ChartFrame.margin - left - (nameWidth > 0 ? nameWidth + 22 : 8)
    }

    func svg(
        xTitle: String, xTicks: [(position: Double, label: String)], curves: [Curve],
        description: String
    ) -> String {
        var canvas = Canvas()
        let head = frame.head(on: &canvas)
        let yTitle = y.title + (y.scale == .logarithmic ? ", logarithmic" : "")
        canvas.text(
            yTitle.shortened(to: ChartFrame.inside, at: 11.5), x: ChartFrame.margin, y: head + 6,
            style: "axis-title",
            full: yTitle)
        let top = head + 22
        let bottom = top + height
        drawAxes(xTicks, top: top, bottom: bottom, on: &canvas)
        let shown = xTitle.shortened(to: width, at: 11.5)
        canvas.text(
            shown, x: left + width / 2, y: bottom + 38, style: "axis-title", anchor: .middle,
            full: xTitle)
        for (index, curve) in curves.enumerated().reversed() {
            draw(curve, index, top: top, on: &canvas)
        }
        drawNames(of: curves, top: top, on: &canvas)
        let total = frame.foot(below: bottom + 46, on: &canvas)
        return canvas.document(
            width: ChartFrame.width, height: total, title: frame.title, description: description)
    }

    private func drawAxes(
        _ xTicks: [(position: Double, label: String)], top: Double, bottom: Double,
        on canvas: inout Canvas
    ) {
        for (tick, label) in zip(scale?.ticks ?? [], tickLabels) {
            guard let place = scale?.position(of: tick) else { continue }
            let y = bottom - place * height
            if place > 0 { canvas.line(x1: left, y1: y, x2: left + width, y2: y, style: "grid") }
            canvas.text(label, x: left - 8, y: y + 4, style: "tick", anchor: .end)
        }
        for tick in xTicks {
            let x = left + tick.position * width
            if tick.position > 0 { canvas.line(x1: x, y1: top, x2: x, y2: bottom, style: "grid") }
            canvas.line(x1: x, y1: bottom, x2: x, y2: bottom + 4, style: "axis")
            canvas.text(tick.label, x: x, y: bottom + 18, style: "tick", anchor: .middle)
        }
        canvas.line(x1: left, y1: bottom, x2: left + width, y2: bottom, style: "axis")
        canvas.line(x1: left, y1: top, x2: left, y2: bottom, style: "axis")
    }

    private func places(_ curve: Curve, top: Double) -> [(x: Double, y: Double)?] {
        curve.points.map { point in
            guard let point, let place = scale?.position(of: point.y) else { return nil }
            return (x: left + point.x * width, y: top + (1 - place) * height)
        }
    }

    private func draw(_ curve: Curve, _ index: Int, top: Double, on canvas: inout Canvas) {
        let hue = index % StyleSheet.hues
        let places = places(curve, top: top)
        var path: [String] = []
        var isPenDown = false
        for place in places {
            if let place {
                path.append("\(isPenDown ? "L" : "M")\(place.x.pixels) \(place.y.pixels)")
            }
            isPenDown = place != nil
        }
        guard !path.isEmpty else { return }
        let style =
            "curve h\(hue)" + (curve.isEmphasised ? " main" : "")
            + (index >= StyleSheet.hues ? " again" : "")
        canvas.path(path.joined(), style: style)
        let marked = places.compactMap(\.self)
        // A point between two gaps is no line, and would be invisible without a mark.
        let isAlone = marked.count == 1
        guard marked.count <= Self.maxMarks || isAlone else { return }
        for place in marked {
            canvas.circle(
                x: place.x, y: place.y, radius: curve.isEmphasised ? 4.5 : 3.8, style: "d\(hue)")
        }
    }

    /// Draws each name beside the end of its curve, moved up or down to make room for the others.
    private func drawNames(of curves: [Curve], top: Double, on canvas: inout Canvas) {
        let ends: [(index: Int, x: Double, y: Double)] = curves.enumerated().compactMap {
            index, curve in
            guard !curve.name.isEmpty, let end = places(curve, top: top).compactMap(\.self).last
            else { return nil }
            return (index: index, x: end.x, y: end.y)
        }.sorted { ($0.y, $0.index) < ($1.y, $1.index) }
        let rows = SpreadRows.spread(
            ends.map(\.y), apart: Self.nameHeight, within: top...(top + height))
        let x = left + width + 16
        for (end, row) in zip(ends, rows) {
            let name = curves[end.index].name
            // A thin line leads to a name that was moved away from the end of its curve.
            if abs(row - end.y) > 3 || x - end.x > 24 {
                canvas.line(x1: end.x + 6, y1: end.y, x2: x - 4, y2: row, style: "leader")
            }
            canvas.text(
                name.shortened(to: nameWidth + 0.1, at: 12.5 * 1.06), x: x, y: row + 4.5,
                style: "series f\(end.index % StyleSheet.hues)", full: name)
        }
    }
}

/// Moves rows apart, as little as possible.
enum SpreadRows {
    /// - Parameter places: The wanted places, in ascending order.
    static func spread(_ places: [Double], apart gap: Double, within range: ClosedRange<Double>)
        -> [Double]
    {
        // Rows that touch become one block, in the middle of their wanted places.
        struct Block {
            var middle: Double
            var count: Int
        }
        func start(_ block: Block) -> Double {
            let half = Double(block.count - 1) * gap / 2
            return max(min(block.middle - half, range.upperBound - 2 * half), range.lowerBound)
        }
        var blocks: [Block] = []
        for place in places {
            blocks.append(Block(middle: place, count: 1))
            while blocks.count > 1 {
                let (before, last) = (blocks[blocks.count - 2], blocks[blocks.count - 1])
                guard start(before) + Double(before.count) * gap > start(last) else { break }
                let count = before.count + last.count
                let sum = before.middle * Double(before.count) + last.middle * Double(last.count)
                blocks.removeLast(2)
                blocks.append(Block(middle: sum / Double(count), count: count))
            }
        }
        return blocks.flatMap { block in (0..<block.count).map { start(block) + Double($0) * gap } }
    }
}
