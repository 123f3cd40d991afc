/// How often something took how long.
///
/// ```swift
/// var histogram = LatencyHistogram()
/// histogram.record(clock.measure { work() })
/// print(histogram.quantile(0.99) ?? .zero, histogram.maximum ?? .zero)
/// ```
///
/// Buckets grow with what they count, after Gil Tene's HdrHistogram: one for each nanosecond below
/// 16, then eight of equal width for each doubling, up to 2.4 hours; longer times are counted in
/// the last. A quantile is the middle of its bucket, so it is off by a sixteenth at most. Count and
/// maximum are exact.
///
/// Threading: a value. Cost: recording takes a few nanoseconds and allocates nothing after the
/// first time; 2.6 kB. Errors: none; negative times count as zero.
public struct LatencyHistogram: Sendable, Hashable {
    /// Buckets of a nanosecond each, before those of an eighth of a doubling.
    private static let exact = 16
    private static let exactBits = 4
    private static let share = 3
    static let bucketCount = exact + (43 - exactBits) << share

    // One array for all that are empty: making one costs nothing.
    private static let zeros = [UInt64](repeating: 0, count: bucketCount)

    private(set) var counts = Self.zeros
    private var total: UInt64 = 0
    private(set) var longest: UInt64 = 0

    public init() {}

    /// How many times were recorded.
    public var count: Int { Int(clamping: total) }

    public var isEmpty: Bool { total == 0 }

    /// The longest; nil when nothing was recorded.
    public var maximum: Duration? { isEmpty ? nil : .nanoseconds(Int64(clamping: longest)) }

    @inline(__always)
    public mutating func record(_ duration: Duration) {
        record(nanoseconds: duration.wholeNanoseconds)
    }

    @inline(__always)
    public mutating func record(nanoseconds: UInt64) {
        counts[Self.bucket(of: nanoseconds)] &+= 1
        total &+= 1
        if nanoseconds > longest { longest = nanoseconds }
    }

    /// Adds what another one recorded.
    public mutating func merge(_ other: LatencyHistogram) {
        guard !other.isEmpty else { return }
        for bucket in counts.indices where other.counts[bucket] > 0 {
            add(other.counts[bucket], to: bucket)
        }
        raise(longest: other.longest)
    }

    /// The time that the share `quantile` (0 to 1) of what was recorded did not exceed; nil when
    /// nothing was recorded.
    public func quantile(_ quantile: Double) -> Duration? {
        guard !isEmpty else { return nil }
        // A share that is no number is taken for 0.
        let wanted = (Double(total) * (quantile > 0 ? min(quantile, 1) : 0)).rounded(.up)
        let rank = max(1, UInt64(exactly: wanted) ?? total)
        guard rank < total else { return maximum }
        var seen: UInt64 = 0
        for bucket in counts.indices {
            seen = seen.addingClamped(counts[bucket])
            if seen >= rank {
                return .nanoseconds(Int64(clamping: min(Self.middle(of: bucket), longest)))
            }
        }
        return maximum
    }

    // MARK: Buckets

    @inline(__always)
    static func bucket(of nanoseconds: UInt64) -> Int {
        guard nanoseconds >= exact else { return Int(nanoseconds) }
        let exponent = 63 - nanoseconds.leadingZeroBitCount
        let eighth =
            Int(truncatingIfNeeded: nanoseconds >> UInt64(exponent - share)) & (1 << share - 1)
        return min(exact + (exponent - exactBits) << share + eighth, bucketCount - 1)
    }

    /// The shortest time of a bucket, and how many nanoseconds long it is.
    static func extent(of bucket: Int) -> (start: UInt64, width: UInt64) {
        guard bucket >= exact else { return (UInt64(bucket), 1) }
        let (doubling, eighth) = (bucket - exact).quotientAndRemainder(dividingBy: 1 << share)
        let width = UInt64(1) << UInt64(doubling + exactBits - share)
        return (UInt64(1 << share + eighth) * width, width)
    }

    private static func middle(of bucket: Int) -> UInt64 {
        let (start, width) = extent(of: bucket)
        return start + width / 2
    }

    mutating func add(_ count: UInt64, to bucket: Int) {
        counts[bucket] = counts[bucket].addingClamped(count)
        total = total.addingClamped(count)
    }

    mutating func raise(longest other: UInt64) { longest = max(longest, other) }

    /// The same in memory of its own, so that the next time recorded in this one need not move it.
    func separated() -> LatencyHistogram {
        var copy = self
        copy.counts = counts.map { $0 }
        return copy
    }
}

extension LatencyHistogram: CustomStringConvertible {
    public var description: String {
        guard let half = quantile(0.5), let most = quantile(0.99), let maximum else {
            return "nothing recorded"
        }
        return "\(count) recorded, p50 \(half), p99 \(most), maximum \(maximum)"
    }
}

extension UInt64 {
    /// The sum, or the largest number: counters stay where they are rather than begin anew, or trap
    /// on damage.
    @inline(__always)
    func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }
}

extension Duration {
    /// Rounded down; 0 for negative ones, and no more than fits.
    @inline(__always)
    var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (nanoseconds, isTooMuch) = UInt64(seconds).multipliedReportingOverflow(
            by: 1_000_000_000)
        return isTooMuch ? .max : nanoseconds.addingClamped(UInt64(attoseconds) / 1_000_000_000)
    }
}
