/// A declaration of a type, a member, a case or a requirement, found without parsing the file.
///
/// Of the bodies of functions only the types are found.
struct Declaration {
    /// `func`, `struct`, `case`...
    let keyword: String

    /// The name without labels: `init` and `subscript` are named after their keyword.
    let name: String

    /// Where the declaration starts with its first modifier, attributes apart.
    let line: Int

    /// Where its first attribute stands. `line` if it has none.
    let firstLine: Int

    /// The type or extension around it, from the outermost.
    let scopes: [Scope]

    /// Whether it says `public` or `open`, or is a case or requirement of a type that does.
    let isPublic: Bool

    /// The labels or names of the parameters.
    let parameters: [String]
    let throwsErrors: Bool

    /// The names behind the colon of a type.
    let conformances: Set<String>

    var isType: Bool { Self.typeKeywords.contains(keyword) }

    /// A type or extension.
    struct Scope {
        let keyword: String
        let name: String
        let isPublic: Bool
        let conformances: Set<String>
    }

    static func all(in file: SourceFile) -> [Declaration] {
        var reader = DeclarationReader(tokens: file.tokens)
        return reader.declarations()
    }

    fileprivate static let typeKeywords: Set<String> = [
        "struct", "class", "enum", "protocol", "actor", "typealias", "associatedtype",
    ]
    fileprivate static let memberKeywords: Set<String> = [
        "func", "init", "subscript", "var", "let",
    ]
    fileprivate static let modifiers: Set<String> = [
        "public", "open", "package", "internal", "fileprivate", "private", "final", "indirect",
        "nonisolated", "isolated", "distributed", "static", "class", "mutating", "nonmutating",
        "consuming", "borrowing", "override", "required", "convenience", "lazy", "weak", "unowned",
        "prefix", "postfix", "infix", "dynamic", "unsafe",
    ]
}

/// Walks over the tokens of a file with the types around the present one.
private struct DeclarationReader {
    let tokens: [Token]
    /// Nil for braces of other things than types.
    private var scopes: [Declaration.Scope?] = []
    /// The type whose opening brace has not come yet.
    private var opening: Declaration.Scope?

    init(tokens: [Token]) { self.tokens = tokens }

    mutating func declarations() -> [Declaration] {
        var found: [Declaration] = []
        for index in tokens.indices {
            switch tokens[index].text {
            case "{":
                scopes.append(opening)
                opening = nil
            case "}":
                _ = scopes.popLast()
            case "extension" where isWord(at: index + 1) && !isMember(at: index):
                opening = scope(ofExtensionAt: index)
            default:
                guard let declaration = declaration(at: index) else { continue }
                found.append(declaration)
                let isAlias = ["typealias", "associatedtype"].contains(declaration.keyword)
                guard declaration.isType, !isAlias else { continue }
                opening = Declaration.Scope(
                    keyword: declaration.keyword, name: declaration.name,
                    isPublic: declaration.isPublic, conformances: declaration.conformances)
            }
        }
        return found
    }

    private func declaration(at index: Int) -> Declaration? {
        let keyword = tokens[index].text
        let isLocal = scopes.contains { $0 == nil }
        let scope = scopes.last ?? nil
        guard isDeclared(keyword, at: index, isLocal: isLocal, in: scope) else { return nil }
        let modifiers = modifiers(before: index)
        let (name, end) = name(after: index)
        let signature =
            ["func", "init", "subscript", "case"].contains(keyword)
            ? parameters(after: end) : (names: [], end: end)
        let words = modifiers.map(\.text)
        return Declaration(
            keyword: keyword, name: name, line: (modifiers.first ?? tokens[index]).line,
            firstLine: firstAttribute(before: index, modifiers).line,
            scopes: scopes.compactMap(\.self),
            isPublic: words.contains("public") || words.contains("open")
                || scope?.isPublic == true && (keyword == "case" || scope?.keyword == "protocol"),
            parameters: signature.names,
            throwsErrors: throwsErrors(keyword, after: signature.end),
            conformances: conformances(after: end))
    }

    private func isDeclared(
        _ keyword: String, at index: Int, isLocal: Bool, in scope: Declaration.Scope?
    ) -> Bool {
        guard !isMember(at: index) else { return false }
        if Declaration.typeKeywords.contains(keyword) {
            // `class func`, `T: class, P` and `let actor = 1` declare no type.
            let first = text(at: index + 1).unicodeScalars.first
            return first.map { $0.properties.isUppercase || $0 == "_" } ?? false
        }
        guard !isLocal else { return false }
        if keyword == "case" { return scope?.keyword == "enum" }
        guard Declaration.memberKeywords.contains(keyword) else { return false }
        if keyword == "init" { return ["(", "?", "!", "<"].contains(text(at: index + 1)) }
        if keyword == "subscript" { return ["(", "<"].contains(text(at: index + 1)) }
        return true
    }

