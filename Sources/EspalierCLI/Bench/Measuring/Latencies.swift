import EspalierCharts
import Histogram

/// How long something took, each time it was done: an HdrHistogram of nanoseconds with three
/// digits.
///
/// Example: `latencies.record(.microseconds(3))`, then `latencies.microseconds(at: 99.9)`.
struct Latencies: Sendable {
    private var histogram: Histogram<UInt64>
    private(set) var largest: Duration = .zero

    /// What took longer counts as this long, but for the largest.
    private static let limit: UInt64 = 600_000_000_000

    init() {
        histogram = Histogram(
            highestTrackableValue: Self.limit, numberOfSignificantValueDigits: .three)
    }

    var count: Int { Int(histogram.totalCount) }

    mutating func record(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        let nanoseconds =
            seconds < Int64(Self.limit / 1_000_000_000)
            ? UInt64(max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)) : Self.limit
        histogram.record(min(nanoseconds, Self.limit))
        largest = max(largest, time)
    }

    mutating func add(_ other: Latencies) {
        histogram.add(other.histogram)
        largest = max(largest, other.largest)
    }

    /// What so many percent did not exceed; the largest for 100; nil while there is none.
    func microseconds(at percentile: Double) -> Double? {
        guard count > 0 else { return nil }
        let largest = largest / .microseconds(1)
        // A bucket's upper end may lie beyond what was recorded.
        return percentile >= 100
            ? largest : min(Double(histogram.valueAtPercentile(percentile)) / 1_000, largest)
    }

    /// From the median on, as far as the count tells: of a thousand there is no p99.99.
    var curve: [PercentileChart.Point] {
        let told = [50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999].filter {
            Double(count) * (1 - $0 / 100) >= 1 - 1e-6
        }
        return (told + [100]).compactMap { percentile in
            microseconds(at: percentile).map { PercentileChart.Point(percentile, $0) }
        }
    }
}
