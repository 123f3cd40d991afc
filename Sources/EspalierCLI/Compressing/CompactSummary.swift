import EspalierStore

/// What compacting came to: the records before and after it.
struct CompactSummary: Printable {
    struct Side {
        let statistics: CacheStatistics
        let dictionaries: DictionaryCensus
    }

    let before: Side
    let after: Side
    /// Records that are stored with another dictionary than before, with one now or without one
    /// now.
    let changed: Int
    let time: Duration

    var evicted: Int { after.statistics.evictions.records - before.statistics.evictions.records }

    var report: Report {
        Report(groups: [
            ("before", Self.facts(before, "before")), ("after", Self.facts(after, "after")),
            (
                "compacting",
                [
                    ("records", "records", .count(after.statistics.records)),
                    ("recordsChanged", "stored another way now", .count(changed)),
                    ("recordsEvicted", "evicted to make room", .count(evicted)),
                    ("nanoseconds", "time", .nanoseconds(time)),
                ]
            ),
        ])
    }

    private static func facts(_ side: Side, _ name: String) -> [Report.Fact] {
        let (raw, stored) = (side.statistics.rawBytes.bytes, side.statistics.recordBytes.bytes)
        return [
            ("\(name).rawBytes", "not compressed", .size(raw)),
            ("\(name).recordBytes", "bytes of records", .size(stored)),
            ("\(name).ratio", "ratio", .ratio(raw: raw, stored: stored)),
            ("\(name).dictionaries", "dictionaries", .count(side.dictionaries.dictionaries.count)),
            (
                "\(name).dictionaryBytes", "bytes of dictionaries",
                .size(side.dictionaries.byteCount)
            ),
        ]
    }
}
