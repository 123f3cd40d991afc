import Foundation

/// The unit of a chart's values: `ChartUnit.microseconds.text(2_050)` is `2.05 ms`.
///
/// Values have three significant digits and a suitable prefix. A chart is read at a glance; exact
/// figures belong in a table.
public enum ChartUnit: Sendable, Hashable {
    /// Time, given in microseconds; written in ns, µs, ms or s.
    case microseconds
    /// Given in bytes; written in B, kB, MB, GB or TB, powers of ten.
    case bytes
    /// A part of one, written in percent.
    case share
    /// A factor, written as `2.1×`.
    case ratio
    /// A count, written as `10 k`.
    case count
    /// A count of named things, written as `12.5 k commits/s`.
    case named(String)

    /// Returns the value with its unit, or `no value` for NaN and infinities.
    public func text(_ value: Double) -> String {
        guard value.isFinite else { return "no value" }
        return NumberText(value, prefixes: prefixes).text
    }

    /// Returns the texts of the ticks of an axis. On a linear scale, all have the prefix of the
    /// largest tick and as many decimals.
    func labels(of ticks: [Double], on scale: ChartScale) -> [String] {
        func prefix(of value: Double) -> NumberText.Prefix {
            NumberText(value, prefixes: prefixes).prefix
        }
        switch scale {
        case .linear:
            return NumberText.aligned(ticks, prefix: prefix(of: ticks.map { abs($0) }.max() ?? 0))
        case .logarithmic:
            return ticks.flatMap { NumberText.aligned([$0], prefix: prefix(of: $0)) }
        }
    }

    private var prefixes: [NumberText.Prefix] {
        switch self {
        case .microseconds:
            [.init(1e-3, " ns"), .init(1, " µs"), .init(1e3, " ms"), .init(1e6, " s")]
        case .bytes:
            [
                .init(1, " B"), .init(1e3, " kB"), .init(1e6, " MB"), .init(1e9, " GB"),
                .init(1e12, " TB"),
            ]
        case .share: [.init(0.01, " %")]
        case .ratio: [.init(1, "×")]
        case .count: Self.thousands("")
        case .named(let name): Self.thousands(name.isEmpty ? "" : " " + name)
        }
    }

    private static func thousands(_ name: String) -> [NumberText.Prefix] {
        zip([1, 1e3, 1e6, 1e9, 1e12], ["", " k", " M", " G", " T"]).map {
            NumberText.Prefix($0, $1 + name)
        }
    }
}

/// A number of three significant digits, with the prefix that leaves one to three of them before
/// the point.
///
/// It does not use the formatters of the system, whose output depends on the language.
struct NumberText {
    struct Prefix {
        let factor: Double
        let suffix: String

        init(_ factor: Double, _ suffix: String) {
            self.factor = factor
            self.suffix = suffix
        }
    }

    let prefix: Prefix
    private let rounded: Double
    private let isWhole: Bool

    /// Larger numbers are written as powers of ten.
    private static let largest = 1e6

    /// - Parameter prefixes: At least one prefix, in ascending order.
    init(_ value: Double, prefixes: [Prefix]) {
        let unprefixed = Prefix(1, "")
        // Rounds first: 999.7 µs are 1 ms.
        let rounded = Self.rounded(value)
        let size = rounded == 0 ? 1 : abs(rounded)
        let fitting =
            prefixes.last { size >= $0.factor * (1 - 1e-9) } ?? prefixes.first ?? unprefixed
        let isBeyond = size / fitting.factor >= Self.largest
        prefix = isBeyond ? prefixes.first { $0.factor == 1 } ?? fitting : fitting
        self.rounded = rounded / prefix.factor
        isWhole =
            abs(value / prefix.factor) < Self.largest
            && (value / prefix.factor).rounded() == value / prefix.factor
    }

    var text: String {
        guard rounded != 0 else { return "0" + prefix.suffix }
        let size = abs(rounded)
        guard size < Self.largest, size >= 1e-3 else { return Self.power(rounded) + prefix.suffix }
        let decimals =
            isWhole
            ? 0 : size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.1 ? 2 : size >= 0.01 ? 3 : 4
        return Self.fixed(rounded, decimals: decimals) + prefix.suffix
    }

    /// Returns the texts of values with one prefix, and with as many decimals as any value needs.
    static func aligned(_ values: [Double], prefix: Prefix) -> [String] {
        let scaled = values.map { $0 / prefix.factor }
        guard scaled.allSatisfy({ abs($0) < largest }) else {
            return scaled.map { power($0) + prefix.suffix }
        }
        let decimals = (0...6).first { decimals in
            scaled.allSatisfy { value in
                let shifted = value * pow(10, Double(decimals))
                return abs(shifted - shifted.rounded()) < 1e-6 * max(1, abs(shifted))
            }
        }
        return scaled.map { value in
            value == 0 ? "0" : fixed(value, decimals: decimals ?? 6) + prefix.suffix
        }
    }

    private static func rounded(_ value: Double) -> Double {
        guard value != 0, value.isFinite else { return 0 }
        let unit = pow(10, floor(log10(abs(value))) - 2)
        // The unit of subnormal numbers is zero.
        guard unit > 0, unit.isFinite else { return value }
        let digits = (value / unit).rounded()
        // Divides by a whole number, because 0.01 * 55 is not 0.55.
        let rounded = unit < 1 ? digits / (1 / unit).rounded() : digits * unit
        return rounded.isFinite ? rounded : value
    }

    /// Returns the value with a number of decimals, such as `−12.50`.
    static func fixed(_ value: Double, decimals: Int) -> String {
        let scale = pow(10, Double(decimals))
        let whole = Int((abs(value) * scale).rounded())
        var digits = String(whole)
        if decimals > 0 {
            digits = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: -decimals))
        }
        return value < 0 && whole != 0 ? "−" + digits : digits
    }

    private static func power(_ value: Double) -> String {
        guard value != 0, value.isFinite else { return value == 0 ? "0" : "∞" }
        var exponent = Int(floor(log10(abs(value))))
        // Divides in two steps, because the power of subnormal numbers is zero.
        var mantissa =
            value / pow(10, Double(exponent / 2)) / pow(10, Double(exponent - exponent / 2))
        if abs(mantissa) >= 9.95 {
            mantissa /= 10
            exponent += 1
        }
        return fixed(mantissa, decimals: 1) + "e\(exponent)"
    }
}

extension Int {
    /// The number with a comma between thousands, whatever the language of the system: `12,000`.
    package var grouped: String {
        var digits = Array(String(magnitude))
        for index in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: index) }
        return (self < 0 ? "-" : "") + String(digits)
    }
}
