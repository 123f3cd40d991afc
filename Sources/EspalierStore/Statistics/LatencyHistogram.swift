import EspalierRecords

/// The distribution of the durations of something.
///
/// ```swift
/// var histogram = LatencyHistogram()
/// histogram.record(clock.measure { work() })
/// print(histogram.quantile(0.99) ?? .zero, histogram.maximum ?? .zero)
/// ```
///
/// The width of the buckets grows with the duration, as in Gil Tene's HdrHistogram: one bucket for
/// each nanosecond below 16, then eight of equal width for each doubling, up to 2.4 hours; the last
/// bucket counts longer durations, too. A quantile is the middle of its bucket, so its error is at
/// most a sixteenth. Count and maximum are exact. Negative durations count as zero.
///
/// A histogram takes 2.6 kB. Recording takes a few nanoseconds, and only the first one allocates.
public struct LatencyHistogram: Sendable, Hashable {
    /// The number of buckets of one nanosecond, which precede those of an eighth of a doubling.
    private static let exact = 16
    private static let exactBits = 4
    private static let share = 3
    static let bucketCount = exact + (43 - exactBits) << share

    // All empty histograms share one array, so that creating one allocates nothing.
    private static let zeros = [UInt64](repeating: 0, count: bucketCount)

    private(set) var counts = Self.zeros
    private var total: UInt64 = 0
    private(set) var longest: UInt64 = 0

    /// Creates an empty histogram.
    public init() {}

    /// The number of durations recorded.
    public var count: Int { Int(clamping: total) }

    /// Whether no duration was recorded.
    public var isEmpty: Bool { total == 0 }

    /// The longest duration; nil when none was recorded.
    public var maximum: Duration? { isEmpty ? nil : .nanoseconds(Int64(clamping: longest)) }

    /// Records a duration.
    @inline(__always)
    public mutating func record(_ duration: Duration) {
        record(nanoseconds: duration.wholeNanoseconds)
    }

    /// Records a duration in nanoseconds.
    @inline(__always)
    public mutating func record(nanoseconds: UInt64) {
        counts[Self.bucket(of: nanoseconds)] &+= 1
        total &+= 1
        if nanoseconds > longest { longest = nanoseconds }
    }

    /// Adds the durations of another histogram.
    ///
    /// - Complexity: O(*b*) in the number of buckets, 328.
    public mutating func merge(_ other: LatencyHistogram) {
        guard !other.isEmpty else { return }
        for bucket in counts.indices where other.counts[bucket] > 0 {
            add(other.counts[bucket], to: bucket)
        }
        raise(longest: other.longest)
    }

    /// Returns the durations since an earlier state of this histogram; all of them if it was reset
    /// meanwhile.
    ///
    /// The maximum is the end of the last bucket, unless the longest of all durations is below it:
    /// that one may be older.
    package func since(_ earlier: LatencyHistogram) -> LatencyHistogram {
        guard counts.indices.allSatisfy({ counts[$0] >= earlier.counts[$0] }) else { return self }
        var difference = LatencyHistogram()
        for bucket in counts.indices where counts[bucket] > earlier.counts[bucket] {
            difference.add(counts[bucket] - earlier.counts[bucket], to: bucket)
            let (start, width) = Self.extent(of: bucket)
            difference.longest = min(longest, start + width - 1)
        }
        return difference
    }