    /// `a.init`, `import struct A.B` and `.case` declare nothing.
    private func isMember(at index: Int) -> Bool {
        [".", "import", "`"].contains(text(at: index - 1))
    }

    /// The modifiers in front of a declaration, in their order. `private(set)` is `private` here.
    private func modifiers(before index: Int) -> [Token] {
        var modifiers: [Token] = []
        var first = index
        while first > 0 {
            let hasParenthesis = text(at: first - 1) == ")" && text(at: first - 3) == "("
            let next = hasParenthesis ? first - 4 : first - 1
            guard Declaration.modifiers.contains(text(at: next)) else { break }
            modifiers.insert(tokens[next], at: 0)
            first = next
        }
        return modifiers
    }

    /// The start of the first attribute in front of a declaration and its modifiers, or the first
    /// of these.
    private func firstAttribute(before index: Int, _ modifiers: [Token]) -> Token {
        var first = index
        if let modifier = modifiers.first {
            while first > 0, tokens[first].offset > modifier.offset { first -= 1 }
        }
        while first > 0 {
            var start = first - 1
            if text(at: start) == ")" {
                var depth = 0
                while start > 0 {
                    if text(at: start) == ")" { depth += 1 }
                    if text(at: start) == "(" { depth -= 1 }
                    start -= 1
                    if depth == 0 { break }
                }
            }
            guard isWord(at: start), text(at: start - 1) == "@" else { break }
            first = start - 1
        }
        return tokens[first]
    }

    private func name(after index: Int) -> (name: String, end: Int) {
        switch tokens[index].text {
        case "init", "subscript":
            let mark = ["?", "!"].contains(text(at: index + 1))
            return (tokens[index].text, index + (mark ? 2 : 1))
        default:
            var next = index + 1
            if text(at: next) == "`" { return (text(at: next + 1), next + 3) }
            if isWord(at: next) { return (text(at: next), next + 1) }
            var name = ""
            while next < tokens.count, !["(", "{"].contains(text(at: next)) {
                name += text(at: next)
                next += 1
            }
            return (name, next)
        }
    }

    private func parameters(after index: Int) -> (names: [String], end: Int) {
        var next = index
        if text(at: next) == "<" {
            var depth = 0
            repeat {
                if text(at: next) == "<" { depth += 1 }
                if text(at: next) == ">", text(at: next - 1) != "-" { depth -= 1 }
                next += 1
            } while depth > 0 && next < tokens.count
        }
        guard text(at: next) == "(" else { return ([], next) }
        var names: [String] = []
        var depth = 0
        while next < tokens.count {
            let token = text(at: next)
            if depth == 1, ["(", ","].contains(text(at: next - 1)), isWord(at: next) {
                names.append(token)
            }
            if ["(", "[", "{"].contains(token) { depth += 1 }
            if [")", "]", "}"].contains(token) { depth -= 1 }
            next += 1
            if depth == 0 { break }
        }
        return (names, next)
    }

    private func throwsErrors(_ keyword: String, after index: Int) -> Bool {
        let effects: Set<String> = ["async", "throws", "reasync"]
        var next = index
        if keyword == "var" {
            // Only a getter can throw.
            while next < tokens.count,
                !["{", "=", "var", "func", "let", "}"].contains(text(at: next))
            {
                next += 1
            }
            guard text(at: next) == "{", text(at: next + 1) == "get" else { return false }
            next += 2
        } else if !["func", "init", "subscript"].contains(keyword) {
            return false
        }
        while effects.contains(text(at: next)) {
            if text(at: next) == "throws" { return text(at: next + 2) != "Never" }
            next += 1
        }
        return false
    }

    private func scope(ofExtensionAt index: Int) -> Declaration.Scope {
        var end = index + 1
        while text(at: end + 1) == "." { end += 2 }
        return Declaration.Scope(
            keyword: "extension", name: text(at: end), isPublic: true,
            conformances: conformances(after: end + 1))
    }

    private func conformances(after index: Int) -> Set<String> {
        var next = index
        while next < tokens.count, text(at: next) != ":" {
            if ["{", "}", "=", "("].contains(text(at: next)) { return [] }
            next += 1
        }
        var names: Set<String> = []
        while next < tokens.count, !["{", "}", "where", "="].contains(text(at: next)) {
            if isWord(at: next) { names.insert(text(at: next)) }
            next += 1
        }
        return names
    }

    private func text(at index: Int) -> String {
        tokens.indices.contains(index) ? tokens[index].text : ""
    }

    private func isWord(at index: Int) -> Bool {
        tokens.indices.contains(index) && tokens[index].isWord
    }
}
