/// A file of `Snippets`, compiled with everything else: what examples in documents are taken from.
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
    var isBehindTrait: Bool {
        let code = file.codeLines.map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        return code.first == "#ifMacros" && code.last == "#endif"
    }

    var usesMacro: Bool { file.codeLines.contains { $0.contains("@Normalized") } }

    /// Whether it is built to print what it says.
    var isBuilt: Bool {
        #if Macros
        true
        #else
        !isBehindTrait
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
        texts.filter { $0.key.hasPrefix("Snippets/") && $0.key.hasSuffix(".swift") }
            .map { Snippet(path: $0.key, text: $0.value) }
            .sorted { $0.path < $1.path }
    }
}

// Not all that is in it, in every line about a test.
extension Snippet: CustomStringConvertible {
    var description: String { path }
}
