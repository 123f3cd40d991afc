import Testing

/// The words that this project once had of its own, and the field's words for the same things.
///
/// Only words are here that are not also ordinary ones. `CHANGELOG.md` and the decisions may tell
/// of the past.
enum Glossary {
    /// A name that has been replaced.
    struct Entry: Sendable {
        /// The words of the name in small letters. Several words are found only within one
        /// identifier: `known names` stands for `KnownNames` and `knownNames`.
        let words: [String]
        let replacement: String

        /// Whether the name is wrong only as a part of an identifier that begins with a capital
        /// letter, because the words by themselves are ordinary ones.
        var isOnlyType = false

        init(_ words: String, _ replacement: String, isOnlyType: Bool = false) {
            self.words = words.split(separator: " ").map(String.init)
            self.replacement = replacement
            self.isOnlyType = isOnlyType
        }
    }

    static let entries: [Entry] =
        [
            ("assembly", "tree reader"), ("assemblies", "tree readers"), ("trail", "decoding path"),
            ("trails", "decoding paths"), ("expander", "decompressor"),
            ("expanders", "decompressors"), ("ledger", "reference counts"),
            ("ledgers", "reference counts"), ("books", "reference counts, metadata"),
            ("commit session", "commit transaction"),
            ("rehearsal", "simulation"), ("known names", "verified index entries"),
            ("known places", "record address cache"), ("tree places", "record locations"),
            ("nearby reader", "sequential reader"), ("entrances", "external references"),
            ("doom", "schedule removal"), ("doomed", "pending removal"),
            ("dying", "pending removal"), ("unname", "remove index entry"),
            ("unnaming", "removing an index entry"),
            ("pass time", "commit an empty transaction"), ("call attention", "wake the writer"),
            ("sweep", "collect cycles"), ("sweeps", "collects cycles"),
            ("sweeping", "collecting cycles"), ("swept", "collected"),
            ("listener board", "listener registry"), ("cache lane", "cache queue"),
            ("era", "epoch"), ("eras", "epochs"), ("floor", "hand-written baseline"),
        ].map { Entry($0, $1) }
        + [
            ("submission", "pending write"), ("eviction run", "evictor"),
            ("left behind", "stale generation"), ("tally", "a name that says what is counted"),
        ].map { Entry($0, $1, isOnlyType: true) }

    private static let byFirstWord = Dictionary(grouping: entries) { $0.words[0] }

    /// Words with another meaning, by path.
    static let allowed: [String: Set<String>] = [
        // The second half of a UTF-16 surrogate pair.
        "Sources/EspalierCLI/JSON/JSONParser.swift": ["trail"],
        // Expands macros.
        "Tests/EspalierMacrosTests/Harness/MacroExpander.swift": ["expander"],
        // Rounding down.
        "Benchmarks/Charts/ChartUnit.swift": ["floor"], "Benchmarks/Charts/Scale.swift": ["floor"],
    ]

    /// The file that holds this list, and the texts that tell of the past.
    private static let exempt = [
        "Tests/TidyTests/Checks/Glossary.swift", "CHANGELOG.md", "docs/decisions/",
    ]

    static func violations(in text: String, path: String) -> [Violation] {
        guard !exempt.contains(where: path.hasPrefix), isProse(path) else { return [] }
        return found(in: path, place: { _ in path }, path: path)
            + found(in: text, place: { "\(path):\($0)" }, path: path)
    }

    private static func found(in text: String, place: (Int) -> String, path: String)
        -> [Violation]
    {
        let words = Word.words(of: text)
        return words.indices.compactMap { index in
            let entry = byFirstWord[words[index].text]?.first { entry in
                words[index...].prefix(entry.words.count).map(\.text) == entry.words
                    && words[index...].prefix(entry.words.count).dropFirst().allSatisfy(
                        \.continuesName)
                    && (!entry.isOnlyType || isType(words, index, entry))
            }
            guard let entry else { return nil }
            let name = entry.words.joined(separator: " ")
            guard allowed[path]?.contains(name) != true else { return nil }
            return Violation(
                place: place(words[index].line),
                problem: "\"\(name)\" is called \(entry.replacement)")
        }
    }

    private static func isType(_ words: [Word], _ index: Int, _ entry: Entry) -> Bool {
        words[index...].prefix(entry.words.count).allSatisfy(\.isCapitalized)
            && !words[index].startsSentence
    }

    /// Data and pictures are not read.
    private static func isProse(_ path: String) -> Bool {
        [".swift", ".md", ".h", ".txt", "Makefile"].contains(where: path.hasSuffix)
            || path.hasPrefix("Scripts/")
    }
}

