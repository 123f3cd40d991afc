/// Every public type says what it is.
enum DocumentedTypes {
    static func violations(in file: SourceFile) -> [Violation] {
        guard file.isInSources else { return [] }
        return TypeDeclaration.all(in: file).compactMap { declaration in
            guard declaration.isPublic, !isDocumented(declaration, in: file) else { return nil }
            return file.violation(
                line: declaration.line, "\(declaration.name) is public and has no documentation")
        }
    }

    private static func isDocumented(_ declaration: TypeDeclaration, in file: SourceFile) -> Bool {
        var line = declaration.line - 1
        while line > 0, file.codeLines[line - 1].drop(while: { $0 == " " }).hasPrefix("@") {
            line -= 1
        }
        guard line > 0 else { return false }
        let comment = file.commentLines[line - 1].filter { $0 != " " }
        return comment.hasPrefix("///") && comment.count > 3 || comment.hasSuffix("*/")
    }
}
