#if CommandLine
import ArgumentParser
import EspalierInspection
import EspalierStore

/// `espalier export`: prints all records, as a backup or to import them elsewhere.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Prints every record as a line of JSON that import --records reads.",
        discussion: """
            Exports nodes, keys and collections without loss, with the times of their writes, as \
            docs/FORMAT.md describes; a table or CSV has one row per record, without these times. \
            Pins, times of access, and operations of outboxes are not exported, and optimistic \
            changes count as confirmed. The command reads the whole snapshot before it prints, and \
            keeps a long one in a file in $TMPDIR. Exits with 2 if it had to leave damaged records \
            out, or if there are operations or optimistic changes.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var output: JSONOutputOptions

    func run() throws {
        let spool = Spool()
        var report = Report(.list, columns: ExportTable.columns)
        if output.format == .csv { try spool.append(Array((report.csv + "\n").utf8)) }
        let (leftOut, pending) = try cache.inspect { inspection in
            var export = RecordExport(inspection)
            let isTerminal = Terminal.isOutput
            let writer = JSONWriter(escapesUnprintable: isTerminal)
            try export.forEachLine { line, references in
                switch output.format {
                case .json: try spool.append(writer.bytes(from: line.json) + [UInt8(ascii: "\n")])
                case .csv:
                    let row = ExportTable.row(line, references: references)
                    let text = CSV.line(row.map(\.csv), forTerminal: isTerminal)
                    try spool.append(Array((text + "\n").utf8))
                case .table: report.append(ExportTable.row(line, references: references))
                }
            }
            return (export.leftOut, try inspection.pending)
        }
        if output.format == .table {
            try output.print(report)
        } else {
            try spool.forEachChunk(Console.write)
        }
        let problems = Self.problems(leftOut: leftOut, pending)
        guard problems.isEmpty else {
            throw CommandFailure(
                "\(cache.cache): \(problems.joined(separator: "; "))", kind: .miss)
        }
    }

    /// Returns what the export does not have, or has otherwise than the cache.
    private static func problems(leftOut: Int, _ pending: PendingCounts) -> [String] {
        var problems: [String] = []
        if leftOut > 0 {
            let records = counted(leftOut, "record is", "records are")
            problems.append(
                "\(records) damaged and left out; espalier verify describes the damage")
        }
        if pending.operations > 0 {
            let operations = counted(pending.operations, "operation is", "operations are")
            problems.append("\(operations) left out; espalier outbox lists operations")
        }
        if pending.changes > 0 {
            let changes = counted(
                pending.changes, "optimistic change is", "optimistic changes are")
            problems.append("\(changes) exported as if confirmed")
        }
        return problems
    }
}

/// `espalier diff`: prints the differences between two caches.
struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Prints the differences in content between two caches.",
        discussion: """
            "added" records are only in the second cache, "removed" ones only in the first. A \
            changed record has a row for each place that differs, with the value in the first \
            cache, a, and in the second, b. References are compared by identifier. Paths are as in \
            entities.media[0].url; $types, $declarers and $count are not fields. The order of \
            fields, pins, maximum ages, and the times of writes and accesses do not count. Of a \
            "damaged" record, one cache may know only the beginning of the identifier. Exits with \
            2 if there is a difference.
            """)

    @Argument(help: "The directory of the first cache.", completion: .directory)
    var first: String

    @Argument(help: "The directory of the second cache.", completion: .directory)
    var second: String

    @Option(
        help: ArgumentHelp(
            "Prints at most this many records; all are counted.", valueName: "count"))
    var limit: Int?

    @OptionGroup var key: KeyOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard limit ?? 1 >= 1 else { throw ValidationError("--limit must be at least 1.") }
    }

    func run() throws {
        let comparison = try compare()
        try output.print(DifferenceReport(differences: comparison.differences))
        guard comparison.count == 0 else {
            let records = counted(comparison.count, "record differs", "records differ")
            throw CommandFailure("\(first), \(second): \(records)", kind: .miss)
        }
    }

    /// Opens a cache with the key, or without it if the cache is not encrypted.
    private func open(_ path: String) throws(CommandFailure) -> NormalizedCache {
        let encryption = try key.encryption()
        if encryption != nil, let plain = try? CacheArgument.openExisting(at: path, nil) {
            return plain
        }
        return try CacheArgument.openExisting(at: path, encryption)
    }

    private func compare() throws -> CacheComparison {
        let a = try open(first)
        defer { a.close() }
        let b = try open(second)
        defer { b.close() }
        var comparison = CacheComparison(limit: limit)
        do {
            try a.inspect { left in try b.inspect { right in try comparison.compare(left, right) } }
        } catch let error as CacheError {
            throw CommandFailure("\(first), \(second): \(error)")
        }
        return comparison
    }
}
#endif
