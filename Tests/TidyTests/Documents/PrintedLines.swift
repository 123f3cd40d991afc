import Foundation
import Testing

/// A snippet prints the lines that its comments promise.
///
/// A comment behind a `print`, or the comment lines below one, promise a line each, in the order of
/// the file. A colon may end the promised line, and an explanation follow. A long line may continue
/// in the comment line below.
enum PrintedLines {
    /// The lines a snippet promises.
    static func promised(by snippet: Snippet) -> [String] {
        let file = snippet.file
        var promised: [String] = []
        var isBelowPrint = false
        for index in file.lines.indices {
            let comment = text(ofComment: file.commentLines[index])
            let hasCode = file.codeLines[index].contains { $0 != " " }
            if hasCode {
                let prints = file.codeLines[index].contains("print(")
                if prints, let comment { promised.append(comment) }
                isBelowPrint = prints && comment == nil
            } else if let comment, isBelowPrint, !comment.hasPrefix("snippet.") {
                promised.append(comment)
            } else {
                isBelowPrint = false
            }
        }
        return promised
    }

    static func violations(of snippet: Snippet, output: String) -> [Violation] {
        let printed = output.split(separator: "\n").map(String.init)
        let promised = joined(promised(by: snippet), as: printed)
        guard promised.count == printed.count else {
            let problem = "promises \(promised.count) lines and prints \(printed.count): \(printed)"
            return [Violation(place: snippet.path, problem: problem)]
        }
        return zip(promised, printed).compactMap { promised, printed in
            guard promised != printed, !promised.hasPrefix("\(printed):") else { return nil }
            return Violation(
                place: snippet.path, problem: "promises \"\(promised)\" and prints \"\(printed)\"")
        }
    }

    /// Returns the promised lines, with those joined that are parts of one printed line: a comment
    /// has at most 100 columns.
    private static func joined(_ promised: [String], as printed: [String]) -> [String] {
        var lines: [String] = []
        for line in promised {
            let number = lines.count - 1
            if number >= 0, number < printed.count,
                "\(printed[number]):".hasPrefix("\(lines[number]) ")
            {
                lines[number] += " \(line)"
            } else {
                lines.append(line)
            }
        }
        return lines
    }

    private static func text(ofComment line: String) -> String? {
        guard let start = line.firstRange(of: "// ")?.upperBound else { return nil }
        return String(line[start...])
    }
}

/// Runs snippets, which SwiftPM builds beside the tests, each with a directory of its own for
/// temporary files.
enum SnippetRun {
    static func output(of snippet: Snippet) throws -> String { try output(of: snippet.name) }

    /// Returns what an executable of this package prints.
    static func output(of name: String) throws -> String {
        let scratch = FileManager.default.temporaryDirectory.appending(
            path: "run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let tool: URL = try #require(executable(name), "\(name) is not built")
        let process = Process()
        process.executableURL = tool
        process.currentDirectoryURL = scratch
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": scratch.path])
        { $1 }
        let output = scratch.appending(path: "output")
        try Data().write(to: output)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        process.waitUntilExit()
        #expect(
            process.terminationReason == .exit && process.terminationStatus == 0, "\(name) failed")
        return try String(contentsOf: output, encoding: .utf8)
    }

    private static func executable(_ name: String) -> URL? {
        #if os(Linux)
        let tests = "/proc/self/exe"
        #else
        let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? ""
        #endif
        var folder = URL(fileURLWithPath: tests).resolvingSymlinksInPath()
        for _ in 0..<6 {
            folder.deleteLastPathComponent()
            let file = folder.appending(path: name)
            if FileManager.default.isExecutableFile(atPath: file.path) { return file }
        }
        return nil
    }
}

@Suite("Snippets print the lines that they promise")
struct PrintedLinesTests {
    @Test(
        "A snippet prints the lines that its comments promise",
        arguments: Repository.current.snippets.filter { $0.isBuilt && !$0.path.hasPrefix("Fleet/") }
    )
    func repository(snippet: Snippet) throws {
        expectNone(PrintedLines.violations(of: snippet, output: try SnippetRun.output(of: snippet)))
    }

    private func snippet(_ text: String) -> Snippet {
        Snippet(path: "Snippets/A.swift", text: text)
    }

    @Test(
        "Comments at a `print` are promises",
        arguments: [
            ("print(a)  // 1", ["1"]),
            ("f { print(a) }\n// 1\n// 2\nlet b = 1  // three\n// four", ["1", "2"]),
            ("print(a)\nprint(b)  // 1: the first", ["1: the first"]),
            ("print(a)\n// snippet.end\n// 1", []),
            ("print(\"// 1\")\n\n// no", []), ("// print(a)", []), ("show(a)  // 1", []),
            ("print(a)  // 1\n// no", ["1"]),
        ])
    func promises(text: String, lines: [String]) {
        #expect(PrintedLines.promised(by: snippet(text)) == lines)
    }

    @Test(
        "Lines that differ from the promised ones are found",
        arguments: [
            ("1", 0), ("1\n2", 1), ("", 1), ("2", 1), ("1: the first", 0), ("1: the", 1),
            ("1: the first!", 1),
        ])
    func output(printed: String, violations: Int) {
        let snippet = snippet("print(a)  // 1: the first")
        #expect(PrintedLines.violations(of: snippet, output: printed).count == violations)
    }

    @Test("A printed line may be promised in several comment lines")
    func wrapped() {
        let snippet = snippet("print(a)\n// one two\n// three\nprint(b)  // four")
        for (printed, count) in [
            ("one two three\nfour", 0), ("one two\nthree\nfour", 0), ("one two thre\nfour", 1),
            ("one two three", 1), ("one twothree\nfour", 1),
        ] {
            #expect(
                PrintedLines.violations(of: snippet, output: printed).count == count, "\(printed)")
        }
    }
}

#if Macros
@Suite("Samples print their documented output")
struct SampleTests {
    @Test("The messenger prints the text beside it, run after run")
    func messages() throws {
        let expected = try #require(Repository.current.texts["Examples/Messages/output.txt"])
        for _ in 0..<5 { #expect(try SnippetRun.output(of: "Messages") == expected) }
    }
}
#endif
