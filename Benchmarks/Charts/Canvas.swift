/// Collects the elements of one SVG document.
///
/// Styles are classes of `StyleSheet`, so that one document is readable on a light and on a dark
/// page. Coordinates have one decimal: the same input gives the same bytes.
struct Canvas {
    private var elements: [String] = []

    enum Anchor: String {
        case start, middle, end
    }

    mutating func text(
        _ text: String, x: Double, y: Double, style: String, anchor: Anchor = .start,
        full: String? = nil
    ) {
        let anchorText = anchor == .start ? "" : " text-anchor=\"\(anchor.rawValue)\""
        // A viewer shows a shortened text whole when the mouse points at it.
        let tip = full.map { $0 == text ? "" : "<title>\($0.xml)</title>" } ?? ""
        elements.append(
            "<text class=\"\(style)\" x=\"\(x.pixels)\" y=\"\(y.pixels)\"\(anchorText)>\(tip)\(text.xml)</text>"
        )
    }

    /// Draws a text and behind it a second one in another style.
    mutating func text(
        _ text: String, then rest: String, _ restStyle: String, x: Double, y: Double, style: String
    ) {
        elements.append(
            "<text class=\"\(style)\" x=\"\(x.pixels)\" y=\"\(y.pixels)\">\(text.xml)"
                + "<tspan class=\"\(restStyle)\" dx=\"8\">\(rest.xml)</tspan></text>")
    }

    mutating func line(x1: Double, y1: Double, x2: Double, y2: Double, style: String) {
        elements.append(
            "<line class=\"\(style)\" x1=\"\(x1.pixels)\" y1=\"\(y1.pixels)\" x2=\"\(x2.pixels)\" y2=\"\(y2.pixels)\"/>"
        )
    }

    mutating func rectangle(
        x: Double, y: Double, width: Double, height: Double, radius: Double = 0, style: String
    ) {
        elements.append(
            "<rect class=\"\(style)\" x=\"\(x.pixels)\" y=\"\(y.pixels)\" width=\"\(width.pixels)\" "
                + "height=\"\(height.pixels)\"" + (radius > 0 ? " rx=\"\(radius.pixels)\"" : "")
                + "/>")
    }

    mutating func path(_ steps: String, style: String) {
        elements.append("<path class=\"\(style)\" d=\"\(steps)\"/>")
    }

    mutating func circle(x: Double, y: Double, radius: Double, style: String) {
        elements.append(
            "<circle class=\"\(style)\" cx=\"\(x.pixels)\" cy=\"\(y.pixels)\" r=\"\(radius.pixels)\"/>"
        )
    }

    /// Returns the whole document. Title and description are for screen readers.
    func document(width: Double, height: Double, title: String, description: String) -> String {
        let (width, height) = (width.rounded(), height.rounded())
        let head = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width.pixels) \(height.pixels)\" "
                + "width=\"\(width.pixels)\" height=\"\(height.pixels)\" role=\"img\">",
            "<title>\(title.xml)</title>",
            "<desc>\(description.xml)</desc>",
            "<style>\(StyleSheet.text)</style>",
            "<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"\((width - 1).pixels)\" "
                + "height=\"\((height - 1).pixels)\" rx=\"8\"/>",
        ]
        return (head + elements + ["</svg>"]).joined(separator: "\n") + "\n"
    }
}

