#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// What is wrong with a declaration: says what to do instead.
struct Problem: DiagnosticMessage {
    let message: String
    /// For tools, which know problems by it.
    let id: String

    var diagnosticID: MessageID { MessageID(domain: "EspalierMacros", id: id) }
    var severity: DiagnosticSeverity { .error }
}

/// What a fix-it does.
struct Remedy: FixItMessage {
    let message: String
    let id: String

    var fixItID: MessageID { MessageID(domain: "EspalierMacros", id: id) }
}

extension FixIt {
    static func replacing(
        _ old: some SyntaxProtocol, with new: some SyntaxProtocol, _ message: String
    ) -> FixIt {
        FixIt(
            message: Remedy(message: message, id: message),
            changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }
}
#endif
