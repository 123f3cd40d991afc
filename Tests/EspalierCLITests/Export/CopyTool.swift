#if CommandLine
import Testing

@testable import EspalierCLI

extension CommandLineTool {
    /// Returns the lines of the export of a cache.
    func lines(of cache: String, sourceLocation: SourceLocation = #_sourceLocation) throws
        -> [String]
    {
        try succeed("export", cache, sourceLocation: sourceLocation).text.split(separator: "\n")
            .map(String.init)
    }

    /// Returns lines of an export without the times of writes, which differ from run to run.
    static func undated(_ text: String) -> String {
        text.replacing(/"written":"[^"]*",/, with: "")
    }

    /// Copies a cache by export and import, checks that nothing differs, and returns the lines of
    /// the export.
    @discardableResult
    func expectCopies(
        of cache: String, to copy: String, options: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let export = try succeed("export", cache, sourceLocation: sourceLocation)
        let lines = export.text.split(separator: "\n").map(String.init)
        let summary = try run(
            ["import", copy, "-", "--records", "--format", "json"] + options, input: export.text)
        #expect(summary.errors == "", sourceLocation: sourceLocation)
        #expect(try summary.count("records") == lines.count, sourceLocation: sourceLocation)
        #expect(try summary.count("recordsWritten") == lines.count, sourceLocation: sourceLocation)
        try succeed("verify", copy, sourceLocation: sourceLocation)
        #expect(
            try succeed("diff", cache, copy, "--format", "json", sourceLocation: sourceLocation)
                .text == "[]\n",
            sourceLocation: sourceLocation)
        #expect(
            try self.lines(of: copy, sourceLocation: sourceLocation).sorted() == lines.sorted(),
            sourceLocation: sourceLocation)
        // Importing the export into the same cache changes nothing.
        let again = try run(
            ["import", copy, "-", "--records", "--format", "json"], input: export.text)
        #expect(try again.count("recordsUnchanged") == lines.count, sourceLocation: sourceLocation)
        return lines
    }
}
#endif
