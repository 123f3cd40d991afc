import Testing

/// A test's title is a sentence that reads as a promise in a log of failures.
enum TestTitles {
    static let minimumWords = 3

    static func violations(in file: SourceFile) -> [Violation] {
        guard file.isInTests || file.path.hasPrefix("Benchmarks/Tests/") else { return [] }
        let tokens = file.tokens
        return tokens.indices.dropFirst().compactMap { index in
            guard tokens[index].text == "Test", tokens[index - 1].text == "@" else { return nil }
            let line = tokens[index].line
            guard let title = title(behind: index, in: file) else {
                return file.violation(line: line, "a test without a title")
            }
            return problem(of: title).map { file.violation(line: line, "\"\(title)\" \($0)") }
        }
    }

    /// The literal that comes first in the parentheses of the attribute.
    private static func title(behind index: Int, in file: SourceFile) -> String? {
        guard index + 2 < file.tokens.count, file.tokens[index + 1].text == "(" else { return nil }
        let range = file.tokens[index + 1].offset..<file.tokens[index + 2].offset
        return file.literals.first { range.contains($0.offset) }?.text
    }

    private static func problem(of title: String) -> String? {
        guard let first = title.first else { return "is empty" }
        // A sentence may also begin with code, a quotation or a number.
        if first.isLowercase { return "does not begin with a capital letter" }
        if title.split(separator: " ").count < minimumWords { return "is no sentence" }
        return nil
    }
}

@Suite("Titles of tests are sentences")
struct TestTitlesTests {
    @Test("Every test of the repository has a title that is a sentence")
    func repository() {
        expectNone(Repository.current.swiftFiles.flatMap(TestTitles.violations))
    }

    private func violations(_ text: String, path: String = "Tests/M/a.swift") -> [Violation] {
        TestTitles.violations(in: SourceFile(path: path, text: text))
    }

    @Test(
        "Tests without a sentence are found",
        arguments: [
            "@Test func a() {}", "@Test(arguments: [\"A read returns\"]) func a(b: String) {}",
            "@Test(.enabled(if: true), arguments: [1]) func a(b: Int) {}",
            "@Test(\"\") func a() {}",
            "@Test(\"a read returns a tree\") func a() {}", "@Test(\"A read\") func a() {}",
            "@MainActor @Test(\n    \"éa read returns\") func a() {}",
        ])
    func planted(text: String) {
        #expect(violations(text).count == 1)
        #expect(violations(text, path: "Sources/M/a.swift") == [])
    }

    @Test(
        "Tests with a sentence are not found",
        arguments: [
            "@Test(\"A read returns a tree\") func a() {}",
            "@Test(\n    \"`read` returns a tree\",\n    arguments: [1]) func a(b: Int) {}",
            "@Test(\"\\\"a\\\" is a string\") func a() {}", "// @Test func a() {}",
            "@Suite(\"a\") struct Test {}", "@Test(#\"2 \"reads\" return\"#) func a() {}",
        ])
    func harmless(text: String) {
        #expect(violations(text) == [])
    }
}