extension Double {
    /// The number with at most one decimal: `12.5` or `12`.
    var pixels: String {
        guard isFinite, abs(self) < 1e9 else { return "0" }
        let tenths = Int((self * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let size = abs(tenths)
        return sign + String(size / 10) + (size % 10 == 0 ? "" : ".\(size % 10)")
    }
}

extension String {
    /// The string as character data or a quoted attribute. Characters that XML forbids become
    /// U+FFFD.
    var xml: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            case "\t", "\n", "\r": text += " "
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

/// The frame of all charts: title and subtitle above the drawing, a note below it.
struct ChartFrame {
    static let width = 780.0
    static let margin = 24.0

    let title: String
    let subtitle: String?
    let note: String?

    static var inside: Double { width - 2 * margin }

    /// Draws the head, and returns the y at which the drawing may begin.
    func head(on canvas: inout Canvas) -> Double {
        var y = 18.0
        for line in title.lines(to: Self.inside, at: 17, bold: true) {
            y += 22
            canvas.text(line, x: Self.margin, y: y - 4, style: "title")
        }
        for line in (subtitle ?? "").lines(to: Self.inside, at: 13) {
            y += 18
            canvas.text(line, x: Self.margin, y: y, style: "subtitle")
        }
        return y + 16
    }

    /// Draws the note below `y`, and returns the height of the whole chart.
    func foot(below y: Double, on canvas: inout Canvas) -> Double {
        var y = y
        for line in (note ?? "").lines(to: Self.inside, at: 11.5) {
            y += 16
            canvas.text(line, x: Self.margin, y: y, style: "note")
        }
        return y + 18
    }

    /// Returns a chart that says that nothing was measured.
    func empty(_ kind: String) -> String {
        var canvas = Canvas()
        let y = head(on: &canvas)
        canvas.text("Nothing was measured.", x: Self.margin, y: y + 24, style: "empty")
        let height = foot(below: y + 36, on: &canvas)
        return canvas.document(
            width: Self.width, height: height, title: title,
            description: "\(kind). Nothing was measured.")
    }
}

/// The colours of charts. The hues differ in print, for people with colour blindness and on a dark
/// page.
enum StyleSheet {
    /// The number of hues before they repeat.
    static let hues = 8

    private struct Theme {
        let page, border, ink, muted, grid, axis, bar: String
        let hues: [String]

        /// The rules as CSS.
        var rules: [String] {
            [
                ".page{fill:\(page);stroke:\(border)}",
                ".title,.label,.value{fill:\(ink)}",
                ".subtitle,.tick,.note,.section,.detail,.axis-title,.empty{fill:\(muted)}",
                ".grid{stroke:\(grid)}",
                ".axis{stroke:\(axis)}",
                ".leader{stroke:\(muted)}",
                ".bar{fill:\(bar)}",
                ".bar.main{fill:\(hues[0])}",
            ]
                + hues.enumerated().flatMap { index, hue in
                    [
                        ".h\(index){stroke:\(hue)}", ".f\(index){fill:\(hue)}",
                        ".d\(index){fill:\(hue);stroke:\(page)}",
                    ]
                }
        }
    }

    private static let light = Theme(
        page: "#ffffff", border: "#d8dee4", ink: "#1f2328", muted: "#59636e", grid: "#e7ebef",
        axis: "#8c959f",
        bar: "#b3bdc9",
        hues: [
            "#1f62d0", "#bc5a00", "#1a7f45", "#8341bd", "#c2313f", "#0b7d88", "#80582b", "#59636e",
        ])

    private static let dark = Theme(
        page: "#0d1117", border: "#30363d", ink: "#e6edf3", muted: "#9da7b1", grid: "#21272e",
        axis: "#6e7681",
        bar: "#4a5462",
        hues: [
            "#5b9dff", "#f0994a", "#53c584", "#bd93f0", "#f47f7c", "#4cc3cd", "#cda673", "#9da7b1",
        ])

    static let text: String = {
        let shared = [
            "text{font-family:-apple-system,BlinkMacSystemFont,'Segoe UI','Noto Sans',Roboto,Helvetica,Arial,sans-serif;"
                + "font-variant-numeric:tabular-nums}",
            ".title{font-size:17px;font-weight:600}",
            ".subtitle,.label,.value,.empty{font-size:13px}",
            ".value{font-weight:600}",
            ".detail{font-size:12px;font-weight:400}",
            ".section{font-size:12px;font-weight:600}",
            ".tick,.axis-title,.note{font-size:11.5px}",
            ".series{font-size:12.5px;font-weight:600}",
            ".page,.grid,.axis,.leader{stroke-width:1}",
            ".leader{opacity:.5}",
            ".curve{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}",
            ".curve.main{stroke-width:3}",
            ".curve.again{stroke-dasharray:5 4}",
        ]
        let dark = Self.dark.rules.joined(separator: "\n")
        return "\n" + (shared + light.rules).joined(separator: "\n")
            + "\n@media (prefers-color-scheme:dark){\n\(dark)\n}\n"
    }()
}

// Estimates of the width of text: an SVG does not know its font, and texts must not overlap in any.

extension String {
    /// Returns the width in pixels at a font size, in a wide one of the usual sans-serif fonts: a
    /// text that fits by this estimate fits in the others too.
    func width(at size: Double, bold: Bool = false) -> Double {
        unicodeScalars.reduce(0) { $0 + $1.emWidth } * size * (bold ? 1.06 : 1)
    }

    /// Returns the string, or its beginning and an ellipsis if it is wider.
    func shortened(to width: Double, at size: Double) -> String {
        guard self.width(at: size) > width else { return self }
        var text = self
        while !text.isEmpty, (text + "…").width(at: size) > width { text.removeLast() }
        while text.last == " " { text.removeLast() }
        return text + "…"
    }

    /// Returns lines, broken between words. A word that is wider than a line is shortened.
    func lines(to width: Double, at size: Double, bold: Bool = false) -> [String] {
        var lines: [String] = []
        for word in split(whereSeparator: \.isWhitespace) {
            let longer = lines.last.map { $0 + " " + word }
            if let longer, longer.width(at: size, bold: bold) <= width {
                lines[lines.count - 1] = longer
            } else {
                lines.append(String(word).shortened(to: width, at: size * (bold ? 1.06 : 1)))
            }
        }
        return lines
    }
}

extension Unicode.Scalar {
    fileprivate var emWidth: Double {
        switch self {
        case "i", "j", "l", "I", ".", ",", ":", ";", "'", "|", "!": 0.31
        case "f", "t", "r", " ", "(", ")", "[", "]", "-", "/", "\"": 0.4
        case "m", "w", "M", "W", "@", "%", "…": 0.94
        case "A"..."Z", "&", "+", "×", "−", "=", "<", ">", "~": 0.72
        case "0"..."9", "a"..."z": 0.6
        default: value < 0x0300 ? 0.66 : properties.isCombining ? 0 : value < 0x1100 ? 0.7 : 1.05
        }
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isCombining: Bool {
        switch generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }
}
