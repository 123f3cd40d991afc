/// Horizontal bars, one value each, as SVG: which of several ways is faster, and by how much.
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
/// A bar whose value is not finite, or has no place on the scale, is drawn without length, and its
/// value still written beside it. The same chart is the same bytes.
public struct BarChart: Sendable, Hashable {
    /// One value and what it is of.
    public struct Bar: Sendable, Hashable {
        public var label: String
        public var value: Double
        /// Something short behind the value, as a ratio.
        public var detail: String?
        /// Drawn in the colour that the eye goes to. Where no bar is, all are.
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

    /// Bars that belong together, under a title of their own.
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
    /// A line below the chart, as of the machine.
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
