import Foundation
import Testing

@Suite("Snippets print what they say they print")
struct PrintedLinesTests {
    @Test(arguments: Repository.current.snippets.filter(\.isBuilt))
    func repository(snippet: Snippet) throws {
        expectNone(PrintedLines.violations(of: snippet, output: try SnippetRun.output(of: snippet)))
    }

    private func snippet(_ text: String) -> Snippet {
        Snippet(path: "Snippets/A.swift", text: text)
    }

    @Test(arguments: [
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

    @Test(arguments: [
        ("1", 0), ("1\n2", 1), ("", 1), ("2", 1), ("1: the first", 0), ("1: the", 1),
        ("1: the first!", 1),
    ])
    func output(printed: String, violations: Int) {
        let snippet = snippet("print(a)  // 1: the first")
        #expect(PrintedLines.violations(of: snippet, output: printed).count == violations)
    }
}
