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
        // What was shortened is shown whole where somebody points at it.
        let tip = full.map { $0 == text ? "" : "<title>\($0.xml)</title>" } ?? ""
        elements.append(
            "<text class=\"\(style)\" x=\"\(x.pixels)\" y=\"\(y.pixels)\"\(anchorText)>\(tip)\(text.xml)</text>"
        )
    }

    /// With a word in another style behind it.
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

    /// The whole document, whose title and description are for those who do not see it.
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
    /// As `12.5` or `12`.
    var pixels: String {
        guard isFinite, abs(self) < 1e9 else { return "0" }
        let tenths = Int((self * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let size = abs(tenths)
        return sign + String(size / 10) + (size % 10 == 0 ? "" : ".\(size % 10)")
    }
}

extension String {
    /// As character data or a quoted attribute; what no XML document may contain becomes U+FFFD.
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
