import Testing

/// Finds leftovers: notes to oneself, stray white space, paths of one machine.
enum Leftovers {
    static func violations(in file: SourceFile) -> [Violation] {
        let marks: Set<String> = ["TODO", "FIXME", "XXX"]
        var violations: [Violation] = []
        for (index, line) in file.lines.enumerated() {
            let words = file.commentLines[index].split { !$0.isLetter }
            if let mark = words.first(where: { marks.contains(String($0)) }) {
                violations.append(
                    file.violation(line: index + 1, "\(mark) is for an issue, not for the source"))
            }
            if line.last?.isWhitespace == true {
                violations.append(file.violation(line: index + 1, "trailing white space"))
            }
            if line.contains("\t") {
                violations.append(file.violation(line: index + 1, "a tab"))
            }
        }
        return violations
    }

    /// - Parameter text: The text of any file, not only Swift.
    static func machinePaths(in text: String, path: String) -> [Violation] {
        // Put together here, or this line would be one.
        let folders = ["work", "root"].map { "/\($0)/" }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line in
            guard let folder = folders.first(where: { line.contains($0) }) else { return nil }
            return Violation(
                place: "\(path):\(index + 1)", problem: "\(folder) exists on one machine only")
        }
    }
}

@Suite("Files have no leftovers")
struct LeftoversTests {
    @Test("No Swift file has notes to oneself or stray white space")
    func repository() {
        expectNone(Repository.current.swiftFiles.flatMap(Leftovers.violations))
    }

    @Test("No file names a path of one machine")
    func machinePaths() {
        let texts = Repository.current.texts.sorted { $0.key < $1.key }
        #expect(texts.count > Repository.current.swiftFiles.count)
        expectNone(texts.flatMap { Leftovers.machinePaths(in: $0.value, path: $0.key) })
    }

    @Test(
        "Notes to oneself and stray white space are found",
        arguments: [
            "// TODO: later", "/* a\n FIXME */", "let x = 1  // XXX", "let x = 1 ", "\t",
            "let x = \"a\tb\"", "let x = 1\r",
            "// a\r\nlet x = 1\r\n",
        ])
    func planted(text: String) {
        #expect(!Leftovers.violations(in: SourceFile(path: "a.swift", text: text)).isEmpty)
    }

    @Test(
        "Code and longer words are not found",
        arguments: ["let TODO = 1", "// the METHODOLOGY", "let x = \"TODO\""])
    func harmless(text: String) {
        #expect(Leftovers.violations(in: SourceFile(path: "a.swift", text: text)) == [])
    }

    @Test("Paths of one machine are found", arguments: ["work", "root"])
    func plantedPath(folder: String) {
        let text = "see\n`/\(folder)/notes`\n"
        #expect(Leftovers.machinePaths(in: text, path: "docs/a.md").map(\.place) == ["docs/a.md:2"])
        #expect(Leftovers.machinePaths(in: "a /\(folder)ing/ b", path: "docs/a.md") == [])
    }
}
