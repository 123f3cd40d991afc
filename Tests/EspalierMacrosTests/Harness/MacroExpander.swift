#if Macros
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import EspalierMacros

/// Expands the macros in source text, as the compiler would.
enum MacroExpander {
    static let macros: [String: MacroSpec] = [
        "Normalized": MacroSpec(
            type: NormalizedMacro.self,
            conformances: [
                "NormalizedModel", "Model", "ProjectedModel", "NodeModel", "Hashable", "Encodable",
                "Decodable",
            ]),
        "Stored": MacroSpec(type: StoredMacro.self),
        "NotStored": MacroSpec(type: NotStoredMacro.self),
        "Merged": MacroSpec(type: MergedMacro.self),
    ]

    /// Returns `source` with all macros expanded.
    static func text(of source: String) -> String {
        Parser.parse(source: source).expand(
            macroSpecs: macros,
            contextGenerator: {
                BasicMacroExpansionContext(lexicalContext: $0.allMacroLexicalContexts())
            },
            indentationWidth: .spaces(4)
        ).description
    }

    /// Returns `source` with all macros expanded, and what the macros report.
    static func expand(_ source: String) -> (text: String, diagnostics: [Diagnostic]) {
        let context = BasicMacroExpansionContext()
        let expanded = Parser.parse(source: source).expand(
            macroSpecs: macros,
            contextGenerator: {
                BasicMacroExpansionContext(
                    sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
            },
            indentationWidth: .spaces(4))
        return (expanded.description, context.diagnostics)
    }

    /// Returns `text` with one space in place of each line break and each run of spaces: the layout
    /// of the generated code is of no interest.
    static func withoutLayout(_ text: String) -> String {
        text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    }
}

/// Expects that `source` expands to `expected` without diagnostics.
///
/// The source has no place here, so the generated code does not name the user's lines.
func expectExpansion(
    of source: String, is expected: String,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let (text, diagnostics) = MacroExpander.expand(source)
    #expect(
        MacroExpander.withoutLayout(text) == MacroExpander.withoutLayout(expected),
        sourceLocation: sourceLocation)
    #expect(diagnostics.isEmpty, sourceLocation: sourceLocation)
}

/// Expects that the expansion of `source` contains each of `lines` and nothing of `without`.
func expectExpansion(
    of source: String, has lines: String..., without: [String] = [],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let text = MacroExpander.withoutLayout(MacroExpander.text(of: source))
    for line in lines {
        #expect(
            text.contains(MacroExpander.withoutLayout(line)), "\(text)",
            sourceLocation: sourceLocation)
    }
    for line in without {
        #expect(
            !text.contains(MacroExpander.withoutLayout(line)), "\(text)",
            sourceLocation: sourceLocation)
    }
}

/// Expects that `source` expands, with warnings whose messages begin with `expected`.
func expectWarnings(
    _ source: String, _ expected: [String],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let (text, warnings) = MacroExpander.expand(source)
    #expect(text.contains("ModelMembers"), sourceLocation: sourceLocation)
    #expect(warnings.count == expected.count, sourceLocation: sourceLocation)
    for (warning, beginning) in zip(warnings, expected) {
        #expect(warning.diagMessage.severity == .warning, sourceLocation: sourceLocation)
        #expect(warning.message.hasPrefix(beginning), sourceLocation: sourceLocation)
    }
}

/// Expects one diagnostic about `source`, and that its fix-it turns `source` into `fixed`.
func expectProblem(
    _ source: String, _ message: String, line: Int, column: Int, fixIt: String? = nil,
    fixed: String? = nil,
    fileID: StaticString = #fileID, file: StaticString = #filePath, at testLine: UInt = #line,
    testColumn: UInt = #column
) {
    let spec = DiagnosticSpec(
        message: message, line: line, column: column,
        fixIts: fixIt.map { [FixItSpec(message: $0)] } ?? [],
        originatorFileID: fileID, originatorFile: file, originatorLine: testLine,
        originatorColumn: testColumn)
    assertMacroExpansion(
        source, expandedSource: MacroExpander.text(of: source), diagnostics: [spec],
        macroSpecs: MacroExpander.macros,
        applyFixIts: fixIt.map { [$0] }, fixedSource: fixed, indentationWidth: .spaces(4),
        failureHandler: { Issue.record("\($0.message)", sourceLocation: $0.sourceLocation) },
        fileID: fileID,
        filePath: file, line: testLine, column: testColumn)
    #expect((fixIt == nil) == (fixed == nil), "a fix-it is tested with its result")
    // The macro generates nothing from a wrong declaration.
    #expect(!MacroExpander.text(of: source).contains("ModelMembers"))
}

extension TestFailureSpec {
    fileprivate var sourceLocation: Testing.SourceLocation {
        Testing.SourceLocation(
            fileID: location.fileID, filePath: location.filePath, line: location.line,
            column: location.column)
    }
}
#endif
