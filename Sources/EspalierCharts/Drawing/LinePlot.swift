/// Curves between two axes, each with its name at its end.
struct LinePlot {
    struct Curve {
        let name: String
        /// Place along the axis from 0 to 1, and value; nil where there is none.
        let points: [(x: Double, y: Double)?]
        let isEmphasised: Bool
    }

    let frame: ChartFrame
    let width: Double
    private let y: LineChart.Axis
    private let scale: Scale?
    private let tickLabels: [String]
    private let left: Double
    private let nameWidth: Double
    private let height: Double

    private static let nameHeight = 17.0
    /// More points than that are a curve, and not each marked.
    private static let maxMarks = 16

    init(frame: ChartFrame, names: [String], y: LineChart.Axis, values: [Double]) {
        self.frame = frame
        self.y = y
        // Names need room below each other.
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
        // A point between two gaps is no line: without its mark nobody would see it.
        let isAlone = marked.count == 1
        guard marked.count <= Self.maxMarks || isAlone else { return }
        for place in marked {
            canvas.circle(
                x: place.x, y: place.y, radius: curve.isEmphasised ? 4.5 : 3.8, style: "d\(hue)")
        }
    }

    /// Each name beside the end of its curve, and moved up or down as far as the others need.
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
            // A name that is not where its line ends is led to.
            if abs(row - end.y) > 3 || x - end.x > 24 {
                canvas.line(x1: end.x + 6, y1: end.y, x2: x - 4, y2: row, style: "leader")
            }
            canvas.text(
                name.shortened(to: nameWidth + 0.1, at: 12.5 * 1.06), x: x, y: row + 4.5,
                style: "series f\(end.index % StyleSheet.hues)", full: name)
        }
    }
}
