#if CommandLine
import EspalierStore

/// One value of a report, independent of its format.
enum Cell: Sendable, Equatable {
    case text(String, TextStyle = .plain)
    case texts([String])
    case count(Int)
    /// Bytes.
    case size(Int)
    /// 0 to 1.
    case share(Double)
    case real(Double, decimals: Int)
    case flag(Bool)
    /// A flag that is seldom set. A table prints it only if it is set.
    case mark(Bool)
    /// A duration.
    case nanoseconds(Int)
    /// The time since an event.
    case seconds(Int)
    case nothing
    /// A cell with a JSON value of its own. Without one, the column is no member of the row.
    indirect case value(JSONValue?, shown: Cell)

    /// The text for a person.
    var shown: String {
        switch self {
        case .text(let text, _): text
        case .texts(let texts): texts.joined(separator: ", ")
        case .count(let count): String(count)
        case .size(let bytes): SizeArgument.formatted(bytes)
        case .share(let share): Self.formatted(share * 100, decimals: 1) + " %"
        case .real(let value, let decimals): Self.formatted(value, decimals: decimals)
        case .flag(let flag): flag ? "yes" : "no"
        case .mark(let flag): flag ? "yes" : ""
        case .nanoseconds(let nanoseconds): Self.shown(nanoseconds: nanoseconds)
        case .seconds(let seconds): Self.shown(seconds: seconds)
        case .nothing: ""
        case .value(_, let cell): cell.shown
        }
    }

    var style: TextStyle {
        switch self {
        case .text(_, let style): style
        case .value(_, let cell): cell.style
        default: .plain
        }
    }

    /// The value for a program: bytes as plain numbers, shares as fractions.
    var json: JSONValue? {
        switch self {
        case .text(let text, _): .string(text)
        case .texts(let texts): .strings(texts)
        case .count(let count), .size(let count), .nanoseconds(let count), .seconds(let count):
            .number(count)
        case .share(let value), .real(let value, _): .number(.double(value))
        case .flag(let flag), .mark(let flag): .bool(flag)
        case .nothing: .null
        case .value(let value, _): value
        }
    }

    /// The text for a program that reads CSV: as `json`, without quotation marks.
    var csv: String {
        switch self {
        case .text(let text, _): text
        case .texts(let texts): texts.joined(separator: " ")
        case .flag(let flag), .mark(let flag): flag ? "true" : "false"
        case .nothing: ""
        case .value(.number(let number)?, _): number.text ?? ""
        case .value(_, let cell): cell.csv
        case .count, .size, .share, .real, .nanoseconds, .seconds: json?.text ?? ""
        }
    }

    /// `850 ns`, `1.2 us`, `3.4 ms`, `1.2 s`, and from two minutes on as `shown(seconds:)`.
    private static func shown(nanoseconds: Int) -> String {
        guard nanoseconds >= 1_000 else { return "\(nanoseconds) ns" }
        var unit = 1_000
        var name = "us"
        for larger in ["ms", "s"] where nanoseconds >= unit * 1_000 - unit / 20 {
            unit *= 1_000
            name = larger
        }
        guard nanoseconds < 120_000_000_000 else {
            return shown(seconds: nanoseconds / 1_000_000_000)
        }
        return formatted(Double(nanoseconds) / Double(unit), decimals: 1) + " " + name
    }

    /// `42 s`, `3 min`, `5 h`, `12 d`: in the largest unit of which there are at least two.
    private static func shown(seconds: Int) -> String {
        let units = [(86_400, "d"), (3_600, "h"), (60, "min")]
        let (unit, name) = units.first { seconds >= 2 * $0.0 } ?? (1, "s")
        return "\(seconds / unit) \(name)"
    }

    /// Formats with a point before the decimals in every locale.
    private static func formatted(_ value: Double, decimals: Int) -> String {
        guard value.isFinite else { return "\(value)" }
        let scale = (0..<decimals).reduce(1.0) { scale, _ in scale * 10 }
        let (whole, rest) = (abs(value) * scale).rounded().quotientAndRemainder(scale)
        let sign = value < 0 && (whole, rest) != (0, 0) ? "-" : ""
        guard decimals > 0 else { return sign + Self.digits(whole) }
        let fraction = Self.digits(rest)
        return sign + Self.digits(whole) + "."
            + String(repeating: "0", count: decimals - fraction.count) + fraction
    }

    private static func digits(_ value: Double) -> String {
        Int64(exactly: value).map { String($0) } ?? "\(value)"
    }
}

extension Double {
    fileprivate func quotientAndRemainder(_ divisor: Double) -> (Double, Double) {
        let quotient = (self / divisor).rounded(.down)
        return (quotient, self - quotient * divisor)
    }
}

extension Cell {
    /// Returns the raw size divided by the stored size, or nothing if one of them is unknown.
    static func ratio(raw: Int?, stored: Int?) -> Cell {
        guard let raw, let stored, stored > 0 else { return .nothing }
        return .real(Double(raw) / Double(stored), decimals: 2)
    }

    // A value that is unknown is nothing.

    static func text(_ text: String?, _ style: TextStyle = .plain) -> Cell {
        text.map { .text($0, style) } ?? .nothing
    }

    static func count<Count: BinaryInteger>(_ count: Count?) -> Cell {
        count.map { .count(Int(clamping: $0)) } ?? .nothing
    }

    static func size(_ bytes: Int?) -> Cell { bytes.map { .size($0) } ?? .nothing }

    static func size(_ bytes: ByteCount) -> Cell { .size(bytes.bytes) }

    static func share(_ share: Double?) -> Cell { share.map { .share($0) } ?? .nothing }

    static func nanoseconds(_ duration: Duration?) -> Cell {
        duration.map { .nanoseconds(Int(clamping: $0.wholeNanoseconds)) } ?? .nothing
    }

    static func seconds(_ duration: Duration?) -> Cell {
        duration.map { .seconds(Int(clamping: $0.components.seconds)) } ?? .nothing
    }
}

extension Duration {
    /// The duration in nanoseconds. 128 bits, because 64 hold three centuries only.
    fileprivate var wholeNanoseconds: Int128 {
        Int128(components.seconds) * 1_000_000_000 + Int128(components.attoseconds / 1_000_000_000)
    }
}
#endif
