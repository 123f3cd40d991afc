/// One value of a report: what it is, not how it looks.
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
    /// A flag that is seldom set: a person sees it only where it is.
    case mark(Bool)
    /// How long something took.
    case nanoseconds(Int)
    /// How long ago something was.
    case seconds(Int)
    case nothing
}

extension Cell {
    /// For a person.
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
        }
    }

    var style: TextStyle {
        if case .text(_, let style) = self { style } else { .plain }
    }

    /// For a program: bytes as plain numbers, shares as fractions.
    var json: JSONValue {
        switch self {
        case .text(let text, _): .string(text)
        case .texts(let texts): .array(texts.map { .string($0) })
        case .count(let count), .size(let count), .nanoseconds(let count), .seconds(let count):
            .number(JSONNumber(count))
        case .share(let value), .real(let value, _): .number(.double(value))
        case .flag(let flag), .mark(let flag): .bool(flag)
        case .nothing: .null
        }
    }

    /// For a program that reads lines: as `json`, without quotation marks.
    var csv: String {
        switch self {
        case .text(let text, _): text
        case .texts(let texts): texts.joined(separator: " ")
        case .flag(let flag), .mark(let flag): flag ? "true" : "false"
        case .nothing: ""
        case .count, .size, .share, .real, .nanoseconds, .seconds: JSONWriter().string(from: json)
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

    /// `42 s`, `3 min`, `5 h`, `12 d`: the largest unit of which there are two.
    private static func shown(seconds: Int) -> String {
        let units = [(86_400, "d"), (3_600, "h"), (60, "min")]
        let (unit, name) = units.first { seconds >= 2 * $0.0 } ?? (1, "s")
        return "\(seconds / unit) \(name)"
    }

    /// A point before the decimals, whatever the language of the system.
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
