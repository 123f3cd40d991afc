import Testing

/// Every Swift example in a document is compiled: it stands in a snippet, line for line, or is
/// included from one.
enum Examples {
    /// Where an included snippet's path starts: the package, and the folder.
    private static let folder = "Espalier/Snippets/"

    static func violations(in documents: [Document], snippets: [Snippet]) -> [Violation] {
        let byName = Dictionary(grouping: snippets, by: \.name).compactMapValues(\.first)
        return documents.flatMap { document in
            copied(in: document, snippets) + included(in: document, byName)
        } + unused(documents, snippets)
    }

    private static func copied(in document: Document, _ snippets: [Snippet]) -> [Violation] {
        document.swiftBlocks.compactMap { block in
            guard !snippets.contains(where: { stands(block, in: $0) }) else { return nil }
            return Violation(
                place: "\(document.path):\(block.line)", problem: "these lines stand in no snippet")
        }
    }

    private static func included(in document: Document, _ snippets: [String: Snippet])
        -> [Violation]
    {
        document.inclusions.compactMap { inclusion in
            let problem: String
            if let snippet = snippet(inclusion, snippets) {
                guard let slice = inclusion.slice, !snippet.slices.contains(slice) else {
                    return nil
                }
                problem = "\(snippet.path) has no slice \(slice)"
            } else {
                problem = "no such snippet: \(inclusion.text)"
            }
            return Violation(place: "\(document.path):\(inclusion.line)", problem: problem)
        }
    }

    /// A snippet that no document shows is not an example; a slice that none shows is a leftover.
    private static func unused(_ documents: [Document], _ snippets: [Snippet]) -> [Violation] {
        let inclusions = documents.flatMap(\.inclusions)
        let blocks = documents.flatMap(\.swiftBlocks)
        return snippets.flatMap { snippet -> [Violation] in
            let shown = inclusions.filter { $0.path == folder + snippet.name }
            guard !shown.isEmpty || blocks.contains(where: { stands($0, in: snippet) }) else {
                return [Violation(place: snippet.path, problem: "no document shows it")]
            }
            let unused = snippet.slices.filter { slice in !shown.contains { $0.slice == slice } }
            return unused.map {
                Violation(place: snippet.path, problem: "no document shows its slice \($0)")
            }
        }
    }

    private static func snippet(_ inclusion: Document.Inclusion, _ snippets: [String: Snippet])
        -> Snippet?
    {
        guard let path = inclusion.path, path.hasPrefix(folder) else { return nil }
        return snippets[String(path.dropFirst(folder.count))]
    }

    private static func stands(_ block: Document.Block, in snippet: Snippet) -> Bool {
        let wanted = trimmed(block.lines)
        let lines = snippet.shownLines.map(Self.trimmed)
        guard !wanted.isEmpty, wanted.count <= lines.count else { return wanted.isEmpty }
        return (0...(lines.count - wanted.count)).contains {
            lines[$0..<$0 + wanted.count].elementsEqual(wanted)
        }
    }

    /// Without indentation, and without blank lines around.
    private static func trimmed(_ lines: [String]) -> [String] {
        let lines = lines.map(Self.trimmed)
        guard let first = lines.firstIndex(where: { !$0.isEmpty }),
            let last = lines.lastIndex(where: { !$0.isEmpty })
        else { return [] }
        return Array(lines[first...last])
    }

    private static func trimmed(_ line: String) -> String {
        var line = line.drop { $0 == " " }
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}

@Suite("Every Swift example in a document is compiled")
struct ExamplesTests {
    @Test("Every example of the repository stands in a snippet, and every snippet in a document")
    func repository() {
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

    @Test(
        "Lines of a snippet may be copied",
        arguments: [
            "let a = read()\n\nprint(a)  // 1", "\n    let a = read()\n\n    print(a)  // 1\n\n",
            "import Espalier",
            "func example() {\n    let a = read()", "",
        ])
    func copied(code: String) {
        #expect(violations(Self.inclusion + "```swift\n\(code)\n```\n") == [])
    }

    @Test(
        "Lines that stand in no snippet are found",
        arguments: [
            "let a = read()\nprint(a)  // 1", "let a = read()\n\nprint(a)  // 2", "let b = read()",
            "print(a)",
            "let a = read( )", "import Espalier\nimport Foundation",
        ])
    func invented(code: String) {
        let text = Self.inclusion + "\n```swift\n\(code)\n```\n"
        #expect(violations(text) == ["docs/a.md:4: these lines stand in no snippet"])
    }

    @Test("Blocks in other languages are not checked")
    func otherBlocks() {
        #expect(violations(Self.inclusion + "```\nlet b = 1\n```\n```sh\n@Snippet\n```\n") == [])
    }

    @Test("A snippet or its slice may be included")
    func included() {
        #expect(violations(Self.inclusion) == [])
        #expect(violations(Self.inclusion + "@Snippet(path: \"Espalier/Snippets/Reading\")") == [])
    }

    @Test(
        "Included snippets that do not exist are found",
        arguments: [
            "@Snippet(path: \"Espalier/Snippets/Writing\", slice: \"read\")",
            "@Snippet(path: \"Snippets/Reading\")",
            "@Snippet(\"Espalier/Snippets/Reading\")",
        ])
    func missingSnippet(inclusion: String) {
        #expect(
            violations(Self.inclusion + inclusion) == ["docs/a.md:2: no such snippet: \(inclusion)"]
        )
    }

    @Test(
        "Included slices that do not exist are found", arguments: ["write", "end", "hide", "show"])
    func missingSlice(slice: String) {
        let text = "@Snippet(path: \"Espalier/Snippets/Reading\", slice: \"\(slice)\")"
        #expect(
            violations(Self.inclusion + text) == [
                "docs/a.md:2: Snippets/Reading.swift has no slice \(slice)"
            ])
    }

    @Test("Snippets with the macro stand behind its trait, so that the package builds without")
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

    @Test("Snippets and slices that no document shows are found")
    func unused() {
        #expect(violations("Text.") == ["Snippets/Reading.swift: no document shows it"])
        let whole = "@Snippet(path: \"Espalier/Snippets/Reading\")"
        #expect(violations(whole) == ["Snippets/Reading.swift: no document shows its slice read"])
    }
}
