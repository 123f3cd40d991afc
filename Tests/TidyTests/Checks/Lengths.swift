import Testing

/// A long file is a design that has not been finished; a short one is a piece of an idea.
enum FileLength {
    static let limit = 600
    static let limitOfTests = 800
    static let minimum = 40
    static let minimumOfMedian = 100
    static let maximumCount = 399

    /// Files in `Sources` that may be shorter than `minimum`, with the reason.
    static let allowed: [String: String] = [
        "Sources/Espalier/Espalier.swift": "the module re-exports the others",
        "Sources/EspalierMain/EspalierMain.swift": "the module is the executable alone",
    ]

    static func violations(in file: SourceFile) -> [Violation] {
        violations(in: file, allowed: allowed)
    }

    static func violations(in file: SourceFile, allowed: [String: String]) -> [Violation] {
        let count = file.lines.count
        let limit = file.isInTests ? limitOfTests : limit
        if count > limit, file.isInSources || file.isInTests {
            return [file.violation(line: limit + 1, "\(count) lines, at most \(limit)")]
        }
        if count < minimum, file.isInSources, allowed[file.path] == nil {
            return [file.violation(line: 1, "\(count) lines, fewer than \(minimum)")]
        }
        return []
    }

    /// Checks how many files there are in `Sources`, and how long they are together.
    ///
    /// - Parameter lengths: The number of lines of each file.
    static func violations(ofLengths lengths: [Int]) -> [Violation] {
        var violations: [Violation] = []
        if lengths.count > maximumCount {
            let problem = "\(lengths.count) Swift files, at most \(maximumCount)"
            violations.append(Violation(place: "Sources", problem: problem))
        }
        let median = lengths.sorted()[lengths.count / 2]
        if median < minimumOfMedian {
            let problem = "the median file has \(median) lines, fewer than \(minimumOfMedian)"
            violations.append(Violation(place: "Sources", problem: problem))
        }
        return violations
    }
}

/// A line fits into two windows side by side.
enum LineLength {
    static let limit = 100

    static func violations(in file: SourceFile) -> [Violation] {
        let data = sampleLines(in: file)
        return file.lines.enumerated().compactMap { index, line in
            // The bytes are counted first, because that is fast.
            guard line.utf8.count > limit, line.count > limit, !isAddress(line),
                !data.contains(index + 1), file.isInSources || !isLiteral(line)
            else { return nil }
            return file.violation(line: index + 1, "\(line.count) columns, at most \(limit)")
        }
    }

    private static func isAddress(_ line: String) -> Bool {
        let text = line.drop { " /*-<".contains($0) }
        return text.hasPrefix("http") && !text.contains(" ")
    }

    /// Whether the line holds one string alone, with the operator or label in front of it: data or
    /// markup that is easier to read in one piece. Literals in `Sources` can be wrapped.
    private static func isLiteral(_ line: String) -> Bool {
        let text = line.drop { " =?:+".contains($0) }.drop { $0 == "#" }
        let end = text.reversed().drop { ",)]};".contains($0) }.drop { $0 == "#" }
        return text.first == "\"" && end.first == "\""
    }

    /// Sample data in tests and benchmarks: the inside of literals with three quotes.
    ///
    /// Literals in `Sources` are texts for people, and can be wrapped.
    private static func sampleLines(in file: SourceFile) -> Set<Int> {
        guard !file.isInSources else { return [] }
        return Set(
            file.literals.filter { $0.text.hasPrefix("\n") }
                .flatMap { $0.lines.lowerBound + 1..<$0.lines.upperBound })
    }
}

/// A function fits on a screen: from its declaration to its closing brace at most 70 lines.
enum FunctionLength {
    static let limit = 70

    static func violations(in file: SourceFile) -> [Violation] {
        file.tokens.indices.compactMap { start in
            guard let body = bodyStart(ofDeclarationAt: start, in: file.tokens),
                let end = closingBrace(ofBraceAt: body, in: file.tokens)
            else { return nil }
            let first = file.tokens[start].line
            let length = file.tokens[end].line - first + 1
            guard length > limit else { return nil }
            return file.violation(line: first, "a function of \(length) lines, at most \(limit)")
        }
    }

    /// The brace that opens the body of the function, initialiser, subscript or variable declared
    /// here.
    private static func bodyStart(ofDeclarationAt start: Int, in tokens: [Token]) -> Int? {
        guard isDeclaration(at: start, in: tokens) else { return nil }
        var depth = 0
        for index in tokens.indices[(start + 1)...] {
            switch tokens[index].text {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "{" where depth == 0: return index
            case "}" where depth == 0: return nil
            case let word where depth == 0 && nextDeclaration.contains(word) && index > start + 1:
                return nil
            default: break
            }
        }
        return nil
    }

    private static func isDeclaration(at index: Int, in tokens: [Token]) -> Bool {
        let previous = index > 0 ? tokens[index - 1].text : ""
        let next = index + 1 < tokens.count ? tokens[index + 1].text : ""
        return switch tokens[index].text {
        case "func", "var": true
        case "init": previous != "." && ["(", "?", "!", "<"].contains(next)
        case "subscript": ["(", "<"].contains(next)
        case "deinit": next == "{"
        default: false
        }
    }

    /// Words that start something else, so that what came before (a requirement of a protocol, a
    /// stored property) had no body.
    private static let nextDeclaration: Set<String> = [
        "func", "var", "let", "init", "subscript", "deinit", "case", "struct", "class", "enum",
        "actor",
        "protocol", "extension", "typealias", "associatedtype", "import", "public", "private",
        "fileprivate",
        "internal", "package", "static", "mutating", "nonmutating", "return", "if", "guard", "for",
        "while", "switch",
        "defer", "do", "throw",
    ]

