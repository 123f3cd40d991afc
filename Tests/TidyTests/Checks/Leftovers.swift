/// Nothing is left lying about: notes to oneself, stray white space, paths of one machine.
enum Leftovers {
    static func violations(in file: SourceFile) -> [Violation] {
        let marks: Set<String> = ["TODO", "FIXME", "XXX"]
        var violations: [Violation] = []
        for (index, line) in file.lines.enumerated() {
            let words = file.commentLines[index].split { !$0.isLetter }
            if let mark = words.first(where: { marks.contains(String($0)) }) {
                violations.append(
                    file.violation(line: index + 1, "\(mark) is for an issue, not for the source"))
            }
            if line.last?.isWhitespace == true {
                violations.append(file.violation(line: index + 1, "trailing white space"))
            }
            if line.contains("\t") {
                violations.append(file.violation(line: index + 1, "a tab"))
            }
        }
        return violations
    }

    /// - Parameter text: of any file, not only Swift.
    static func machinePaths(in text: String, path: String) -> [Violation] {
        // Put together here, or this line would be one.
        let folders = ["work", "root"].map { "/\($0)/" }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line in
            guard let folder = folders.first(where: { line.contains($0) }) else { return nil }
            return Violation(
                place: "\(path):\(index + 1)", problem: "\(folder) exists on one machine only")
        }
    }
}
