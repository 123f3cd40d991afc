#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("A pattern matches whole identifiers")
struct GlobTests {
    /// Returns every text of up to `length` characters.
    private static func texts(of alphabet: [String], upTo length: Int) -> [String] {
        var all = [""]
        var last = [""]
        for _ in 0..<length {
            last = last.flatMap { text in alphabet.map { text + $0 } }
            all += last
        }
        return all
    }

    private static func disagreements(patterns: [String], texts: [String]) -> [String] {
        patterns.flatMap { pattern -> [String] in
            let reference = NaiveGlob(pattern)
            let glob = try? Glob(parsing: pattern)
            guard let glob, let reference else {
                return (glob == nil) == (reference == nil || pattern.isEmpty) ? [] : [pattern]
            }
            return texts.filter { glob.matches($0) != reference.matches($0) }.map {
                "\(pattern) \($0)"
            }
        }
    }

    @Test("A pattern of up to four characters matches as in a naive matcher")
    func allSyntax() {
        let patterns = Self.texts(of: ["a", "b", "*", "?", "[", "]", "!", "-", "\\"], upTo: 4)
        #expect(
            Self.disagreements(patterns: patterns, texts: Self.texts(of: ["a", "b", "]"], upTo: 3))
                == [])
    }

    @Test("A pattern of up to six stars, question marks and letters matches as in a naive matcher")
    func allStars() {
        let patterns =
            Self.texts(of: ["a", "b", "*", "?"], upTo: 5) + Self.texts(of: ["a", "*"], upTo: 7)
        #expect(
            Self.disagreements(patterns: patterns, texts: Self.texts(of: ["a", "b"], upTo: 5)) == []
        )
    }

    @Test(
        "A pattern matches whole identifiers",
        arguments: [
            ("User:*", "User:1", true), ("User:*", "User:", true), ("User:*", "user:1", false),
            ("*:1", "User:1", true),
            ("[a-c]?", "b日", true), ("[!a-c]?", "b日", false), ("[日-本]", "日", true),
            ("?", "é", true),
            ("?", "e\u{301}", false), ("??", "e\u{301}", true), ("é", "e\u{301}", false),
            ("e*", "e\u{301}", true),
            ("?", "😀", true), ("?", "👩‍💻", false), ("*\n*", "a\nb", true), ("?", "\u{0}", true),
            ("[]]", "]", true),
            ("[]-a]", "^", true), ("[!]]", "]", false), ("[a-]", "-", true), ("[-a]", "-", true),
            (#"[\]]"#, "]", true),
            (#"[a\-z]"#, "m", false), (#"\*"#, "*", true), (#"\*"#, "x", false),
            (#"\a"#, "a", true),
            ("]", "]", true),
            ("[*]", "*", true), ("[^a]", "^", true), ("مست*", "مستخدم:١", true), ("*", "", true),
        ])
    func examples(pattern: String, text: String, matches: Bool) throws {
        #expect(try Glob(parsing: pattern).matches(text) == matches)
    }

    @Test("A pattern with many stars that fail late stays fast")
    func stars() throws {
        let text = String(repeating: "a", count: 20_000)
        for pattern in [
            "*a*a*a*b", String(repeating: "*a", count: 50) + "b",
            String(repeating: "*?", count: 50) + "b",
        ] {
            #expect(try !Glob(parsing: pattern).matches(text))
            #expect(try Glob(parsing: pattern).matches(text + "b"))
        }
    }

    @Test(
        "The literal prefix of a pattern begins all its matches",
        arguments: [
            ("User:*", "User:", false), ("User:1", "User:1", true), ("*", "", false),
            (#"a\*b?"#, "a*b", false),
            ("日本[a]", "日本", false), ("[a]b", "", false), (#"\\"#, #"\"#, true),
        ])
    func prefix(pattern: String, prefix: String, isLiteral: Bool) throws {
        let glob = try Glob(parsing: pattern)
        #expect(glob.literalPrefix == prefix)
        #expect(glob.isLiteral == isLiteral)
    }

    @Test(
        "A malformed pattern is refused with a correction",
        arguments: [
            "", "[", "[]", "[!]", "[a", "[a-", #"\"#, #"a[\"#, "[z-a]", #"[a\]"#, #"[a-\]"#,
        ])
    func malformed(pattern: String) {
        #expect(throws: ArgumentProblem.self) { try Glob(parsing: pattern) }
    }
}

/// A direct implementation of the rules, tried one after another: exponential, but easy to check.
private struct NaiveGlob {
    private enum Part {
        case star
        case one((Unicode.Scalar) -> Bool)
    }

    private var parts: [Part] = []

    init?(_ pattern: String) {
        let scalars = Array(pattern.unicodeScalars)
        var position = 0
        while position < scalars.count {
            switch scalars[position] {
            case "*": parts.append(.star)
            case "?": parts.append(.one { _ in true })
            case "\\":
                position += 1
                guard position < scalars.count else { return nil }
                let own = scalars[position]
                parts.append(.one { $0 == own })
            case "[":
                guard let (end, isMember) = Self.set(scalars, from: position + 1) else {
                    return nil
                }
                parts.append(.one(isMember))
                position = end
            case let own: parts.append(.one { $0 == own })
            }
            position += 1
        }
    }

    /// The index of the closing bracket, and the scalars of the set.
    private static func set(
        _ scalars: [Unicode.Scalar], from start: Int
    ) -> (end: Int, isMember: (Unicode.Scalar) -> Bool)? {
        var members: [(scalar: Unicode.Scalar, isEscaped: Bool)] = []
        var position = start
        let isNegated = position < scalars.count && scalars[position] == "!"
        if isNegated { position += 1 }
        while position < scalars.count, scalars[position] != "]" || members.isEmpty {
            let isEscaped = scalars[position] == "\\"
            if isEscaped { position += 1 }
            guard position < scalars.count else { return nil }
            members.append((scalars[position], isEscaped))
            position += 1
        }
        guard position < scalars.count else { return nil }
        var ranges: [(UInt32, UInt32)] = []
        var index = 0
        while index < members.count {
            let lower = members[index].scalar.value
            if index + 2 < members.count, members[index + 1] == ("-", false) {
                guard lower <= members[index + 2].scalar.value else { return nil }
                ranges.append((lower, members[index + 2].scalar.value))
                index += 3
            } else {
                ranges.append((lower, lower))
                index += 1
            }
        }
        return (
            position,
            { scalar in
                ranges.contains { $0.0 <= scalar.value && scalar.value <= $0.1 } != isNegated
            }
        )
    }

    func matches(_ text: String) -> Bool { matches(parts[...], Array(text.unicodeScalars)[...]) }

    private func matches(_ parts: ArraySlice<Part>, _ text: ArraySlice<Unicode.Scalar>) -> Bool {
        switch parts.first {
        case nil: text.isEmpty
        case .star?:
            matches(parts.dropFirst(), text) || (!text.isEmpty && matches(parts, text.dropFirst()))
        case .one(let isMember)?:
            text.first.map { isMember($0) && matches(parts.dropFirst(), text.dropFirst()) } ?? false
        }
    }
}
#endif
