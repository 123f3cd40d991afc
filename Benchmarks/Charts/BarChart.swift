/// A chart of horizontal bars as SVG, one value a bar: it shows which of several ways is faster,
/// and by how much.
///
///     let chart = BarChart(
///         title: "Reading a feed of 601 nodes", unit: .microseconds, scale: .logarithmic,
///         sections: [
///             .init(bars: [
///                 .init("Espalier", 214, isEmphasised: true),
///                 .init("JSONDecoder", 2_050, detail: "9.6×"),
///             ])
///         ])
///     try chart.svg.write(toFile: "reading.svg", atomically: true, encoding: .utf8)
///
/// A bar has no length if its value is not finite or has no place on the scale; its value is still
/// written beside it. The same chart is the same bytes.
public struct BarChart: Sendable, Hashable {
    /// A value and its label.
    public struct Bar: Sendable, Hashable {
        public var label: String
        public var value: Double
        /// A short text behind the value, such as a ratio.
        public var detail: String?
        /// Whether the bar has the colour that stands out. If no bar is emphasised, all bars have
        /// it.
        public var isEmphasised: Bool

        public init(
            _ label: String, _ value: Double, detail: String? = nil, isEmphasised: Bool = false
        ) {
            self.label = label
            self.value = value
            self.detail = detail
            self.isEmphasised = isEmphasised
        }
    }

    /// A group of bars under a title of its own.
    public struct Section: Sendable, Hashable {
        public var title: String?
        public var bars: [Bar]

        public init(_ title: String? = nil, bars: [Bar]) {
            self.title = title
            self.bars = bars
        }
    }

    public var title: String
    public var subtitle: String?
    public var unit: ChartUnit
    public var scale: ChartScale
    public var sections: [Section]
    /// A line below the chart, such as the name of the machine.
    public var note: String?

    public init(
        title: String, subtitle: String? = nil, unit: ChartUnit, scale: ChartScale = .linear,
        sections: [Section],
        note: String? = nil
    ) {
        self.title = title
        self.subtitle = subtitle
        self.unit = unit
        self.scale = scale
        self.sections = sections
        self.note = note
    }

    /// The chart as an SVG document, readable on light and on dark pages.
    public var svg: String {
        let frame = ChartFrame(title: title, subtitle: subtitle, note: note)
        guard sections.contains(where: { !$0.bars.isEmpty }) else {
            return frame.empty("Bar chart")
        }
        return BarLayout(self).svg(in: frame)
    }

    var description: String {
        let sections = sections.map { section in
            let bars = section.bars.map { bar in
                "\(bar.label): \(unit.text(bar.value))" + (bar.detail.map { " (\($0))" } ?? "")
            }
            return (section.title.map { "\($0). " } ?? "") + bars.joined(separator: "; ") + "."
        }
        return "Bar chart\(scale == .logarithmic ? " on a logarithmic scale" : ""). "
            + sections.joined(separator: " ")
    }
}

/// Places the bars of a chart: labels at the left, bars that begin at a common line, values at
/// their ends.
struct BarLayout {
    private let chart: BarChart
    private let labelWidth: Double
    private let barsX: Double
    private let barsWidth: Double
    private let scale: Scale?
    private let ticks: [(position: Double, label: String)]
    private let isEverythingMain: Bool

    private static let rowHeight = 28.0
    private static let barHeight = 18.0

    init(_ chart: BarChart) {
        self.chart = chart
        let bars = chart.sections.flatMap(\.bars)
        labelWidth = min(bars.map { $0.label.width(at: 13) }.max() ?? 0, ChartFrame.inside * 0.42)
        let values = bars.map { bar in
            chart.unit.text(bar.value).width(at: 13, bold: true)
                + (bar.detail.map { $0.width(at: 12) + 8 } ?? 0)
        }
        let valueWidth = min(values.max() ?? 0, ChartFrame.inside * 0.4)
        barsX = ChartFrame.margin + labelWidth + 12
        barsWidth = ChartFrame.width - ChartFrame.margin - valueWidth - 8 - barsX
        isEverythingMain = !bars.contains(where: \.isEmphasised)
        let axis = AxisTicks(length: barsWidth, unit: chart.unit) { [chart] count in
            Scale.bars(bars.map(\.value), on: chart.scale, maxTicks: count)
        }
        scale = axis.scale
        ticks = axis.labels
    }

    func svg(in frame: ChartFrame) -> String {
        var canvas = Canvas()
        let top = frame.head(on: &canvas)
        let bottom = top + height
        for tick in ticks {
            canvas.text(
                tick.label, x: barsX + tick.position * barsWidth, y: bottom + 17, style: "tick",
                anchor: .middle)
        }
        var y = top
        for section in chart.sections where !section.bars.isEmpty {
            if let title = section.title, !title.isEmpty {
                y += Self.titleHeight(isFirst: y == top)
                let shown = title.shortened(to: ChartFrame.inside, at: 12.8)
                canvas.text(shown, x: ChartFrame.margin, y: y - 8, style: "section", full: title)
            } else if y > top {
                y += 10
            }
            let end = y + Double(section.bars.count) * Self.rowHeight
            for tick in ticks where tick.position > 0 {
                let x = barsX + tick.position * barsWidth
                canvas.line(x1: x, y1: y, x2: x, y2: end, style: "grid")
            }
            canvas.line(x1: barsX, y1: y, x2: barsX, y2: end, style: "axis")
            for bar in section.bars {
                draw(bar, at: y, on: &canvas)
                y += Self.rowHeight
            }
        }
        var below = bottom + (ticks.isEmpty ? 4 : 22)
        if chart.scale == .logarithmic, scale != nil {
            below += 16
            canvas.text("logarithmic scale", x: barsX, y: below, style: "axis-title")
        }
        let total = frame.foot(below: below + 6, on: &canvas)
        return canvas.document(
            width: ChartFrame.width, height: total, title: chart.title,
            description: chart.description)
    }

    private static func titleHeight(isFirst: Bool) -> Double { isFirst ? 24 : 34 }

    private var height: Double {
        var height = 0.0
        for section in chart.sections where !section.bars.isEmpty {
            if let title = section.title, !title.isEmpty {
                height += Self.titleHeight(isFirst: height == 0)
            } else if height > 0 {
                height += 10
            }
            height += Double(section.bars.count) * Self.rowHeight
        }
        return height
    }

    private func draw(_ bar: BarChart.Bar, at y: Double, on canvas: inout Canvas) {
        let baseline = y + Self.rowHeight / 2 + 4.5
        let label = bar.label.shortened(to: labelWidth + 0.1, at: 13)
        canvas.text(label, x: ChartFrame.margin, y: baseline, style: "label", full: bar.label)
        // A value above zero shows at least a line.
        let length = (scale?.position(of: bar.value) ?? 0) * barsWidth
        let seen = bar.value > 0 && length > 0 ? max(length, 1.5) : 0
        if seen > 0 {
            canvas.rectangle(
                x: barsX, y: y + (Self.rowHeight - Self.barHeight) / 2, width: seen,
                height: Self.barHeight,
                radius: min(2, seen / 2),
                style: bar.isEmphasised || isEverythingMain ? "bar main" : "bar")
        }
        let value = chart.unit.text(bar.value)
        if let detail = bar.detail, !detail.isEmpty {
            canvas.text(
                value, then: detail, "detail", x: barsX + seen + 7, y: baseline, style: "value")
        } else {
            canvas.text(value, x: barsX + seen + 7, y: baseline, style: "value")
        }
    }
}
