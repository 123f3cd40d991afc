#if Server
public import EspalierStore
public import Metrics
import Synchronization

/// Reports the statistics of a cache to swift-metrics.
///
/// ```swift
/// let metrics = CacheMetrics(cache)
/// try await metrics.run(every: .seconds(10))  // a task of its own, until it is cancelled
/// ```
///
/// The names are those of ``CacheStatistics/prometheusText(prefix:labels:)``: gauges such as
/// `espalier_pending_writes`, and counters such as `espalier_hits_total`. A counter begins with the
/// first report: it has what happened since then, in all processes that use the cache. So one
/// process of a server reports, or each adds a dimension of its own and no query adds them up.
public final class CacheMetrics: Sendable {
    private let cache: NormalizedCache
    private let prefix: String
    private let dimensions: [(String, String)]
    private let factory: any MetricsFactory
    private let recorders = Mutex(Recorders())

    private struct Recorders {
        var gauges: [String: Gauge] = [:]
        var counters: [String: Metrics.Counter] = [:]
        /// The values of the last report.
        var last: [String: Double]?
    }

    /// Creates a reporter. It keeps the cache open.
    ///
    /// - Parameters:
    ///   - cache: The cache.
    ///   - prefix: What the names of the metrics begin with.
    ///   - dimensions: Dimensions of every metric, for example the name of the cache.
    ///   - factory: Where the metrics go; by default, the factory that the program has set.
    public init(
        _ cache: NormalizedCache, prefix: String = "espalier",
        dimensions: [(String, String)] = [], factory: (any MetricsFactory)? = nil
    ) {
        self.cache = cache
        self.prefix = prefix
        self.dimensions = dimensions
        self.factory = factory ?? MetricsSystem.factory
    }

    /// Reports the statistics as they are now.
    ///
    /// - Throws: A ``CacheError`` if the cache can't be read, or is closed.
    public func report() throws(CacheError) {
        try recorders.withLock { recorders throws(CacheError) in
            // Under the lock: two reports at once would otherwise record them out of order.
            let metrics = try cache.statistics().metrics
            var values: [String: Double] = [:]
            for metric in metrics {
                for sample in metric.samples { record(sample, of: metric, &values, &recorders) }
            }
            recorders.last = values
        }
    }

    /// Reports the statistics again and again, until the task is cancelled or the cache is closed.
    ///
    /// While the cache can't be read, for example because its reader table is full, reports are
    /// left out. The counter `espalier_report_failures_total` counts them. The prefix applies to
    /// its name, too.
    ///
    /// - Parameter interval: The time between two reports.
    /// - Throws: `CancellationError`, or a ``CacheError`` with `closed`.
    public func run(every interval: Duration = .seconds(10)) async throws {
        let failures = Counter(
            label: "\(prefix)_report_failures_total", dimensions: dimensions, factory: factory)
        while true {
            do throws(CacheError) {
                try report()
            } catch  where error.code == .closed {
                throw error
            } catch {
                failures.increment()
            }
            try await Task.sleep(for: interval)
        }
    }

    private func record(
        _ sample: CacheMetric.Sample, of metric: CacheMetric, _ values: inout [String: Double],
        _ recorders: inout Recorders
    ) {
        let label = "\(prefix)_\(metric.name)\(sample.suffix)"
        let key = label + (sample.label.map { "{\($0.name)=\($0.value)}" } ?? "")
        let dimensions = dimensions + (sample.label.map { [($0.name, $0.value)] } ?? [])
        guard sample.isCounter else {
            let gauge =
                recorders.gauges[key]
                ?? Gauge(label: label, dimensions: dimensions, factory: factory)
            recorders.gauges[key] = gauge
            return gauge.record(sample.value)
        }
        let counter =
            recorders.counters[key]
            ?? Counter(label: label, dimensions: dimensions, factory: factory)
        recorders.counters[key] = counter
        values[key] = sample.value
        // A new generation keeps the counters; a directory that was removed begins with 0.
        guard let last = recorders.last else { return counter.increment(by: 0) }
        let more = sample.value - (last[key] ?? 0)
        counter.increment(by: Int64(more >= 0 ? more : sample.value))
    }
}
#endif
