#if CommandLine
import EspalierInspection
import EspalierStore

/// The statistics of a cache, in groups for a person and by name for a program.
struct StatisticsReport: Printable {
    let statistics: CacheStatistics

    var report: Report {
        Report(groups: [
            ("contents", contents), ("storage", standing), ("reads", reads),
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

    /// The statistics with the types, and an object for every group of counts, even an empty one.
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

/// The types of nodes, those with most records first; then the types that only had misses, those
/// with most misses first.
struct TypeReport: Printable {
    let statistics: CacheStatistics
    /// The bytes of each type by name; empty if the records were not walked.
    var bytes: [String: TypeBytes] = [:]

    private struct Row {
        let name: String
        let records: Int
        let share: Double
        let misses: [(reason: String, count: Int)]

        var missCount: Int { misses.reduce(0) { $0 + $1.count } }
    }

    /// The rows. Their shares add up to more than 1 if several types wrote the same records.
    private var rows: [Row] {
        var misses = statistics.missesByType
        let stored = statistics.types.map {
            row(of: $0.name, records: $0.records, misses.removeValue(forKey: $0.name))
        }
        let others = misses.map { row(of: $0.key, records: 0, $0.value) }
        return stored + others.sorted { ($1.missCount, $0.name) < ($0.missCount, $1.name) }
    }

    private func row(of name: String, records: Int, _ misses: [String: Int]?) -> Row {
        Row(
            name: name, records: records, share: Double(records) / Double(max(statistics.nodes, 1)),
            misses: (misses ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
                ($0.key, $0.value)
            })
    }

    var report: Report {
        var columns: [Report.Column] = [.left("name", "type"), .right("records"), .right("share")]
        if !bytes.isEmpty {
            columns += [.right("bytes", "size"), .right("rawBytes", "raw"), .right("ratio")]
        }
        var report = Report(.list, columns: columns + [.left("misses")])
        for row in rows {
            var cells: [Cell] = [.text(row.name, .name), .count(row.records), .share(row.share)]
            if !bytes.isEmpty { cells += Self.cells(bytes[row.name]) }
            report.append(cells + [.texts(row.misses.map { "\($0.count) \($0.reason)" })])
        }
        return report
    }

    /// The rows with the misses as an object by reason.
    var json: JSONValue {
        .array(
            rows.map { row in
                var members = [
                    JSONMember(name: "name", value: .string(row.name)),
                    JSONMember(name: "records", value: .number(JSONNumber(row.records))),
                    JSONMember(name: "share", value: .number(.double(row.share))),
                ]
                if let bytes = bytes[row.name] {
                    members += zip(["bytes", "rawBytes", "ratio"], Self.cells(bytes)).map {
                        JSONMember(name: $0, value: $1.json)
                    }
                }
                return .object(
                    members + [JSONMember(name: "misses", value: Self.object(row.misses))])
            })
    }

    private static func object(_ counts: [(reason: String, count: Int)]) -> JSONValue {
        .object(counts.map { JSONMember(name: $0.reason, value: .number(JSONNumber($0.count))) })
    }

    private static func cells(_ bytes: TypeBytes?) -> [Cell] {
        guard let bytes else { return [.nothing, .nothing, .nothing] }
        return [
            .size(bytes.stored), .size(bytes.raw), .ratio(raw: bytes.raw, stored: bytes.stored),
        ]
    }
}
#endif
