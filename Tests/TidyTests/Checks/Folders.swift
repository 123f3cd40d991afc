/// Folders are named after what is in them, and hold no more than a reader takes in.
enum Folders {
    static let maximumSwiftFiles = 25
    static let forbiddenNames: Set<String> = ["Utils", "Helpers", "Common", "Core"]

    static func violations(in paths: [String]) -> [Violation] {
        let folders = Dictionary(grouping: paths) {
            $0.split(separator: "/").dropLast().joined(separator: "/")
        }
        return folders.sorted { $0.key < $1.key }.flatMap { folder, paths in
            var violations: [Violation] = []
            if folder.split(separator: "/").contains(where: { forbiddenNames.contains(String($0)) })
            {
                violations.append(
                    Violation(place: folder, problem: "the name says nothing about what is inside"))
            }
            let count = paths.count { $0.hasSuffix(".swift") }
            if count > maximumSwiftFiles {
                let problem = "\(count) Swift files, at most \(maximumSwiftFiles)"
                violations.append(Violation(place: folder, problem: problem))
            }
            return violations
        }
    }
}
