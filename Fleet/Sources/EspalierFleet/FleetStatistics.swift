import Synchronization

/// What a host's cache has done since it was opened.
public struct FleetStatistics: Sendable, Hashable, Codable {
    /// Reads that the near cache answered.
    public var nearHits = 0
    /// Reads that servers answered, alone or together with the near cache.
    public var sharedHits = 0
    /// Reads that the near cache answered with copies that may be stale, because a server could not
    /// be reached.
    public var staleHits = 0
    /// Reads that missed.
    public var misses = 0
    /// Reads that waited for the same read of another caller.
    public var joinedReads = 0
    /// Times that a host waited for servers: questions to several servers at once count as one.
    public var roundTrips = 0
    /// Records that servers returned.
    public var recordsFetched = 0
    /// Bytes of these records.
    public var bytesFetched = 0
    /// Bytes of records that the host sent.
    public var bytesSent = 0
    /// Writes that servers have.
    public var writes = 0
    /// Attempts of writes that failed because another host had changed a record first.
    public var conflicts = 0
    /// Names of changed records that servers told of.
    public var changesReceived = 0
    /// Values on servers that are not intact records. They count as missing.
    public var damagedValues = 0
    /// Reads and writes that a server did not answer.
    public var failures = 0
    /// Times that a server could not be followed any more.
    public var disconnections = 0
    /// Times that changes were missed and a server's copies became outdated.
    public var resets = 0
    /// How long after a change the host knew of it, in milliseconds: the last 1,000 times, ordered.
    /// It includes the difference of the hosts' clocks.
    public var delays: [Int] = []

    /// The share of reads that the near cache answered; nil without reads.
    public var nearHitRate: Double? { rate(of: nearHits) }

    /// The share of reads that the near cache or servers answered; nil without reads.
    public var hitRate: Double? { rate(of: nearHits + sharedHits + staleHits) }

    private func rate(of hits: Int) -> Double? {
        let reads = nearHits + sharedHits + staleHits + misses
        return reads > 0 ? Double(hits) / Double(reads) : nil
    }

    /// Returns how long after a change the host knew of it at a percentile; nil without changes.
    ///
    /// - Parameter percentile: From 0 to 100.
    public func delay(at percentile: Double) -> Duration? {
        guard !delays.isEmpty else { return nil }
        let index = Int(Double(delays.count - 1) * percentile / 100 + 0.5)
        return .milliseconds(delays[max(0, min(index, delays.count - 1))])
    }
}

/// Counts for ``FleetStatistics``. All threads may use it.
final class FleetCounters: Sendable {
    private struct State {
        var statistics = FleetStatistics()
        var delays: [Int] = []
        var next = 0
    }
    private let state = Mutex(State())
    /// Apart, because a near hit takes no lock.
    private let nearHits = Atomic<Int>(0)

    private static let delayCount = 1_000

    func add(_ counter: any WritableKeyPath<FleetStatistics, Int> & Sendable, _ count: Int) {
        state.withLock { $0.statistics[keyPath: counter] += count }
    }

    func addNearHit() { nearHits.add(1, ordering: .relaxed) }

    func addDelay(_ delay: Duration) {
        state.withLock { state in
            if state.delays.count < Self.delayCount {
                state.delays.append(delay.milliseconds)
            } else {
                state.delays[state.next] = delay.milliseconds
                state.next = (state.next + 1) % Self.delayCount
            }
        }
    }

    var statistics: FleetStatistics {
        var (statistics, delays) = state.withLock { ($0.statistics, $0.delays) }
        statistics.nearHits = nearHits.load(ordering: .relaxed)
        delays.sort()
        statistics.delays = delays
        return statistics
    }
}