    /// Returns the duration that the share `quantile` of the durations does not exceed.
    ///
    /// - Parameter quantile: From 0 to 1. Other values count as the nearest of these, and NaN as 0.
    /// - Returns: The duration, within a sixteenth; nil when none was recorded.
    /// - Complexity: O(*b*) in the number of buckets, 328.
    public func quantile(_ quantile: Double) -> Duration? {
        guard !isEmpty else { return nil }
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

    // MARK: - Buckets

    @inline(__always)
    static func bucket(of nanoseconds: UInt64) -> Int {
        guard nanoseconds >= exact else { return Int(nanoseconds) }
        let exponent = 63 - nanoseconds.leadingZeroBitCount
        let eighth =
            Int(truncatingIfNeeded: nanoseconds >> UInt64(exponent - share)) & (1 << share - 1)
        return min(exact + (exponent - exactBits) << share + eighth, bucketCount - 1)
    }

    /// Returns the shortest duration of a bucket, and the width of the bucket in nanoseconds.
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

    /// Returns a copy that shares no memory with this histogram, so that the next recording in this
    /// one copies nothing.
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

/// The distribution of durations in four figures.
///
/// ```swift
/// if let p99 = try cache.statistics().readLatency.p99, p99 > .milliseconds(2) { report(p99) }
/// ```
///
/// Quantiles are within a sixteenth; count and maximum are exact. All durations are nil when the
/// count is 0.
public struct LatencySummary: Sendable, Hashable, Codable {
    /// The number of durations.
    public var count = 0
    /// The duration that half of the durations do not exceed.
    public var p50: Duration?
    /// The duration that 99 of 100 durations do not exceed.
    public var p99: Duration?
    /// The longest duration.
    public var maximum: Duration?

    /// Creates the summary of no durations.
    public init() {}

    /// Creates the summary of a histogram.
    public init(_ histogram: LatencyHistogram) {
        count = histogram.count
        p50 = histogram.quantile(0.5)
        p99 = histogram.quantile(0.99)
        maximum = histogram.maximum
    }
}

// MARK: - Stored form

/// The stored form, of some hundred bytes:
///
///     histogram = coarseness (varint), longest (varint), count of entries (varint), entries
///     entry     = buckets passed over (varint), count (varint)
///
/// Coarseness c joins 2^c neighbouring buckets. The smallest one is used that stays within the
/// limit; c = 3 always does.
extension LatencyHistogram {
    static let longestForm = 576
    private static let coarsest = 3

    func append(to writer: inout ByteWriter) {
        for coarseness in 0...Self.coarsest {
            let form = form(coarseness)
            if form.count <= Self.longestForm || coarseness == Self.coarsest {
                return writer.append(form)
            }
        }
    }

    private func form(_ coarseness: Int) -> [UInt8] {
        var entries = ByteWriter(capacity: 256)
        var entryCount: UInt64 = 0
        var next = 0
        for (group, count) in groups(coarseness) {
            entries.append(varint: UInt64(group - next))
            entries.append(varint: count)
            entryCount += 1
            next = group + 1
        }
        var writer = ByteWriter(capacity: entries.count + 16)
        writer.append(varint: UInt64(coarseness))
        writer.append(varint: longest)
        writer.append(varint: entryCount)
        writer.append(entries)
        return writer.bytes
    }

    private func groups(_ coarseness: Int) -> [(group: Int, count: UInt64)] {
        var groups: [(group: Int, count: UInt64)] = []
        for bucket in counts.indices where counts[bucket] > 0 {
            let group = bucket >> coarseness
            if let last = groups.last, last.group == group {
                groups[groups.count - 1].count = last.count.addingClamped(counts[bucket])
            } else {
                groups.append((group, counts[bucket]))
            }
        }
        return groups
    }

    init(reading reader: inout ByteReader) throws(FormatError) {
        self.init()
        let coarseness = try reader.varint()
        guard coarseness <= UInt64(Self.coarsest) else {
            throw .malformed("a histogram of unknown coarseness")
        }
        let longest = try reader.varint()
        var next: UInt64 = 0
        for _ in 0..<(try reader.count(ofAtLeast: 2)) {
            let group = next.addingClamped(try reader.varint())
            // The middle one of the joined buckets.
            let half: UInt64 = coarseness == 0 ? 0 : 1 << (coarseness - 1)
            guard group < UInt64(Self.bucketCount) >> coarseness else {
                throw .malformed("a histogram's bucket is out of range")
            }
            add(try reader.varint(), to: Int(group << coarseness + half))
            next = group + 1
        }
        // A histogram without entries is empty, whatever its longest duration says.
        if !isEmpty { raise(longest: longest) }
    }
}

/// Encoded as the longest duration and the counts of the buckets that are not empty, each under its
/// shortest duration, all in nanoseconds.
extension LatencyHistogram: Codable {
    private enum CodingKeys: String, CodingKey {
        case maximum, buckets
    }

    public func encode(to encoder: any Encoder) throws {
        var buckets: [String: UInt64] = [:]
        for bucket in counts.indices where counts[bucket] > 0 {
            buckets[String(Self.extent(of: bucket).start)] = counts[bucket]
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(longest, forKey: .maximum)
        try container.encode(buckets, forKey: .buckets)
    }

    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        for (start, count) in try container.decode([String: UInt64].self, forKey: .buckets) {
            guard let start = UInt64(start) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .buckets, in: container,
                    debugDescription: "The name of a bucket must be a number of nanoseconds.")
            }
            add(count, to: Self.bucket(of: start))
        }
        let longest = try container.decode(UInt64.self, forKey: .maximum)
        if !isEmpty { raise(longest: longest) }
    }
}

// MARK: - Arithmetic

extension UInt64 {
    /// Returns the sum, or the largest number: counters must neither wrap around nor trap on
    /// damage.
    @inline(__always)
    func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }
}

extension Duration {
    /// The nanoseconds, rounded down; 0 for a negative duration, and at most the largest number.
    @inline(__always)
    var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (nanoseconds, isTooMuch) = UInt64(seconds).multipliedReportingOverflow(
            by: 1_000_000_000)
        return isTooMuch ? .max : nanoseconds.addingClamped(UInt64(attoseconds) / 1_000_000_000)
    }

    fileprivate static func roundedToNanoseconds(seconds: Double) -> Duration {
        let nanoseconds = (seconds * 1e9).rounded()
        return Int64(exactly: nanoseconds).map { .nanoseconds($0) } ?? .seconds(seconds)
    }
}

// The conformances that the compiler writes for statistics call these functions, so that durations
// are numbers of seconds. Otherwise each would be two integers, of which one counts 10^-18 seconds.

extension KeyedEncodingContainer {
    mutating func encode(_ value: Duration, forKey key: Key) throws {
        try encode(value / .seconds(1), forKey: key)
    }

    mutating func encodeIfPresent(_ value: Duration?, forKey key: Key) throws {
        try encodeIfPresent(value.map { $0 / .seconds(1) }, forKey: key)
    }
}

extension KeyedDecodingContainer {
    func decode(_ type: Duration.Type, forKey key: Key) throws -> Duration {
        .roundedToNanoseconds(seconds: try decode(Double.self, forKey: key))
    }

    func decodeIfPresent(_ type: Duration.Type, forKey key: Key) throws -> Duration? {
        try decodeIfPresent(Double.self, forKey: key).map(Duration.roundedToNanoseconds)
    }
}
