import EspalierRecords

/// What `grep` looks for: a text in strings; and where it is written as JSON writes a number, a
/// boolean or null, that value.
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

    /// JSON allows white space around a number; a text with that in it is a text.
    private static func number(_ text: String) -> DecimalLiteral? {
        guard text.utf8.allSatisfy(isPartOfNumber), (try? JSONParser.parse(Array(text.utf8))) != nil
        else { return nil }
        return DecimalLiteral(text.utf8)
    }

    /// Whether strings are all it can be found in.
    var isTextOnly: Bool { literal == nil && number == nil }

    /// Whether a value that is neither a container nor a reference is one.
    func matches(_ value: RecordValue) -> Bool {
        switch value {
        case .string(let text): search.matches(text)
        case .null: literal == .null
        case .bool(let flag): literal == .bool(flag)
        case .integer(let value): equals("\(value)")
        case .unsigned(let value): equals("\(value)")
        // As it was written, and as `get` prints it.
        case .float(let value): value.isFinite && (equals("\(value)") || equals("\(Double(value))"))
        case .double(let value): value.isFinite && equals("\(value)")
        case .decimal(let digits): equals(digits)
        case .wide: JSONNumber(value).map { equals($0.text ?? "") } ?? false
        case .absent, .bytes, .array, .map, .child: false
        }
    }

    /// Whether `digits` are the number looked for, however it is written.
    private func equals(_ digits: String) -> Bool {
        guard let number, digits.utf8.allSatisfy(Self.isPartOfNumber),
            digits.utf8.contains(where: \.isASCIIDigit)
        else { return false }
        let other = DecimalLiteral(digits.utf8)
        // There is one zero, whatever its sign.
        return other == number || (other.digits.isEmpty && number.digits.isEmpty)
    }

    /// Other programs store digits that are no number to JSON, such as NaN.
    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || "+-.eE".utf8.contains(byte)
    }
}
