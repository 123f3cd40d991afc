#if CommandLine
import EspalierInspection
import EspalierStore

/// The statistics of a cache, in groups for a person and by name for a program.
struct StatisticsReport: Printable {
    let statistics: CacheStatistics

    var report: Report {
        Report(groups: [
            ("contents", contents), ("storage", standing), ("reads", reads),
            ("memory for trees", memory), ("writes", writes), ("evictions", evictions),
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
            ("recordBytes", "bytes of records", .size(statistics.recordBytes)),
            ("rawBytes", "not compressed", .size(statistics.rawBytes)),
            (
                "ratio", "ratio",
                .ratio(raw: statistics.rawBytes.bytes, stored: statistics.recordBytes.bytes)
            ),
        ]
    }

    private var standing: [Report.Fact] {
        [
            ("pageSize", "page", .size(statistics.pageSize)),
            ("pagesUsed", "pages used", .count(statistics.pagesUsed)),
            ("pageCapacity", "pages at most", .count(statistics.pageCapacity)),
            ("fill", "fill", .share(statistics.fill)),
            ("fileBytes", "file", .size(statistics.fileBytes)),
            ("directoryBytes", "directory", .size(statistics.directoryBytes)),
            ("budget", "budget", .size(statistics.budget)),
            (
                "oldestReader.processIdentifier", "oldest reader, process",
                .count(statistics.oldestReader?.processIdentifier)
            ),
            (
                "oldestReader.commitsBehind", "oldest reader, commits behind",
                .count(statistics.oldestReader?.commitsBehind)
            ),
        ]
    }

    private var reads: [Report.Fact] {
        [
            ("hitRate", "hit rate", .share(statistics.hitRate)),
            ("hits", "hits", .count(statistics.hits)),
        ] + counts("misses", "misses", statistics.misses)
            + latency("readLatency", "read", statistics.readLatency)
    }

    /// Without the trees that are there now: those of other processes are not known.
    private var memory: [Report.Fact] {
        let memory = statistics.memory
        return [
            ("memory.hits", "found", .count(memory.hits)),
            ("memory.staleReads", "found, but changed", .count(memory.staleReads)),
            ("memory.misses", "not found", .count(memory.misses)),
            ("memory.removals", "removed to make room", .count(memory.removals)),
        ]
    }

    private var writes: [Report.Fact] {
        [
            ("writes", "writes", .count(statistics.writes)),
            ("deletes", "deletes", .count(statistics.deletes)),
            ("recordsWritten", "records written", .count(statistics.recordsWritten)),
            ("recordsUnchanged", "records unchanged", .count(statistics.recordsUnchanged)),
            ("contradictions", "contradictions", .count(statistics.contradictions)),
            ("commits", "commits", .count(statistics.commits)),
            (
                "mapFullRecoveries", "commits that ran out of pages",
                .count(statistics.mapFullRecoveries)
            ),
        ] + counts("droppedWrites", "dropped", statistics.droppedWrites)
            + counts("rejectedWrites", "rejected", statistics.rejectedWrites)
            + counts("generationsReplaced", "generation replaced", statistics.generationsReplaced)
            + latency("commitLatency", "commit", statistics.commitLatency)
    }

    private var evictions: [Report.Fact] {
        let evictions = statistics.evictions
        return amount("forBudget", "for the budget", evictions.forBudget)
            + amount("explicit", "by the caller", evictions.explicit) + [
                ("evictions.groups", "on cycles", .count(evictions.groups)),
                (
                    "evictions.detachedRecords", "stayed without references",
                    .count(evictions.detachedRecords)
                ),
                ("evictions.runs", "commits that evicted", .count(evictions.runs)),
                (
                    "evictions.cycleCollections", "cycle collections",
                    .count(evictions.cycleCollections)
                ),
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
            ("evictions.\(name).bytes", "\(title), bytes", .size(amount.bytes)),
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

    /// The statistics with the types, and an object for every group of counts, even an empty one.
    var json: JSONValue {
        let empty = [
            ("misses", statistics.misses), ("droppedWrites", statistics.droppedWrites),
            ("rejectedWrites", statistics.rejectedWrites),
            ("generationsReplaced", statistics.generationsReplaced),
        ].filter(\.1.isEmpty)
        return report.json + .object(empty.map { JSONMember(name: $0.0, value: [:]) })
            + ["types": TypeReport(statistics: statistics).json]
    }
}

/// The types of nodes, those with most records first; then the types that only had misses, those
/// with most misses first.
struct TypeReport: Printable {
    let statistics: CacheStatistics
    /// The records of each type by name; empty if they were not walked.
    var contents: [String: TypeContents] = [:]

    private typealias TypeRow = (name: String, records: Int, misses: [String: Int])

    /// The types. Their shares add up to more than 1 if several types wrote the same records.
    private var types: [TypeRow] {
        var misses = statistics.missesByType
        let stored = statistics.types.map { type -> TypeRow in
            (type.name, type.records, misses.removeValue(forKey: type.name) ?? [:])
        }
        let others = misses.map { (sum: $1.values.reduce(0, +), name: $0, misses: $1) }
            .sorted { ($1.sum, $0.name) < ($0.sum, $1.name) }
        return stored + others.map { ($0.name, 0, $0.misses) }
    }

    var report: Report {
        var columns: [TableColumn] = [.left("name", "type"), .right("records"), .right("share")]
        if !contents.isEmpty {
            columns += [
                .right("bytes", "size"), .right("rawBytes", "raw"), .right("ratio"),
                .right("oldestSeconds", "oldest"), .right("expired"),
            ]
        }
        let nodes = Double(max(statistics.nodes, 1))
        return Report(
            .list, columns: columns + [.left("misses")],
            rows: types.map { name, records, misses in
                [.text(name, .name), .count(records), .share(Double(records) / nodes)]
                    + cells(of: name) + [Self.cell(misses)]
            })
    }

    private func cells(of type: String) -> [Cell] {
        guard !contents.isEmpty else { return [] }
        guard let records = contents[type] else {
            return Array(repeating: .value(nil, shown: .nothing), count: 5)
        }
        return [
            .size(records.stored), .size(records.raw),
            .ratio(raw: records.raw, stored: records.stored), .seconds(records.oldest),
            .count(records.expired),
        ]
    }

    /// Returns the misses by reason, in JSON an object.
    private static func cell(_ misses: [String: Int]) -> Cell {
        let sorted = misses.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return .value(
            .object(sorted.map { JSONMember(name: $0.key, value: .number($0.value)) }),
            shown: .texts(sorted.map { "\($0.value) \($0.key)" }))
    }
}
#endif
