/// A Swift file of this repository, or a sample that stands for one.
struct SourceFile: Sendable {
    /// Below the root of the repository.
    let path: String
    let lines: [String]

    /// Line by line, with comments and the text of strings blank.
    let codeLines: [String]

    /// Line by line, with everything else blank.
    let commentLines: [String]
    let tokens: [Token]

    init(path: String, text: String) {
        let parts = SwiftText(text)
        self.path = path
        lines = Self.lines(of: text)
        codeLines = Self.lines(of: String(decoding: parts.code, as: UTF8.self))
        commentLines = Self.lines(of: String(decoding: parts.comments, as: UTF8.self))
        tokens = Token.tokens(of: parts.code)
    }

    /// The folder below `Sources` or `Tests`; nil elsewhere.
    var module: String? {
        let parts = path.split(separator: "/")
        guard parts.count > 2, parts[0] == "Sources" || parts[0] == "Tests" else { return nil }
        return String(parts[1])
    }

    var isInSources: Bool { path.hasPrefix("Sources/") }

    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    func violation(line: Int, _ problem: String) -> Violation {
        Violation(place: "\(path):\(line)", problem: problem)
    }

    private static func lines(of text: String) -> [String] {
        // By bytes: CR and LF together are one Character, at which a String would not be split.
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        if lines.last == "" { lines.removeLast() }
        return lines
    }
}
