#if CommandLine
import EspalierRecords

/// A JSON value. Members keep their order, and numbers their kind and digits.
///
/// Values compare as their texts: strings by their bytes, not by Unicode equivalence, because names
/// that differ in bytes are different names in JSON.
enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])

    /// The value of the member `name`, or nil if there is none or the value is not an object.
    subscript(name: String) -> JSONValue? {
        members.first { $0.name.hasSameBytes(as: name) }?.value
    }

    static func number(_ number: some BinaryInteger) -> JSONValue { .number(JSONNumber(number)) }

    /// Returns a string, or null without a text.
    static func string(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    /// Returns an object with the members of two objects.
    static func + (left: JSONValue, right: JSONValue) -> JSONValue {
        .object(left.members + right.members)
    }

    /// The members of an object. Any other value has none.
    var members: [JSONMember] {
        if case .object(let members) = self { members } else { [] }
    }

    /// Returns whether the value, or an object or array in it at any depth, has a member `name`.
    func contains(member name: String) -> Bool {
        switch self {
        case .object(let members):
            members.contains { $0.name.hasSameBytes(as: name) || $0.value.contains(member: name) }
        case .array(let elements): elements.contains { $0.contains(member: name) }
        default: false
        }
    }

    /// The value on one line.
    var text: String { JSONWriter().string(from: self) }
}

extension JSONValue: Equatable {
    static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

/// A member of a JSON object.
struct JSONMember: Sendable {
    var name: String
    var value: JSONValue
}

extension JSONMember: Equatable {
    static func == (left: JSONMember, right: JSONMember) -> Bool {
        left.name.hasSameBytes(as: right.name) && left.value == right.value
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(nilLiteral: ()) { self = .null }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(integerLiteral value: Int64) { self = .number(.int(value)) }
    init(floatLiteral value: Double) { self = .number(.double(value)) }
    init(stringLiteral value: String) { self = .string(value) }
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { JSONMember(name: $0.0, value: $0.1) })
    }
}

/// A JSON number that keeps its kind, whole or not, and every digit.
enum JSONNumber: Sendable, Equatable {
    case int(Int64)

    /// Only above `Int64.max`.
    case uint(UInt64)

    /// Written with a fraction or an exponent (or as `-0`), and printed back as the same decimal
    /// number.
    case double(Double)

    /// The text of a number that none of the other cases holds unchanged, such as
    /// `12345678901234567890123`, `0.12345678901234567890123` or `1e400`.
    case literal(String)

    init<Integer: BinaryInteger>(_ value: Integer) {
        if let value = Int64(exactly: value) {
            self = .int(value)
        } else if let value = UInt64(exactly: value) {
            self = .uint(value)
        } else {
            self = .literal(String(value))
        }
    }

    /// The number as JSON writes it, or nil for an infinity or NaN, which JSON cannot write.
    var text: String? {
        switch self {
        case .int(let value): String(value)
        case .uint(let value): String(value)
        case .double(let value): value.isFinite ? value.description : nil
        case .literal(let text): text
        }
    }
}

/// A JSON number as `digits` × 10^`exponent`, without zeros at either end of the digits.
///
/// Tells whether a `Double` stands for a literal exactly: it does if the shortest text of the
/// `Double` denotes the same decimal number as the literal.
struct DecimalLiteral: Equatable {
    private(set) var isNegative = false
    private(set) var digits: [UInt8] = []
    private(set) var exponent = 0

    /// - Parameter text: a number in JSON's grammar.
    init(_ text: some Sequence<UInt8>) {
        var part = Part.whole
        var writtenExponent = 0
        var exponentIsNegative = false
        for byte in text {
            switch (byte, part) {
            case (UInt8(ascii: "-"), .exponent): exponentIsNegative = true
            case (UInt8(ascii: "-"), _): isNegative = true
            case (UInt8(ascii: "+"), _): break
            case (UInt8(ascii: "."), _): part = .fraction
            case (UInt8(ascii: "e"), _), (UInt8(ascii: "E"), _): part = .exponent
            case (_, .exponent):
                // Saturates: a larger exponent makes the Double zero or infinite for any digits.
                writtenExponent = min(writtenExponent * 10 + Int(byte - UInt8(ascii: "0")), 1 << 40)
            default:
                if part == .fraction { exponent -= 1 }
                if !digits.isEmpty || byte != UInt8(ascii: "0") {
                    digits.append(byte - UInt8(ascii: "0"))
                }
            }
        }
        exponent += exponentIsNegative ? -writtenExponent : writtenExponent
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        if digits.isEmpty { exponent = 0 }
    }

    private enum Part {
        case whole, fraction, exponent
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    /// The `Double` that prints as this number, or nil if finding it takes arithmetic of arbitrary
    /// precision.
    ///
    /// Up to 15 digits and 10^22 both factors are exact, so one multiplication or division rounds
    /// correctly (Clinger 1990), and no two decimals of 15 digits share a `Double`, so its shortest
    /// text can only be this number.
    var exactDouble: Double? {
        guard digits.count <= 15, abs(exponent) < Self.powersOfTen.count else { return nil }
        var mantissa: Int64 = 0
        for digit in digits { mantissa = mantissa * 10 + Int64(digit) }
        let power = Self.powersOfTen[abs(exponent)]
        let magnitude = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
        return isNegative ? -magnitude : magnitude
    }
}
#endif
