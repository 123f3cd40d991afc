import Foundation

/// Writes the report as files.
struct ReportFiles {
    private let report: Report

    init(_ report: Report) { self.report = report }

    /// Writes the files, and returns their paths.
    func write(to directory: String) throws -> [String] {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        var files = [("report.json", try encoder.encode(report))]
        files.append(("report.md", Data(MarkdownReport(report: report).text.utf8)))
        files += ReportCharts(report: report).all.map { ($0.name, Data($0.svg.utf8)) }
        return try files.map { name, data in
            let path = directory + "/" + name
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
            return path
        }
    }
}
