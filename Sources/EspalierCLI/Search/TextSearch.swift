#if CommandLine
import EspalierRecords

/// A text to find in other texts, byte by byte, or regardless of case.
///
/// Nothing is normalized: a composed "é" does not match a decomposed one. Case is folded by mapping
/// each scalar to upper and back to lower case, so that "Straße" matches "STRASSE" and "ΟΔΟΣ"
/// matches "οδος".
struct TextSearch: Sendable {
    let text: String
    let ignoresCase: Bool
    /// Whether only a whole text matches.
    let isExact: Bool
    private let needle: [UInt8]

    init(_ text: String, ignoresCase: Bool = false, isExact: Bool = false) {
        self.text = text
        self.ignoresCase = ignoresCase
        self.isExact = isExact
        needle = ignoresCase ? Self.folded(text) : Array(text.utf8)
    }

    func matches(_ other: String) -> Bool { place(in: other) != nil }

    /// Returns the range of the first match, or nil if there is none.
    func range(in other: String) -> Range<String.Index>? {
        guard let start = place(in: other) else { return nil }
        return index(ofByte: start, in: other)..<index(ofByte: start + needle.count, in: other)
    }

    /// Returns the byte offset of the first match in `other`, or in its folded form if case is
    /// ignored.
    private func place(in other: String) -> Int? {
        let bytes = ignoresCase ? Self.folded(other) : Array(other.utf8)
        guard !isExact else { return bytes == needle ? 0 : nil }
        return Self.place(of: needle, in: bytes)
    }

    /// Returns false if no text in `bytes`, which may hold other data too, can match.
    func mayStand(in bytes: [UInt8]) -> Bool {
        ignoresCase || Self.place(of: needle, in: bytes) != nil
    }

    // The search of the standard library takes ten times as long.
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

    /// Returns the index of the scalar of `other` at the offset `byte` of the folded form.
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
        // Chinese, Japanese and Korean have no case, and their Unicode properties would take most
        // of the time.
        let isCaseless =
            (0x2E80..<0xA000).contains(scalar.value) || (0xAC00..<0xD800).contains(scalar.value)
        if isCaseless { return Array(String(scalar).utf8) }
        return Array(scalar.properties.uppercaseMapping.lowercased().utf8)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

/// The value that `grep` searches for: a text in strings; if the text is a number, a boolean or
/// null in JSON, that value too.
struct ValueQuery: Sendable {
    let search: TextSearch
    private let literal: JSONValue?
    private let number: DecimalLiteral?

    init(_ search: TextSearch) {
        self.search = search
        switch search.text {
        case "null": (literal, number) = (.null, nil)
        case "true": (literal, number) = (true, nil)
        case "false": (literal, number) = (false, nil)
        default:
            literal = nil
            number = Self.number(search.text)
        }
    }

    /// Returns the number that `text` is. A text with white space is not a number.
    private static func number(_ text: String) -> DecimalLiteral? {
        guard text.utf8.allSatisfy(isPartOfNumber), (try? JSONParser.parse(Array(text.utf8))) != nil
        else { return nil }
        return DecimalLiteral(text.utf8)
    }

    /// Whether only strings can match.
    var isTextOnly: Bool { literal == nil && number == nil }

    /// Returns whether `value`, which is neither a container nor a reference, matches.
    func matches(_ value: RecordValue) -> Bool {
        switch value {
        case .string(let text): search.matches(text)
        case .null: literal == .null
        case .bool(let flag): literal == .bool(flag)
        case .integer(let value): equals("\(value)")
        case .unsigned(let value): equals("\(value)")
        // Matches the text of the 32 bits, and the text that `get` prints.
        case .float(let value): value.isFinite && (equals("\(value)") || equals("\(Double(value))"))
        case .double(let value): value.isFinite && equals("\(value)")
        case .decimal(let digits): equals(digits)
        case .wide: JSONNumber(value).map { equals($0.text ?? "") } ?? false
        case .absent, .bytes, .array, .map, .child: false
        }
    }

    /// Returns whether `digits` denote the number searched for.
    private func equals(_ digits: String) -> Bool {
        guard let number, digits.utf8.allSatisfy(Self.isPartOfNumber),
            digits.utf8.contains(where: \.isASCIIDigit)
        else { return false }
        let other = DecimalLiteral(digits.utf8)
        // 0 and -0 match.
        return other == number || (other.digits.isEmpty && number.digits.isEmpty)
    }

    /// Returns whether `byte` can occur in a JSON number. Stored digits may be `NaN`, for example.
    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || "+-.eE".utf8.contains(byte)
    }
}
#endif
