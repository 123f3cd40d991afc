// How wide text is, roughly: an SVG does not know its font, and nothing may overlap in any.

extension String {
    /// In pixels at a font size; of the wider of the usual sans-serif fonts, so that what fits by
    /// it does fit.
    func width(at size: Double, bold: Bool = false) -> Double {
        unicodeScalars.reduce(0) { $0 + $1.emWidth } * size * (bold ? 1.06 : 1)
    }

    /// With an ellipsis where it is wider.
    func shortened(to width: Double, at size: Double) -> String {
        guard self.width(at: size) > width else { return self }
        var text = self
        while !text.isEmpty, (text + "…").width(at: size) > width { text.removeLast() }
        while text.last == " " { text.removeLast() }
        return text + "…"
    }

    /// In lines, broken between words; a word that is wider than a line is shortened.
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
