import Testing

@Suite("Every Swift example in a document is compiled")
struct ExamplesTests {
    @Test func repository() {
        let repository = Repository.current
        #expect(repository.documents.contains { $0.path.hasSuffix(".docc/Espalier.md") })
        #expect(repository.documents.contains { !$0.swiftBlocks.isEmpty })
        #expect(repository.documents.contains { !$0.inclusions.isEmpty })
        expectNone(Examples.violations(in: repository.documents, snippets: repository.snippets))
    }

    private static let snippet = Snippet(
        path: "Snippets/Reading.swift",
        text: """
            // Reads.

            import Espalier

            func example() {
                // snippet.read
                let a = read()

                print(a)  // 1
                // snippet.end
            }
            """)

    private func violations(_ text: String, _ snippets: [Snippet] = [snippet]) -> [String] {
        Examples.violations(in: [Document(path: "docs/a.md", text: text)], snippets: snippets).map(
            \.description)
    }

    private static let inclusion =
        "@Snippet(path: \"Espalier/Snippets/Reading\", slice: \"read\")\n"

    @Test(arguments: [
        "let a = read()\n\nprint(a)  // 1", "\n    let a = read()\n\n    print(a)  // 1\n\n",
        "import Espalier",
        "func example() {\n    let a = read()", "",
    ])
    func copied(code: String) {
        #expect(violations(Self.inclusion + "```swift\n\(code)\n```\n") == [])
    }

    @Test(arguments: [
        "let a = read()\nprint(a)  // 1", "let a = read()\n\nprint(a)  // 2", "let b = read()",
        "print(a)",
        "let a = read( )", "import Espalier\nimport Foundation",
    ])
    func invented(code: String) {
        let text = Self.inclusion + "\n```swift\n\(code)\n```\n"
        #expect(violations(text) == ["docs/a.md:4: these lines stand in no snippet"])
    }

    @Test("blocks in other languages are not looked at")
    func otherBlocks() {
        #expect(violations(Self.inclusion + "```\nlet b = 1\n```\n```sh\n@Snippet\n```\n") == [])
    }

    @Test func included() {
        #expect(violations(Self.inclusion) == [])
        #expect(violations(Self.inclusion + "@Snippet(path: \"Espalier/Snippets/Reading\")") == [])
    }

    @Test(arguments: [
        "@Snippet(path: \"Espalier/Snippets/Writing\", slice: \"read\")",
        "@Snippet(path: \"Snippets/Reading\")",
        "@Snippet(\"Espalier/Snippets/Reading\")",
    ])
    func missingSnippet(inclusion: String) {
        #expect(
            violations(Self.inclusion + inclusion) == ["docs/a.md:2: no such snippet: \(inclusion)"]
        )
    }

    @Test(arguments: ["write", "end", "hide", "show"])
    func missingSlice(slice: String) {
        let text = "@Snippet(path: \"Espalier/Snippets/Reading\", slice: \"\(slice)\")"
        #expect(
            violations(Self.inclusion + text) == [
                "docs/a.md:2: Snippets/Reading.swift has no slice \(slice)"
            ])
    }

    @Test("what uses the macro stands behind its trait, so that the package builds without")
    func trait() {
        let snippets = Repository.current.snippets
        #expect(snippets.contains(where: \.usesMacro) && snippets.contains { !$0.isBehindTrait })
        for snippet in snippets where snippet.usesMacro {
            #expect(snippet.isBehindTrait, "\(snippet)")
        }
        let model = "@Normalized struct Person { let id: Int }"
        for (text, isBehind) in [
            ("// A.\n\n#if Macros\n\(model)\n#endif\n", true), (model, false),
            ("import Espalier\n#if Macros\n\(model)", false),
            ("#if Macros\n\(model)\n#endif\nprint(1)  // 1", false),
        ] {
            let snippet = Snippet(path: "Snippets/A.swift", text: text)
            #expect(snippet.usesMacro && snippet.isBehindTrait == isBehind, "\(text)")
        }
        #expect(!Self.snippet.usesMacro)
    }

    @Test func unused() {
        #expect(violations("Text.") == ["Snippets/Reading.swift: no document shows it"])
        let whole = "@Snippet(path: \"Espalier/Snippets/Reading\")"
        #expect(violations(whole) == ["Snippets/Reading.swift: no document shows its slice read"])
    }
}
