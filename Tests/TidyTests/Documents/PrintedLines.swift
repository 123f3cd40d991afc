/// What a snippet says it prints is what it prints.
///
/// A comment behind a `print`, or the comment lines below one, are what comes out, in the order of
/// the file. A colon may end the line that comes out, and an explanation follow.
enum PrintedLines {
    /// The lines a snippet promises.
    static func promised(by snippet: Snippet) -> [String] {
        let file = snippet.file
        var promised: [String] = []
        var isBelowPrint = false
        for index in file.lines.indices {
            let comment = text(ofComment: file.commentLines[index])
            let hasCode = file.codeLines[index].contains { $0 != " " }
            if hasCode {
                let prints = file.codeLines[index].contains("print(")
                if prints, let comment { promised.append(comment) }
                isBelowPrint = prints && comment == nil
            } else if let comment, isBelowPrint, !comment.hasPrefix("snippet.") {
                promised.append(comment)
            } else {
                isBelowPrint = false
            }
        }
        return promised
    }

    static func violations(of snippet: Snippet, output: String) -> [Violation] {
        let promised = promised(by: snippet)
        let printed = output.split(separator: "\n").map(String.init)
        guard promised.count == printed.count else {
            let problem = "promises \(promised.count) lines and prints \(printed.count): \(printed)"
            return [Violation(place: snippet.path, problem: problem)]
        }
        return zip(promised, printed).compactMap { promised, printed in
            guard promised != printed, !promised.hasPrefix("\(printed):") else { return nil }
            return Violation(
                place: snippet.path, problem: "promises \"\(promised)\" and prints \"\(printed)\"")
        }
    }

    private static func text(ofComment line: String) -> String? {
        guard let start = line.firstRange(of: "// ")?.upperBound else { return nil }
        return String(line[start...])
    }
}
