#if Macros
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import EspalierMacros

/// Runs the macros on text, as the compiler would.
enum Expanding {
    static let macros: [String: MacroSpec] = [
        "Normalized": MacroSpec(
            type: NormalizedMacro.self,
            conformances: ["NormalizedModel", "Model", "ProjectedModel", "Hashable"]),
        "Stored": MacroSpec(type: StoredMacro.self),
        "NotStored": MacroSpec(type: NotStoredMacro.self),
    ]

    /// The text with all macros expanded.
    static func text(of source: String) -> String {
        Parser.parse(source: source).expand(
            macroSpecs: macros,
            contextGenerator: {
                BasicMacroExpansionContext(lexicalContext: $0.allMacroLexicalContexts())
            },
            indentationWidth: .spaces(4)
        ).description
    }
}

/// The expansion of `source` is `expected`, and nothing is said about it.
func expectExpansion(
    of source: String, is expected: String, fileID: StaticString = #fileID,
    file: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
) {
    assertMacroExpansion(
        source, expandedSource: expected, macroSpecs: Expanding.macros,
        indentationWidth: .spaces(4),
        failureHandler: { Issue.record("\($0.message)", sourceLocation: $0.sourceLocation) },
        fileID: fileID,
        filePath: file, line: line, column: column)
}

/// The expansion of `source` has each of `lines`, wherever they stand.
func expectExpansion(
    of source: String, has lines: String..., without: [String] = [],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let text = Expanding.text(of: source)
    for line in lines { #expect(text.contains(line), "\(text)", sourceLocation: sourceLocation) }
    for line in without { #expect(!text.contains(line), "\(text)", sourceLocation: sourceLocation) }
}

/// One problem is found in `source`, where `problem` says, and `fixed` is what the fix-it makes of
/// it.
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
        source, expandedSource: Expanding.text(of: source), diagnostics: [spec],
        macroSpecs: Expanding.macros,
        applyFixIts: fixIt.map { [$0] }, fixedSource: fixed, indentationWidth: .spaces(4),
        failureHandler: { Issue.record("\($0.message)", sourceLocation: $0.sourceLocation) },
        fileID: fileID,
        filePath: file, line: testLine, column: testColumn)
    #expect((fixIt == nil) == (fixed == nil), "a fix-it is tested with what it makes")
    // Nothing is generated from a declaration that is wrong.
    #expect(!Expanding.text(of: source).contains("ModelMembers"))
}

extension TestFailureSpec {
    fileprivate var sourceLocation: Testing.SourceLocation {
        Testing.SourceLocation(
            fileID: location.fileID, filePath: location.filePath, line: location.line,
            column: location.column)
    }
}
#endif
