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
