#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// The result of `compact`: the records before and after it.
struct CompactSummary: Printable {
    struct Side {
        let statistics: CacheStatistics
        let dictionaries: DictionaryCensus
    }

    let before: Side
    let after: Side
    let time: Duration

    var evicted: Int { after.statistics.evictions.records - before.statistics.evictions.records }

    var report: Report {
        Report(groups: [
            ("before", Self.facts(before, "before")), ("after", Self.facts(after, "after")),
            (
                "compacting",
                [
                    ("records", "records", .count(after.statistics.records)),
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
            ("\(name).pages", "pages in use", .count(side.statistics.pagesUsed)),
            ("\(name).ratio", "ratio", .ratio(raw: raw, stored: stored)),
            ("\(name).dictionaries", "dictionaries", .count(side.dictionaries.dictionaries.count)),
            (
                "\(name).dictionaryBytes", "bytes of dictionaries",
                .size(side.dictionaries.byteCount)
            ),
        ]
    }
}

/// The dictionaries of a cache, one row each, then the records without a dictionary, and the total.
struct DictionaryReport: Printable {
    let census: DictionaryCensus

    var report: Report {
        var report = Report(
            .list,
            columns: [
                .left("dictionary"), .left("for"), .right("bytes", "size"), .right("records"),
                .right("rawBytes", "raw"), .right("recordBytes", "stored"), .right("ratio"),
                .left("current"), .left("problem"),
            ],
            rows: census.dictionaries.map { dictionary in
                Self.cells(
                    "\(dictionary.number)", "", dictionary.use,
                    bytes: dictionary.byteCount, isCurrent: dictionary.isCurrent,
                    problem: dictionary.problem)
            })
        report.append(Self.cells("none", "compressed without one", census.withoutDictionary))
        report.append(Self.cells("raw", "not compressed", census.raw))
        return report
    }

    /// The rows with the total and the size that dictionaries may have.
    var shown: Report {
        let uses =
            census.dictionaries.map(\.use) + [census.withoutDictionary, census.raw]
        let total = Self.cells(
            "all", "\(SizeArgument.formatted(census.allowance.bytes)) at most",
            uses.reduce(into: DictionaryCensus.Use()) { $0.add($1) }, bytes: census.byteCount)
        var report = report
        report.append(
            total.dropLast() + [.text(census.isListDamaged ? "the list is damaged" : nil, .bad)])
        return report
    }

    /// - Parameters:
    ///   - use: The records of the dictionary.
    ///   - bytes: The size of the dictionary.
    private static func cells(
        _ name: String, _ purpose: String, _ use: DictionaryCensus.Use, bytes: Int? = nil,
        isCurrent: Bool = false, problem: String? = nil
    ) -> [Cell] {
        let unreadable = use.unreadable > 0 ? "\(use.unreadable) records cannot be read" : nil
        let problems = [problem, unreadable].compactMap(\.self)
        return [
            .text(name, .name), .text(purpose), .size(bytes), .count(use.records),
            .size(use.rawBytes), .size(use.storedBytes + use.unreadableBytes),
            .ratio(raw: use.rawBytes, stored: use.storedBytes), .mark(isCurrent),
            .text(problems.isEmpty ? nil : problems.joined(separator: "; "), .bad),
        ]
    }

    var json: JSONValue {
        [
            "dictionaries": .array(
                census.dictionaries.map { dictionary in
                    [
                        "number": .number(Int(clamping: dictionary.number)),
                        "bytes": .number(dictionary.byteCount),
                        "isCurrent": .bool(dictionary.isCurrent),
                        "problem": .string(dictionary.problem),
                    ] + Self.json(dictionary.use)
                }),
            "withoutDictionary": Self.json(census.withoutDictionary),
            "raw": Self.json(census.raw),
            "damagedContainers": .number(census.damagedContainers),
            "bytes": .number(census.byteCount),
            "allowance": .number(census.allowance.bytes),
            "isListDamaged": .bool(census.isListDamaged),
        ]
    }

    private static func json(_ use: DictionaryCensus.Use) -> JSONValue {
        Report(facts: [
            ("records", "", .count(use.records)), ("unreadable", "", .count(use.unreadable)),
            ("rawBytes", "", .size(use.rawBytes)),
            ("recordBytes", "", .size(use.storedBytes + use.unreadableBytes)),
            ("ratio", "", .ratio(raw: use.rawBytes, stored: use.storedBytes)),
        ]).json
    }
}

/// Returns the name of the dictionary of a frame: its number, or the way the frame is stored
/// without one.
func dictionaryName(_ number: UInt64) -> String {
    switch number {
    case 0: "raw"
    case FrameDecoder.noDictionary: "none"
    default: "\(number)"
    }
}
#endif
