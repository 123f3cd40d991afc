/// Where a file declares a type.
struct TypeDeclaration {
    let name: String

    /// Where the declaration starts with its first modifier, attributes apart.
    let line: Int
    let isPublic: Bool

    private static let keywords: Set<String> = [
        "struct", "class", "enum", "protocol", "actor", "typealias",
    ]
    private static let modifiers: Set<String> = [
        "public", "open", "package", "internal", "fileprivate", "private", "final", "indirect",
        "nonisolated",
        "distributed",
    ]

    static func all(in file: SourceFile) -> [TypeDeclaration] {
        let tokens = file.tokens
        return tokens.indices.dropLast().compactMap { index in
            let name = tokens[index + 1].text
            guard keywords.contains(tokens[index].text), isTypeName(name),
                !isImport(at: index, in: tokens)
            else { return nil }
            let modifiers = tokens[..<index].reversed().prefix { Self.modifiers.contains($0.text) }
            return TypeDeclaration(
                name: name, line: (modifiers.last ?? tokens[index]).line,
                isPublic: modifiers.contains { $0.text == "public" || $0.text == "open" })
        }
    }

    /// `class func`, `class var`, `T: class, P` and `let actor = 1` declare no type.
    private static func isTypeName(_ name: String) -> Bool {
        name.unicodeScalars.first.map { $0.properties.isUppercase || $0 == "_" } ?? false
    }

    private static func isImport(at index: Int, in tokens: [Token]) -> Bool {
        index > 0 && tokens[index - 1].text == "import"
    }
}
