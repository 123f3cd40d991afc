import ArgumentParser
import EspalierStore

/// `espalier export`: all records, to be kept, looked through, or imported elsewhere.
struct ExportVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Prints every record, one on a line, as JSON that import --records takes back.",
        discussion: """
            Nodes, keys and collections, lossless: docs/FORMAT.md says how. As a table or CSV it is a row a record. When \
            records were accessed is not part of it. The snapshot is read before anything is printed, into the directory \
            that TMPDIR names where it is long. Exits with 2 if damaged records had to be left out.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var output: JSONOutputOptions

    func run() throws {
        let spool = Spool()
        var report = Report(.list, columns: ExportTable.columns)
        if output.format == .csv { try spool.append(Array((report.csv + "\n").utf8)) }
        let leftOut = try cache.inspect { inspection in
            var export = RecordExport(inspection)
            let writer = JSONWriter()
            try export.forEachLine { line, references in
                switch output.format {
                case .json: try spool.append(writer.bytes(from: line.json) + [UInt8(ascii: "\n")])
                case .csv:
                    let row = ExportTable.row(line, references: references)
                    try spool.append(Array((CSV.line(row.map(\.csv)) + "\n").utf8))
                case .table: report.append(ExportTable.row(line, references: references))
                }
            }
            return export.leftOut
        }
        if output.format == .table {
            try output.print(report)
        } else {
            try spool.forEachChunk(Console.write)
        }
        guard leftOut == 0 else {
            let records =
                leftOut == 1
                ? "a record is damaged and left out" : "\(leftOut) records are damaged and left out"
            throw CommandFailure("\(cache.cache): \(records); verify tells more", kind: .miss)
        }
    }
}
