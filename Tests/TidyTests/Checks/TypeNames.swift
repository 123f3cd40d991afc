/// Types are named after what they are.
enum TypeNames {
    static let forbiddenSuffixes = [
        "Manager", "Helper", "Helpers", "Util", "Utils", "Utility", "Utilities", "Handler", "Impl",
        "Info",
    ]

    /// RocketData's public names.
    static let exceptions: Set<String> = ["ConsistencyManager", "DataModelManager"]

    static func violations(in file: SourceFile) -> [Violation] {
        TypeDeclaration.all(in: file).compactMap { declaration in
            guard !exceptions.contains(declaration.name),
                let suffix = forbiddenSuffixes.first(where: declaration.name.hasSuffix)
            else { return nil }
            return file.violation(line: declaration.line, "\(declaration.name) ends in \(suffix)")
        }
    }
}
