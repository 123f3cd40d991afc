import Foundation

/// Where percentiles stand: by the logarithm of what is left above them, so that 90, 99 and 99.9
/// are equally far apart.
struct PercentileScale {
    private let lower: Double
    /// Of the last percentile below 100.
    private let last: Double
    private let hasMaximum: Bool

    private static let named: [(Double, String)] = [
        (0, "min"), (50, "p50"), (90, "p90"), (99, "p99"), (99.9, "p99.9"), (99.99, "p99.99"),
        (99.999, "p99.999"),
        (99.9999, "p99.9999"), (100, "max"),
    ]

    /// What `max` has to itself.
    private static let maximumRoom = 0.5

    /// From p50, or the lowest of them if that is lower; to the highest.
    init(_ percentiles: [Double]) {
        let nines = percentiles.filter { $0 < 100 }.map(Self.nines)
        lower = min(nines.min() ?? .infinity, Self.nines(50))
        last = max(nines.max() ?? 0, Self.nines(90))
        hasMaximum = percentiles.contains(100)
    }

    private var upper: Double { last + (hasMaximum ? Self.maximumRoom : 0) }

    /// From 0 to 1; nil for what is no percentile.
    func position(of percentile: Double) -> Double? {
        guard (0...100).contains(percentile) else { return nil }
        let place = percentile == 100 ? upper : Self.nines(percentile)
        return min(max((place - lower) / (upper - lower), 0), 1)
    }

    var ticks: [(position: Double, label: String)] {
        Self.named.compactMap { percentile, name in
            let isShown =
                percentile == 100
                ? hasMaximum : (lower...last + 1e-9).contains(Self.nines(percentile))
            guard isShown, let position = position(of: percentile) else { return nil }
            return (position: position, label: name)
        }
    }

    static func name(of percentile: Double) -> String {
        named.first { $0.0 == percentile }?.1 ?? "p" + ChartUnit.count.text(percentile)
    }

    /// 1 for 90, 2 for 99; at most 9, where doubles end to tell.
    private static func nines(_ percentile: Double) -> Double {
        -log10(max(1 - percentile / 100, 1e-9))
    }
}
