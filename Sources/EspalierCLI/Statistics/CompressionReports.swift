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
    /// The number of records whose dictionary changed, or that gained or lost one.
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
                    ("recordsChanged", "stored differently", .count(changed)),
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

/// The dictionaries of a cache, one row each, then the records without a dictionary, and the total.
struct DictionaryReport: Printable {
    let census: DictionaryCensus

    private static let columns: [Report.Column] = [
        .left("dictionary"), .left("for"), .right("bytes", "size"), .right("records"),
        .right("rawBytes", "raw"),
        .right("recordBytes", "stored"), .right("ratio"), .left("current"), .left("problem"),
    ]

    /// A row of the report. `bytes` is the size of the dictionary, `use` describes its records.
    private typealias Row = (
        name: String, purpose: String, bytes: Int?, use: DictionaryCensus.Use, isCurrent: Bool,
        problem: String?
    )

    private var rows: [Row] {
        let listed = census.dictionaries.map { dictionary -> Row in
            (
                "\(dictionary.number)", dictionary.purpose, dictionary.byteCount, dictionary.use,
                dictionary.isCurrent, dictionary.problem
            )
        }
        var rows =
            listed + [
                ("none", "compressed without one", nil, census.withoutDictionary, false, nil),
                ("raw", "not compressed", nil, census.raw, false, nil),
            ]
        if census.unidentified.records > 0 {
            rows.append(("?", "damaged", nil, census.unidentified, false, nil))
        }
        return rows
    }

    private static func problem(_ row: Row) -> String? {
        let unreadable =
            row.use.unreadable > 0 ? "\(row.use.unreadable) records cannot be read" : nil
        let problems = [row.problem, unreadable].compactMap { $0 }
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    private static func cells(_ row: Row) -> [Cell] {
        [
            .text(row.name, .name), .text(row.purpose), row.bytes.map(Cell.size) ?? .nothing,
            .count(row.use.records), .size(row.use.rawBytes),
            .size(row.use.storedBytes + row.use.unreadableBytes), ratio(row.use),
            .mark(row.isCurrent),
            problem(row).map { .text($0, .bad) } ?? .nothing,
        ]
    }

    private static func ratio(_ use: DictionaryCensus.Use) -> Cell {
        use.storedBytes == 0 ? .nothing : .ratio(raw: use.rawBytes, stored: use.storedBytes)
    }

    private var total: DictionaryCensus.Use {
        rows.reduce(into: DictionaryCensus.Use()) { $0.add($1.use) }
    }

    var report: Report {
        var report = Report(.list, columns: Self.columns)
        for row in rows { report.append(Self.cells(row)) }
        return report
    }

    /// The rows for a person, with the total and the size that dictionaries may have.
    var table: Report {
        var report = report
        let share = "\(SizeArgument.formatted(census.allowance.bytes)) at most"
        let total = Self.cells(("all", share, census.byteCount, total, false, nil))
        report.append(
            total.dropLast() + [
                census.isListDamaged ? .text("the list is damaged", .bad) : .nothing
            ])
        return report
    }

    var json: JSONValue {
        [
            "dictionaries": .array(census.dictionaries.map(Self.object)),
            "withoutDictionary": .object(Self.members(census.withoutDictionary)),
            "raw": .object(Self.members(census.raw)),
            "damaged": .object(Self.members(census.unidentified)),
            "bytes": .number(JSONNumber(census.byteCount)),
            "allowance": .number(JSONNumber(census.allowance.bytes)),
            "isListDamaged": .bool(census.isListDamaged),
        ]
    }

    private static func object(_ dictionary: DictionaryCensus.Dictionary) -> JSONValue {
        let own: [JSONMember] = [
            JSONMember(
                name: "number", value: .number(JSONNumber(Int(clamping: dictionary.number)))),
            JSONMember(name: "isForAllOthers", value: .bool(!dictionary.isForOneShape)),
            JSONMember(name: "types", value: .array(dictionary.types.map { .string($0) })),
            JSONMember(name: "bytes", value: .number(JSONNumber(dictionary.byteCount))),
            JSONMember(name: "isCurrent", value: .bool(dictionary.isCurrent)),
            JSONMember(name: "problem", value: dictionary.problem.map { .string($0) } ?? .null),
        ]
        return .object(own + members(dictionary.use))
    }

    private static func members(_ use: DictionaryCensus.Use) -> [JSONMember] {
        [
            ("records", use.records), ("unreadable", use.unreadable), ("rawBytes", use.rawBytes),
            ("recordBytes", use.storedBytes + use.unreadableBytes),
        ].map { JSONMember(name: $0.0, value: .number(JSONNumber($0.1))) } + [
            JSONMember(name: "ratio", value: ratio(use).json)
        ]
    }
}

extension DictionaryCensus.Dictionary {
    fileprivate var purpose: String {
        guard isForOneShape else { return "all others" }
        return types.isEmpty ? "a shape that is gone" : types.joined(separator: ", ")
    }
}

/// The name of the dictionary of a record: its number, or the way the payload is stored without
/// one.
enum DictionaryName {
    static func text(_ number: UInt64) -> String {
        switch number {
        case 0: "raw"
        case RecordLayout.noDictionary: "none"
        default: "\(number)"
        }
    }

    static func cell(_ number: UInt64) -> Cell { .text(text(number)) }
}
#endif
