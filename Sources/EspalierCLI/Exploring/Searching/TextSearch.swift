/// A text to be found in others, byte by byte; or by letter, whatever its case.
///
/// Nothing is normalized: "é" composed is not found in a decomposed one. Case is folded as Unicode
/// maps each scalar to upper and back to lower case, so that "Straße" is found in "STRASSE" and
/// "ΟΔΟΣ" in "οδος".
struct TextSearch: Sendable {
    let text: String
    let ignoresCase: Bool
    /// Whether all of a text has to be the one searched for.
    let isExact: Bool
    private let needle: [UInt8]

    init(_ text: String, ignoresCase: Bool = false, isExact: Bool = false) {
        self.text = text
        self.ignoresCase = ignoresCase
        self.isExact = isExact
        needle = ignoresCase ? Self.folded(text) : Array(text.utf8)
    }

    func matches(_ other: String) -> Bool { place(in: other) != nil }

    /// Where it stands first; nil if nowhere.
    func range(in other: String) -> Range<String.Index>? {
        guard let start = place(in: other) else { return nil }
        return index(ofByte: start, in: other)..<index(ofByte: start + needle.count, in: other)
    }

    /// The byte at which it starts in `other`, folded where case is ignored.
    private func place(in other: String) -> Int? {
        let bytes = ignoresCase ? Self.folded(other) : Array(other.utf8)
        guard !isExact else { return bytes == needle ? 0 : nil }
        return Self.place(of: needle, in: bytes)
    }

    /// Whether it stands in `bytes`, among others that are no text: false only where it is in no
    /// text there.
    func mayStand(in bytes: [UInt8]) -> Bool {
        ignoresCase || Self.place(of: needle, in: bytes) != nil
    }

    // The standard library's search took ten times as long.
    private static func place(of needle: [UInt8], in bytes: [UInt8]) -> Int? {
        guard let first = needle.first else { return 0 }
        var start = 0
        while start <= bytes.count - needle.count {
            if bytes[start] == first,
                (1..<needle.count).allSatisfy({ bytes[start + $0] == needle[$0] })
            {
                return start
            }
            start += 1
        }
        return nil
    }

    /// The scalar of `other` whose folded form byte `byte` belongs to, or that follows it.
    private func index(ofByte byte: Int, in other: String) -> String.Index {
        guard ignoresCase else { return other.utf8.index(other.startIndex, offsetBy: byte) }
        var reached = 0
        let scalars = other.unicodeScalars
        return scalars.indices.first { index in
            guard reached < byte else { return true }
            reached += Self.folded(scalars[index]).count
            return false
        } ?? other.endIndex
    }

    // MARK: Case

    static func folded(_ text: String) -> [UInt8] {
        var folded: [UInt8] = []
        folded.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                folded.append(lowercased(UInt8(truncatingIfNeeded: scalar.value)))
            } else {
                folded.append(contentsOf: Self.folded(scalar))
            }
        }
        return folded
    }

    private static func folded(_ scalar: Unicode.Scalar) -> [UInt8] {
        // Chinese, Japanese and Korean have no case, and asking for it takes longer than all the
        // rest.
        let isCaseless =
            (0x2E80..<0xA000).contains(scalar.value) || (0xAC00..<0xD800).contains(scalar.value)
        if isCaseless { return Array(String(scalar).utf8) }
        return Array(scalar.properties.uppercaseMapping.lowercased().utf8)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
