/// What the compiler is told to believe carries the reason for it, in a comment on the line or
/// above it.
enum UncheckedClaims {
    static func violations(in file: SourceFile) -> [Violation] {
        guard file.isInSources else { return [] }
        return file.tokens.indices.compactMap { index in
            guard let claim = claim(at: index, in: file.tokens) else { return nil }
            let line = file.tokens[index].line
            return hasReason(line: line, in: file)
                ? nil : file.violation(line: line, "\(claim) without a reason")
        }
    }

    private static func claim(at index: Int, in tokens: [Token]) -> String? {
        let previous = index > 0 ? tokens[index - 1].text : ""
        switch tokens[index].text {
        case "unchecked" where previous == "@": return "@unchecked"
        case "unsafe" where index >= 2 && tokens[index - 2].text == "nonisolated":
            return "nonisolated(unsafe)"
        case "!" where tokens[index].isAttached:
            // A prefix operator follows an opening bracket or another operator, `!=` an operand and
            // a space.
            if index + 1 < tokens.count, tokens[index + 1].text == "=", tokens[index + 1].isAttached
            {
                return nil
            }
            if previous == "try" || previous == "as" { return previous + "!" }
            let isPostfix =
                tokens[index - 1].isWord || [")", "]", "}", ">", "?"].contains(previous)
            return isPostfix ? "forced unwrapping" : nil
        default: return nil
        }
    }

    private static func hasReason(line: Int, in file: SourceFile) -> Bool {
        if isReason(file.commentLines[line - 1]) { return true }
        var above = line - 1
        while above > 0, file.codeLines[above - 1].drop(while: { $0 == " " }).hasPrefix("@") {
            above -= 1
        }
        return above > 0 && isReason(file.commentLines[above - 1])
    }

    private static func isReason(_ comment: String) -> Bool {
        let words = comment.drop { " /*".contains($0) }
        return words.contains(where: \.isLetter) && !words.hasPrefix("swift-format-")
            && !words.hasPrefix("MARK:")
    }
}
