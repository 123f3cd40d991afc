import Testing

/// A Swift file of this repository, or a sample that stands for one.
struct SourceFile: Sendable {
    /// The path below the root of the repository.
    let path: String
    let lines: [String]

    /// Line by line, with comments and the text of strings blank.
    let codeLines: [String]

    /// Line by line, with everything else blank.
    let commentLines: [String]
    let tokens: [Token]
    let literals: [StringLiteral]

    init(path: String, text: String) {
        let parts = SwiftText(text)
        self.path = path
        lines = Self.lines(of: text)
        codeLines = Self.lines(of: String(decoding: parts.code, as: UTF8.self))
        commentLines = Self.lines(of: String(decoding: parts.comments, as: UTF8.self))
        tokens = Token.tokens(of: parts.code)
        literals = parts.literals
    }

    /// The folders of `Benchmarks` that are modules of the package itself.
    private static let benchmarkModules = [
        "Charts": "EspalierCharts", "Fixtures": "EspalierFixtures", "Suites": "EspalierBench",
    ]

    /// The module that the file belongs to. Nil for files outside of the package's targets.
    var module: String? {
        let parts = path.split(separator: "/").map(String.init)
        guard parts.count > 2 else { return nil }
        return switch parts[0] {
        case "Sources", "Tests": parts[1]
        case "Benchmarks": Self.benchmarkModules[parts[1]]
        default: nil
        }
    }

    var isInSources: Bool { path.hasPrefix("Sources/") }
    var isInTests: Bool { path.hasPrefix("Tests/") }

    /// Whether the file belongs to the library, the tool or a module that the tool uses.
    var isInProduct: Bool { isInSources || path.hasPrefix("Benchmarks/") && module != nil }

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

/// A place that breaks a rule.
struct Violation: Sendable, Equatable, CustomStringConvertible {
    let place: String
    let problem: String

    var description: String { "\(place): \(problem)" }
}

/// Records an issue for each violation, with its place, rather than one long list.
func expectNone(_ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation) {
    for violation in violations {
        Issue.record("\(violation)", sourceLocation: sourceLocation)
    }
}
