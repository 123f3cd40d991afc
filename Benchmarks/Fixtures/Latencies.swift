#if CommandLine
import Histogram

/// How long something took, each time: an HdrHistogram of nanoseconds with three digits.
///
///     var latencies = Latencies()
///     latencies.record(.microseconds(3))
///     latencies.microseconds(at: 99.9)  // 3.0
///
/// Percentiles are within a thousandth of what was recorded; the largest time is exact. The
/// library's own `LatencyHistogram` is within a sixteenth, which is too coarse for ratios of
/// medians (decision 24).
public struct Latencies: Sendable {
    private var histogram: Histogram<UInt64>
    private var largest: Duration = .zero

    /// A longer time counts as this long, except as the largest.
    private static let limit: UInt64 = 600_000_000_000

    public init() {
        histogram = Histogram(
            highestTrackableValue: Self.limit, numberOfSignificantValueDigits: .three)
    }

    /// How many times were recorded.
    public var count: Int { Int(histogram.totalCount) }

    public mutating func record(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        let nanoseconds =
            seconds < Int64(Self.limit / 1_000_000_000)
            ? UInt64(max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)) : Self.limit
        histogram.record(min(nanoseconds, Self.limit))
        largest = max(largest, time)
    }

    /// Adds what another histogram recorded.
    public mutating func add(_ other: Latencies) {
        histogram.add(other.histogram)
        largest = max(largest, other.largest)
    }

    /// Returns the time that so many percent did not exceed, in microseconds: the largest for 100,
    /// and nil if nothing was recorded.
    public func microseconds(at percentile: Double) -> Double? {
        guard count > 0 else { return nil }
        let largest = largest / .microseconds(1)
        // A bucket's upper end may lie beyond what was recorded.
        return percentile >= 100
            ? largest : min(Double(histogram.valueAtPercentile(percentile)) / 1_000, largest)
    }

    /// Percentiles and microseconds from the median on, as far as the count supports them: a
    /// thousand times have no p99.99.
    public var curve: [(percentile: Double, microseconds: Double)] {
        let known = [50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999].filter {
            Double(count) * (1 - $0 / 100) >= 1 - 1e-6
        }
        return (known + [100]).compactMap { percentile in
            microseconds(at: percentile).map { (percentile, $0) }
        }
    }
}
#endif
