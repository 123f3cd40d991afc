// Terminals give a character one column, two (East Asian wide, emoji) or none (combining marks,
// joiners). The wide ranges are those of Unicode's EastAsianWidth property W and F that are not
// emoji; the standard library knows the emoji, but not this property.

extension String {
    /// The width of this text in a terminal.
    var terminalColumns: Int {
        utf8.allSatisfy { (0x20..<0x7F).contains($0) }
            ? utf8.count : reduce(0) { $0 + $1.terminalColumns }
    }
}

extension Character {
    /// What one character on a screen, whatever number of scalars it is made of, takes up: 0, 1 or
    /// 2.
    var terminalColumns: Int {
        // Asking Unicode takes a hundred times as long.
        if utf8.count == 1, let byte = utf8.first { return (0x20..<0x7F).contains(byte) ? 1 : 0 }
        if unicodeScalars.contains(where: \.showsAsEmoji)
            || unicodeScalars.dropFirst().contains("\u{FE0F}")
        {
            return 2
        }
        return unicodeScalars.map(\.terminalColumns).max() ?? 0
    }
}

extension Unicode.Scalar {
    fileprivate var showsAsEmoji: Bool { properties.isEmojiPresentation }

    fileprivate var terminalColumns: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: 0
        default: Self.wideRanges.contains { $0.contains(value) } ? 2 : 1
        }
    }

    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F,  // Hangul initial consonants
        0x2E80...0x303E,  // CJK radicals and punctuation
        0x3041...0x33FF,  // kana, Bopomofo, Hangul compatibility, enclosed CJK
        0x3400...0x4DBF,  // CJK extension A
        0x4E00...0x9FFF,  // CJK unified ideographs
        0xA000...0xA4CF,  // Yi
        0xA960...0xA97F,  // Hangul extended A
        0xAC00...0xD7A3,  // Hangul syllables
        0xF900...0xFAFF,  // CJK compatibility ideographs
        0xFE10...0xFE19,  // vertical forms
        0xFE30...0xFE6F,  // CJK compatibility and small forms
        0xFF00...0xFF60,  // full-width forms
        0xFFE0...0xFFE6,  // full-width signs
        0x16FE0...0x18DFF,  // Tangut, Khitan
        0x1AFF0...0x1B2FF,  // kana supplements, Nushu
        0x20000...0x3FFFD,  // CJK extensions B and later
    ]
}
