/// What the values of a chart are, and so how they are written:
/// `ChartUnit.microseconds.text(2_050)` is `2.05 ms`.
///
/// Three significant digits, and the prefix that suits: a chart is to be read at a glance, exact
/// figures belong in a table.
public enum ChartUnit: Sendable, Hashable {
    /// Time, given in microseconds; written in ns, µs, ms or s.
    case microseconds
    /// Given in bytes; written in B, kB, MB, GB or TB, powers of ten.
    case bytes
    /// A part of one, written in percent.
    case share
    /// How many times something, written as `2.1×`.
    case ratio
    /// How many, written as `10 k`.
    case count
    /// A number of what is named, as `12.5 k commits/s`.
    case named(String)

    /// The value with its unit; `no value` for NaN and infinities.
    public func text(_ value: Double) -> String {
        guard value.isFinite else { return "no value" }
        return NumberText(value, prefixes: prefixes).text
    }

    /// The same for the ticks of one axis: where steps are equal, all have the prefix of the
    /// largest and as many decimals.
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
