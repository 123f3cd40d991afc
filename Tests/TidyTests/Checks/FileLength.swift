/// A long file is a design that has not been finished.
enum FileLength {
    static let limit = 400
    static let hardLimit = 600

    /// Files in `Sources` that may be longer than `limit`, with the reason.
    static let allowed: [String: String] = [:]

    static func violations(in file: SourceFile) -> [Violation] {
        violations(in: file, allowed: allowed)
    }

    static func violations(in file: SourceFile, allowed: [String: String]) -> [Violation] {
        let limit = file.isInSources && allowed[file.path] == nil ? limit : hardLimit
        guard file.lines.count > limit else { return [] }
        return [file.violation(line: limit + 1, "\(file.lines.count) lines, at most \(limit)")]
    }
}
