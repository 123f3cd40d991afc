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