/// A word of a text, or a part of an identifier: `readTree` and `read_tree` are two words.
private struct Word {
    let text: String
    let line: Int
    let isCapitalized: Bool

    /// Whether it stands in one identifier with the word before it.
    let continuesName: Bool

    /// Whether it begins a sentence or a title, and may be an ordinary word with a capital letter.
    let startsSentence: Bool

    static func words(of text: String) -> [Word] {
        let bytes = Array(text.utf8)
        var words: [Word] = []
        var (index, line, end) = (0, 1, -1)
        while index < bytes.count {
            let start = index
            if !isLetter(bytes[index]) {
                if bytes[index] == UInt8(ascii: "\n") { line += 1 }
                index += 1
                continue
            }
            while index < bytes.count, isCapital(bytes[index]) { index += 1 }
            // The last capital of `XMLParser` begins the next word.
            if index - start > 1, index < bytes.count, isSmall(bytes[index]) { index -= 1 }
            while index < bytes.count, isSmall(bytes[index]) { index += 1 }
            words.append(
                Word(
                    text: String(decoding: bytes[start..<index], as: UTF8.self).lowercased(),
                    line: line, isCapitalized: isCapital(bytes[start]), continuesName: start == end,
                    startsSentence: isFirst(start, in: bytes, after: words.last)
                        && (index == bytes.count || bytes[index] <= UInt8(ascii: " "))))
            end = index
        }
        return words
    }

    /// Whether the marks of a comment, the end of a sentence or `MARK:` stand in front of a word.
    private static func isFirst(_ start: Int, in bytes: [UInt8], after word: Word?) -> Bool {
        var index = start - 1
        while index >= 0, bytes[index] == UInt8(ascii: " ") { index -= 1 }
        guard index >= 0 else { return true }
        return "/.!?*|#\n".utf8.contains(bytes[index]) || word?.text == "mark"
    }

    private static func isCapital(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
    }

    private static func isSmall(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
    }

    private static func isLetter(_ byte: UInt8) -> Bool { isCapital(byte) || isSmall(byte) }
}

@Suite("The field's words stand for the field's things")
struct GlossaryTests {
    @Test("No text of the repository has a word that the glossary replaces")
    func repository() {
        let texts = Repository.current.texts.sorted { $0.key < $1.key }
        expectNone(texts.flatMap { Glossary.violations(in: $0.value, path: $0.key) })
    }

    @Test("The allow list of the glossary names only words that stand in their file")
    func allowList() {
        for (path, names) in Glossary.allowed {
            let text = Repository.current.texts[path]?.lowercased() ?? ""
            for name in names { #expect(text.contains(name), "\(path) has no \(name)") }
        }
    }

    @Test("Every entry of the glossary is found as a type, as a variable and in prose")
    func entries() {
        for entry in Glossary.entries {
            let type = entry.words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            let name = entry.words[0] + type.dropFirst(entry.words[0].count)
            let found = entry.isOnlyType ? 0 : 1
            for (text, count) in [
                ("struct \(type) {}", 1), ("let x = \(type)Map()", 1), ("var x: \(type) = y", 1),
                ("let \(name) = 1", found), ("let my\(type) = 1", 1),
                ("// The \(entry.words[0]) is here.", entry.words.count == 1 ? found : 0),
            ] {
                let violations = Glossary.violations(in: text, path: "Sources/M/a.swift")
                #expect(violations.count == count, "\(text): \(violations)")
            }
        }
    }

    @Test(
        "Ordinary words are not found",
        arguments: [
            "// a trailing closure", "let reassembled = 1", "// the order of submission",
            "// Submission is in order.", "// MARK: Submission", "/// Tell. Tally the reads.",
            "operation camera", "// the generation left behind",
            "names[known], names",
            "// a wasted bookshelf",
        ])
    func harmless(text: String) {
        #expect(Glossary.violations(in: text, path: "docs/a.md") == [])
    }

    @Test("Names of files and folders are checked as well")
    func paths() {
        for path in ["Sources/M/CommitSession.swift", "Tests/M/Sweeps/a.swift"] {
            #expect(Glossary.violations(in: "", path: path).map(\.place) == [path])
        }
    }

    @Test("The history may name the words of the past")
    func history() {
        for path in ["CHANGELOG.md", "docs/decisions/0001-a.md", "docs/performance/a.svg"] {
            #expect(Glossary.violations(in: "KnownPlaces", path: path) == [])
        }
        let place = Glossary.violations(in: "a\nb knownPlaces", path: "README.md").map(\.place)
        #expect(place == ["README.md:2"])
    }
}
