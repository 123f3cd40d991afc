/// A Markdown file: for readers of the repository, or an article of the documentation catalogue.
struct Document: Sendable {
    let path: String

    /// The ```` ```swift ```` blocks, with the number of their first line.
    let swiftBlocks: [Block]

    /// The lines that include a snippet.
    let inclusions: [Inclusion]

    struct Block: Sendable {
        let line: Int
        let lines: [String]
    }

    /// `@Snippet(path: "Package/Snippets/Name", slice: "slice")`.
    struct Inclusion: Sendable {
        let line: Int
        let text: String
        let path: String?
        let slice: String?
    }

    init(path: String, text: String) {
        self.path = path
        var blocks: [Block] = []
        var inclusions: [Inclusion] = []
        var fence: (info: Substring, line: Int, lines: [String])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let trimmed = line.drop { $0 == " " }
            if trimmed.hasPrefix("```") {
                if let open = fence {
                    if open.info == "swift" {
                        blocks.append(Block(line: open.line, lines: open.lines))
                    }
                    fence = nil
                } else {
                    fence = (trimmed.dropFirst(3), index + 2, [])
                }
            } else if fence != nil {
                fence?.lines.append(String(line))
            } else if trimmed.hasPrefix("@Snippet") {
                inclusions.append(Inclusion(line: index + 1, text: String(trimmed)))
            }
        }
        swiftBlocks = blocks
        self.inclusions = inclusions
    }
}

extension Document.Inclusion {
    init(line: Int, text: String) {
        self.line = line
        self.text = text
        path = Self.value(of: "path", in: text)
        slice = Self.value(of: "slice", in: text)
    }

    private static func value(of name: String, in text: String) -> String? {
        guard let start = text.firstRange(of: "\(name): \"")?.upperBound else { return nil }
        return text[start...].firstIndex(of: "\"").map { String(text[start..<$0]) }
    }
}

extension Repository {
    var documents: [Document] {
        texts.filter { $0.key.hasSuffix(".md") }
            .map { Document(path: $0.key, text: $0.value) }
            .sorted { $0.path < $1.path }
    }
}

/// A file of `Snippets`, compiled with everything else. Documents take their examples from it.
struct Snippet: Sendable {
    let path: String
    let file: SourceFile

    /// Its lines as documents may show them: without the markers of slices.
    let shownLines: [String]
    let slices: [String]

    init(path: String, text: String) {
        self.path = path
        file = SourceFile(path: path, text: text)
        let markers = file.lines.map(Self.marker)
        shownLines = zip(file.lines, markers).filter { $0.1 == nil }.map(\.0)
        slices = markers.compactMap { $0 }.filter { !["hide", "show", "end"].contains($0) }
    }

    /// The name by which documents include it.
    var name: String { String(file.name.dropLast(".swift".count)) }

    /// Whether all of it stands behind the trait of the macro: without, it is an empty program.
    var isBehindTrait: Bool { isBehind("Macros") }

    private func isBehind(_ trait: String) -> Bool {
        let code = file.codeLines.map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        return code.first == "#if\(trait)" && code.last == "#endif"
    }

    var usesMacro: Bool { file.codeLines.contains { $0.contains("@Normalized") } }

    /// Whether it is built to print what it says.
    var isBuilt: Bool {
        #if !Encryption
        if isBehind("Encryption") { return false }
        #endif
        #if Macros
        return true
        #else
        return !isBehindTrait
        #endif
    }

    /// What follows `// snippet.` on a line of its own.
    private static func marker(_ line: String) -> String? {
        let line = line.drop { $0 == " " }
        let start = "// snippet."
        return line.hasPrefix(start) ? String(line.dropFirst(start.count)) : nil
    }
}

extension Repository {
    var snippets: [Snippet] {
        texts.filter { path, _ in
            (path.hasPrefix("Snippets/") || path.hasPrefix("Fleet/Snippets/"))
                && path.hasSuffix(".swift")
        }
        .map { Snippet(path: $0.key, text: $0.value) }
        .sorted { $0.path < $1.path }
    }
}

// Test logs name the snippet by its path, and do not print all of it.
extension Snippet: CustomStringConvertible {
    var description: String { path }
}