    private static func closingBrace(ofBraceAt start: Int, in tokens: [Token]) -> Int? {
        var depth = 0
        for index in tokens.indices[start...] {
            switch tokens[index].text {
            case "{": depth += 1
            case "}": depth -= 1
            default: continue
            }
            if depth == 0 { return index }
        }
        return nil
    }
}

@Suite("Files, functions and lines are short")
struct LengthTests {
    @Test("Every file of the repository has a length that reads well")
    func files() {
        expectNone(Repository.current.swiftFiles.flatMap(FileLength.violations))
    }

    @Test("Sources have fewer than 400 files, half of which have 100 lines or more")
    func allFiles() {
        let files = Repository.current.swiftFiles.filter(\.isInSources)
        expectNone(FileLength.violations(ofLengths: files.map(\.lines.count)))
    }

    @Test("Every function of the repository fits on a screen")
    func functions() {
        expectNone(Repository.current.swiftFiles.flatMap(FunctionLength.violations))
    }

    @Test("No line of the repository is longer than 100 columns")
    func lines() {
        expectNone(Repository.current.swiftFiles.flatMap(LineLength.violations))
    }

    @Test("The allow list names only files that need it, with a reason")
    func allowList() {
        for (path, reason) in FileLength.allowed {
            let file = Repository.current.swiftFiles.first { $0.path == path }
            let count = file?.lines.count ?? .max
            #expect(count < FileLength.minimum, "\(path) is not short any more")
            #expect(reason.split(separator: " ").count > 2, "\(path)")
        }
    }

    @Test(
        "Files that are too long or too short are found",
        arguments: [
            (600, "Sources", 0), (601, "Sources", 1), (800, "Tests", 0), (801, "Tests", 1),
            (40, "Sources", 0), (39, "Sources", 1), (1, "Tests", 0), (1, "Benchmarks", 0),
        ])
    func lengthOfFile(lines: Int, folder: String, found: Int) {
        let file = SourceFile(
            path: "\(folder)/M/a.swift", text: String(repeating: "\n", count: lines))
        #expect(FileLength.violations(in: file).count == found)
    }

    @Test("The allow list excuses short files and no long ones")
    func limitsOfAllowList() {
        let allowed = ["Sources/M/a.swift": "a reason"]
        for (lines, found) in [(1, 0), (600, 0), (601, 1)] {
            let file = SourceFile(
                path: "Sources/M/a.swift", text: String(repeating: "\n", count: lines))
            #expect(FileLength.violations(in: file, allowed: allowed).count == found)
        }
    }

    @Test("Too many files and too low a median are found")
    func lengthsOfAll() {
        for (lengths, found) in [
            (Array(repeating: 100, count: 399), 0), (Array(repeating: 100, count: 400), 1),
            ([1, 99, 500], 1), ([1, 100, 100], 0), (Array(repeating: 50, count: 400), 2),
        ] {
            #expect(FileLength.violations(ofLengths: lengths).count == found)
        }
    }

    @Test(
        "A long line is found, unless it is an address or sample data",
        arguments: [
            ("Sources", "// \(String(repeating: "a", count: 97))", 0),
            ("Sources", "// \(String(repeating: "a", count: 98))", 1),
            ("Sources", "// \(String(repeating: "ä", count: 97))", 0),
            ("Sources", "let a = \"\(String(repeating: "a", count: 98))\"", 1),
            ("Sources", "/// https://\(String(repeating: "a", count: 98))", 0),
            ("Sources", "/// https://\(String(repeating: "a", count: 98)) text", 1),
            ("Sources", "f(\"\"\"\n\(String(repeating: "a", count: 101))\n\"\"\")", 1),
            ("Tests", "f(\"\"\"\n\(String(repeating: "a", count: 101))\n\"\"\")", 0),
            ("Tests", "f(\"\"\"\na\n\"\"\", \(String(repeating: "a", count: 101)))", 1),
            ("Tests", "let a = \"\(String(repeating: "a", count: 98))\"", 1),
            ("Tests", "    == #\"\(String(repeating: "a", count: 98))\"#)", 0),
            ("Sources", "    == #\"\(String(repeating: "a", count: 98))\"#)", 1),
        ])
    func longLine(folder: String, text: String, found: Int) {
        let file = SourceFile(path: "\(folder)/M/a.swift", text: text)
        #expect(LineLength.violations(in: file).count == found)
    }

    @Test(
        "A function of 71 lines is found, and one of 70 is not",
        arguments: [
            "func f(a: () -> Void = {}) throws -> [Int]\nwhere T: P {", "init?<T>(x: T) {",
            "deinit {",
            "subscript(i: Int) -> Int {", "var x: [Int] {", "static func == (a: T, b: T) -> Bool {",
        ])
    func longFunction(head: String) {
        let extraLines = head.split(separator: "\n").count - 1
        for (bodyLines, found) in [(68 - extraLines, 0), (69 - extraLines, 1)] {
            let body = String(repeating: "    if a { \"}\" } // }\n", count: bodyLines)
            let text = "protocol P {\n    func g()\n    var y: Int { get }\n}\n\(head)\n\(body)}\n"
            let violations = FunctionLength.violations(
                in: SourceFile(path: "Sources/M/a.swift", text: text))
            #expect(violations.count == found, "\(violations)")
        }
    }
}
