#if CommandLine
// Text from a cache can contain what a terminal obeys instead of showing: control characters move
// the cursor and rename the window, bidirectional controls reverse the text around them, and
// invisible characters hide a difference between two identifiers. Output to a terminal therefore
// has no character of these. Files and pipes get the text as it is stored.

extension Unicode.Scalar {
    /// Whether a terminal would obey the character or print nothing for it, instead of showing it.
    ///
    /// Tabs and newlines count as unprintable: where they belong, the caller keeps them. Zero-width
    /// joiners do not, because emoji and several scripts consist of them.
    var isUnprintable: Bool {
        // The Unicode properties take a hundred times as long.
        if value < 0x7F { return value < 0x20 }
        switch value {
        case 0x7F..<0xA0: return true
        case 0x200C, 0x200D: return false
        // Signs that enclose the digits after them. Unicode calls them format characters, but they
        // have a shape.
        case 0x0600...0x0605, 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD: return false
        default: break
        }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
            return true
        default: return false
        }
    }

    /// The escapes of JSON for the character: two of them beyond U+FFFF.
    var jsonEscape: String {
        UTF16.encode(self).map { units in
            units.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        } ?? ""
    }
}

extension String {
    /// The string with control characters replaced by the pictures that Unicode has for them, and
    /// other unprintable characters by U+FFFD, for text that no program reads back.
    var withVisibleControls: String {
        replacingUnprintable { scalar in
            switch scalar.value {
            case 0x00..<0x20: Unicode.Scalar(0x2400 + scalar.value).map { String($0) } ?? "\u{FFFD}"
            case 0x7F: "\u{2421}"
            default: "\u{FFFD}"
            }
        }
    }

    /// The string with unprintable characters as escapes of JSON, tabs and newlines apart.
    var withEscapedControls: String {
        replacingUnprintable { ["\t", "\n"].contains($0) ? String($0) : $0.jsonEscape }
    }

    private func replacingUnprintable(_ replacement: (Unicode.Scalar) -> String) -> String {
        guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
        var visible = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.isUnprintable {
                visible.append(contentsOf: replacement(scalar).unicodeScalars)
            } else {
                visible.append(scalar)
            }
        }
        return String(visible)
    }
}
#endif
