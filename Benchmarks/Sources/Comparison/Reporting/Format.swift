import Foundation

/// Writes numbers with three significant figures.
enum Format {
    static func microseconds(_ value: Double) -> String { grouped(value) }

    static func ratio(_ value: Double) -> String { value.isFinite ? threeFigures(value) : "–" }

    static func bytes(_ value: Double) -> String {
        value >= 1e9 ? threeFigures(value / 1e9) + " GB" : threeFigures(value / 1e6) + " MB"
    }

    static func mebibytes(_ value: Int) -> String {
        threeFigures(Double(value) / Double(1 << 20)) + " MiB"
    }

    static func count(_ value: Int) -> String { grouped(Double(value)) }

    static func percent(_ share: Double) -> String { String(format: "%.1f %%", share * 100) }

    static func value(_ value: Double, _ unit: Unit) -> String {
        switch unit {
        case .microseconds, .perSecond: grouped(value)
        case .bytes: bytes(value)
        }
    }

    private static func threeFigures(_ value: Double) -> String {
        switch abs(value) {
        case 100...: String(format: "%.0f", value)
        case 10..<100: String(format: "%.1f", value)
        default: String(format: "%.2f", value)
        }
    }

    private static func grouped(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        guard value >= 1_000 else { return threeFigures(value) }
        var digits = String(Int(value.rounded()))
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }
}
