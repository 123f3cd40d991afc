import Testing

@Suite("Nothing is left lying about")
struct LeftoversTests {
    @Test func repository() {
        expectNone(Repository.current.swiftFiles.flatMap(Leftovers.violations))
    }

    @Test func machinePaths() {
        let texts = Repository.current.texts.sorted { $0.key < $1.key }
        #expect(texts.count > Repository.current.swiftFiles.count)
        expectNone(texts.flatMap { Leftovers.machinePaths(in: $0.value, path: $0.key) })
    }

    @Test(arguments: [
        "// TODO: later", "/* a\n FIXME */", "let x = 1  // XXX", "let x = 1 ", "\t",
        "let x = \"a\tb\"", "let x = 1\r",
        "// a\r\nlet x = 1\r\n",
    ])
    func planted(text: String) {
        #expect(!Leftovers.violations(in: SourceFile(path: "a.swift", text: text)).isEmpty)
    }

    @Test(arguments: ["let TODO = 1", "// the METHODOLOGY", "let x = \"TODO\""])
    func harmless(text: String) {
        #expect(Leftovers.violations(in: SourceFile(path: "a.swift", text: text)) == [])
    }

    @Test(arguments: ["work", "root"])
    func plantedPath(folder: String) {
        let text = "see\n`/\(folder)/notes`\n"
        #expect(Leftovers.machinePaths(in: text, path: "docs/a.md").map(\.place) == ["docs/a.md:2"])
        #expect(Leftovers.machinePaths(in: "a /\(folder)ing/ b", path: "docs/a.md") == [])
    }
}
