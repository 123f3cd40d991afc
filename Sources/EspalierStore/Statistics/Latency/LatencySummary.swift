/// How long something took, in four figures.
///
/// ```swift
/// if let p99 = try cache.statistics().readLatency.p99, p99 > .milliseconds(2) { report(p99) }
/// ```
///
/// The quantiles are within a sixteenth, count and maximum exact; nil when nothing was counted.
/// Threading: a value. Cost: a few words. Errors: none.
public struct LatencySummary: Sendable, Hashable, Codable {
    public var count = 0
    /// Half took no longer.
    public var p50: Duration?
    /// All but one in a hundred took no longer.
    public var p99: Duration?
    public var maximum: Duration?

    public init() {}

    public init(_ histogram: LatencyHistogram) {
        count = histogram.count
        p50 = histogram.quantile(0.5)
        p99 = histogram.quantile(0.99)
        maximum = histogram.maximum
    }
}
