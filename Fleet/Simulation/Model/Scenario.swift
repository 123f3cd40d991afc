import EspalierCharts

/// What is simulated for `docs/FLEET.md`.
public enum Scenario: String, CaseIterable, Sendable {
    /// Reads and changes alone.
    case normal = "normal day"
    /// The same, with pauses of 50 ms.
    case paused = "normal day, paused"
    /// One record is changed 100 times a second and read by all hosts 10 times a second.
    case hot = "hot record"
    /// The 100,000 records that are read most are changed at once.
    case storm = "invalidation storm"
    /// One server is gone for 2 s, and comes back without its memory.
    case loss = "server lost"
    /// The same, if new records were not announced.
    case unannounced = "server lost, unannounced"
    /// A quarter of the hosts reach no server for 60 s.
    case cut = "region cut"
    /// The same, and servers keep fewer changes than are missed.
    case trimmed = "region cut, trimmed"

    /// The fleet of the scenario.
    public var model: FleetModel {
        var model = FleetModel()
        switch self {
        case .normal: break
        case .paused: model.followPause = 50_000_000
        case .hot: model.incident = .hotRecord(changes: 100, reads: 10)
        case .storm: model.incident = .storm(count: 100_000, at: 2_000_000_000)
        case .loss, .unannounced:
            model.duration = 20_000_000_000
            model.incident = .serverLoss(at: 2_000_000_000, duration: 2_000_000_000)
            if self == .unannounced { model.announcesNewRecords = false }
        case .cut, .trimmed:
            // A fifth of the hosts, because the scenario takes eight times as long.
            model.hosts = 200
            model.duration = 80_000_000_000
            model.incident = .cut(hosts: 50, at: 5_000_000_000, duration: 60_000_000_000)
            if self == .trimmed { model.changeLimit = 1_000 }
        }
        return model
    }

    /// The first line of a table of outcomes.
    public static let heading = """
        | scenario | near hits | shared hits of the rest | stale | misses | messages/s per server \
        | per host | records asked for/s per server | busiest server | delay, median | p99 | wait, p99 | oldest near hit |
        |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
        """

    /// Returns an outcome as a line of a table.
    ///
    /// - Parameters:
    ///   - name: The name of the line.
    ///   - model: The fleet.
    ///   - outcome: What it did.
    public static func line(_ name: String, _ model: FleetModel, _ outcome: FleetOutcome) -> String
    {
        let seconds = Double(model.duration) / 1e9
        let messages = Double(outcome.messages) / seconds
        func share(_ value: Double) -> String { ChartUnit.share.text(value) }
        func time(_ value: Int) -> String { ChartUnit.microseconds.text(Double(value) / 1e3) }
        let reads = Double(max(1, outcome.total.reads))
        let cells = [
            name, share(outcome.nearHitRate), share(outcome.sharedHitRate),
            share(Double(outcome.total.staleHits) / reads),
            share(Double(outcome.total.misses) / reads),
            ChartUnit.count.text(messages / Double(model.servers)),
            ChartUnit.count.text(messages / Double(model.hosts)),
            ChartUnit.count.text(
                Double(outcome.total.fetches) / seconds / Double(model.servers)),
            share(outcome.work.max() ?? 0), time(outcome.delays.time(at: 0.5)),
            time(outcome.delays.time(at: 0.99)), time(outcome.waits.time(at: 0.99)),
            time(outcome.staleness.longest),
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }

    /// Returns the reads of each second as lines of a table.
    ///
    /// - Parameter outcome: What a fleet did.
    public static func seconds(_ outcome: FleetOutcome) -> String {
        let lines = outcome.seconds.enumerated().map { second, reads in
            "| \(second) | \(reads.reads) | \(reads.nearHits) | \(reads.sharedHits) "
                + "| \(reads.staleHits) | \(reads.misses) |"
        }
        return
            (["| second | reads | near | shared | stale | misses |", "|--:|--:|--:|--:|--:|--:|"]
            + lines).joined(separator: "\n")
    }
}
