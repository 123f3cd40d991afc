import EspalierStore

/// The statistics of a cache, to be printed: in groups for a person, by name for a program.
struct StatisticsReport: Printable {
    let statistics: CacheStatistics

    var report: Report {
        Report(groups: [
            ("what there is", contents), ("where it stands", standing), ("reads", reads),
            ("writes", writes),
            ("evictions", evictions),
        ])
    }

    private var contents: [Report.Fact] {
        [
            ("nodes", "nodes", .count(statistics.nodes)),
            ("roots", "roots", .count(statistics.roots)),
            ("keys", "keys", .count(statistics.keys)),
            ("collections", "collections", .count(statistics.collections)),
            ("segments", "segments", .count(statistics.segments)),
            ("tombstones", "tombstones", .count(statistics.tombstones)),
            ("pins", "pins", .count(statistics.pins)),
            ("shapes", "shapes", .count(statistics.shapes)),
            ("recordBytes", "bytes of records", .size(statistics.recordBytes.bytes)),
            ("rawBytes", "not compressed", .size(statistics.rawBytes.bytes)),
            (
                "ratio", "ratio",
                .ratio(raw: statistics.rawBytes.bytes, stored: statistics.recordBytes.bytes)
            ),
        ]
    }

    private var standing: [Report.Fact] {
        [
            ("pageSize", "page", .size(statistics.pageSize.bytes)),
            ("pagesUsed", "pages used", .count(statistics.pagesUsed)),
            ("pageCapacity", "pages at most", .count(statistics.pageCapacity)),
            ("fill", "fill", .share(statistics.fill)),
            ("fileBytes", "file", .size(statistics.fileBytes.bytes)),
            ("directoryBytes", "directory", .size(statistics.directoryBytes.bytes)),
            ("budget", "budget", .size(statistics.budget.bytes)),
        ] + oldestReader
    }

    private var oldestReader: [Report.Fact] {
        let reader = statistics.oldestReader
        return [
            (
                "oldestReader.processIdentifier", "oldest reader, process",
                reader.map { .count($0.processIdentifier) } ?? .nothing
            ),
            (
                "oldestReader.commitsBehind", "oldest reader, commits behind",
                reader.map { .count($0.commitsBehind) } ?? .nothing
            ),
        ]
    }

    private var reads: [Report.Fact] {
        [
            ("hitRate", "hit rate", statistics.hitRate.map { .share($0) } ?? .nothing),
            ("hits", "hits", .count(statistics.hits)),
        ] + counts("misses", "misses", statistics.misses)
            + latency("readLatency", "read", statistics.readLatency)
    }

    private var writes: [Report.Fact] {
        [
            ("writes", "writes", .count(statistics.writes)),
            ("deletes", "deletes", .count(statistics.deletes)),
            ("recordsWritten", "records written", .count(statistics.recordsWritten)),
            ("recordsUnchanged", "records unchanged", .count(statistics.recordsUnchanged)),
            ("commits", "commits", .count(statistics.commits)),
            (
                "mapFullRecoveries", "commits that ran out of pages",
                .count(statistics.mapFullRecoveries)
            ),
        ] + counts("droppedWrites", "dropped", statistics.droppedWrites)
            + counts("generationsReplaced", "generation replaced", statistics.generationsReplaced)
            + latency("commitLatency", "commit", statistics.commitLatency)
    }

    private var evictions: [Report.Fact] {
        let evictions = statistics.evictions
        return amount("forBudget", "for the budget", evictions.forBudget)
            + amount("explicit", "by the caller", evictions.explicit) + [
                ("evictions.groups", "on cycles", .count(evictions.groups)),
                ("evictions.runs", "commits that evicted", .count(evictions.runs)),
                ("evictions.cycleCollections", "cycle collections", .count(evictions.cycleCollections)),
                (
                    "evictions.cycleRecordsFound", "records found on cycles",
                    .count(evictions.cycleRecordsFound)
                ),
                (
                    "evictions.youngestAgeSeconds", "youngest, not accessed for",
                    .seconds(evictions.youngestAge)
                ),
                (
                    "evictions.oldestAgeSeconds", "oldest, not accessed for",
                    .seconds(evictions.oldestAge)
                ),
                ("evictions.timeSpentNanoseconds", "time spent", .nanoseconds(evictions.timeSpent)),
                (
                    "evictions.longestPauseNanoseconds", "longest in a commit",
                    .nanoseconds(evictions.longestPause)
                ),
            ]
    }

    private func amount(_ name: String, _ title: String, _ amount: EvictionStatistics.Amount)
        -> [Report.Fact]
    {
        [
            ("evictions.\(name).trees", "\(title), trees", .count(amount.trees)),
            ("evictions.\(name).records", "\(title), records", .count(amount.records)),
            ("evictions.\(name).bytes", "\(title), bytes", .size(amount.bytes.bytes)),
        ]
    }

    private func counts(_ name: String, _ title: String, _ counts: [String: Int]) -> [Report.Fact] {
        counts.sorted { $0.key < $1.key }.map {
            ("\(name).\($0.key)", "\(title), \($0.key)", .count($0.value))
        }
    }

    private func latency(_ name: String, _ title: String, _ latency: LatencySummary) -> [Report
        .Fact]
    {
        [
            ("\(name).count", "\(title) times", .count(latency.count)),
            ("\(name).p50Nanoseconds", "\(title), half within", .nanoseconds(latency.p50)),
            ("\(name).p99Nanoseconds", "\(title), 99 % within", .nanoseconds(latency.p99)),
            ("\(name).maximumNanoseconds", "\(title), longest", .nanoseconds(latency.maximum)),
        ]
    }

    /// With the types, and an object for every kind of count even if there are none.
    var json: JSONValue {
        guard case .object(var members) = report.json else { return report.json }
        let counted = [
            ("misses", statistics.misses), ("droppedWrites", statistics.droppedWrites),
            ("generationsReplaced", statistics.generationsReplaced),
        ]
        for (name, counts) in counted where counts.isEmpty {
            members.append(JSONMember(name: name, value: .object([])))
        }
        return .object(
            members + [JSONMember(name: "types", value: TypeReport(statistics: statistics).json)])
    }
}
