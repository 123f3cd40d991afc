import Foundation

/// README has every verb of the tool.
enum ListedVerbs {
    static func violations(in files: [SourceFile], readme: String) -> [Violation] {
        files.filter { $0.path.contains("/Verbs/") }.compactMap { file in
            guard let name = verb(of: file),
                !readme.contains("`\(name)`") && !readme.contains("`\(name), ")
            else {
                return nil
            }
            return file.violation(line: 1, "README does not have the verb \(name)")
        }
    }

    private static func verb(of file: SourceFile) -> String? {
        for line in file.lines {
            guard let start = line.range(of: "commandName: \"") else { continue }
            return String(line[start.upperBound...].prefix { $0 != "\"" })
        }
        return nil
    }
}
