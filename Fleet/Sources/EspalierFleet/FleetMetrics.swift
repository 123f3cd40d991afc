public import Metrics
import Synchronization

/// Reports the statistics of a shared cache to swift-metrics.
///
/// ```swift
/// let metrics = FleetMetrics(cache)
/// try await metrics.run(every: .seconds(10))  // a task of its own, until it is cancelled
/// ```
///
/// Reports counters such as `espalier_fleet_near_hits`, and two gauges in seconds: the staleness,
/// and the 99th percentile of the delay of changes.
public final class FleetMetrics: Sendable {
    private let cache: SharedCache
    private let prefix: String
    private let factory: any MetricsFactory
    private let last = Mutex(FleetStatistics())

    /// Makes a reporter. It keeps the cache open.
    ///
    /// - Parameters:
    ///   - cache: The cache.
    ///   - prefix: What the names of the metrics begin with.
    ///   - factory: Where the metrics go; by default, the factory that the program has set.
    public init(
        _ cache: SharedCache, prefix: String = "espalier_fleet",
        factory: (any MetricsFactory)? = nil
    ) {
        self.cache = cache
        self.prefix = prefix
        self.factory = factory ?? MetricsSystem.factory
    }

    private static let counters: [(String, any KeyPath<FleetStatistics, Int> & Sendable)] = [
        ("near_hits", \.nearHits), ("shared_hits", \.sharedHits), ("stale_hits", \.staleHits),
        ("misses", \.misses), ("round_trips", \.roundTrips),
        ("records_fetched", \.recordsFetched), ("bytes_fetched", \.bytesFetched),
        ("bytes_sent", \.bytesSent), ("writes", \.writes), ("conflicts", \.conflicts),
        ("changes_received", \.changesReceived), ("damaged_values", \.damagedValues),
        ("failures", \.failures), ("disconnections", \.disconnections), ("resets", \.resets),
    ]

    /// Reports the statistics as they are now: counters get what happened since the last report.
    public func report() {
        let now = cache.statistics
        let before = last.withLock { last in
            defer { last = now }
            return last
        }
        for (name, path) in Self.counters {
            let count = now[keyPath: path] - before[keyPath: path]
            Counter(label: "\(prefix)_\(name)", factory: factory).increment(by: count)
        }
        if let staleness = cache.staleness { gauge("staleness_seconds", staleness) }
        if let delay = now.delay(at: 99) { gauge("change_delay_p99_seconds", delay) }
    }

    private func gauge(_ name: String, _ duration: Duration) {
        Gauge(label: "\(prefix)_\(name)", factory: factory).record(duration / .seconds(1))
    }

    /// Reports the statistics again and again, until the task is cancelled.
    ///
    /// - Parameter interval: The time between two reports.
    /// - Throws: `CancellationError`.
    public func run(every interval: Duration = .seconds(10)) async throws {
        while true {
            report()
            try await Task.sleep(for: interval)
        }
    }
}
