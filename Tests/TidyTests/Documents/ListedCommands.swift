import Foundation
import Testing

/// README names every command of the tool: as code of its own, in a list of code, or as it is
/// typed.
enum ListedCommands {
    static func violations(in files: [SourceFile], readme: String) -> [Violation] {
        files.filter { $0.path.hasPrefix("Sources/EspalierCLI/") }.flatMap { file in
            commands(of: file).compactMap { name, line in
                guard
                    !["`\(name)`", "`\(name), ", "espalier \(name) "].contains(
                        where: readme.contains)
                else { return nil }
                return file.violation(line: line, "README does not have the command \(name)")
            }
        }
    }

    /// Returns the names that a file gives to commands, with their lines, the tool's own apart.
    private static func commands(of file: SourceFile) -> [(name: String, line: Int)] {
        let code = file.codeLines
        return file.literals.compactMap { literal in
            let line = literal.lines.lowerBound
            guard code[line - 1].contains("commandName:"), literal.text != "espalier",
                file.lines[line - 1].contains("commandName: \"\(literal.text)\"")
            else { return nil }
            return (literal.text, line)
        }
    }
}

@Suite("README has every command")
struct ListedCommandsTests {
    @Test("Every command of the tool stands in README")
    func repository() throws {
        let repository = Repository.current
        let readme = try #require(repository.texts["README.md"])
        expectNone(ListedCommands.violations(in: repository.swiftFiles, readme: readme))
        #expect(ListedCommands.violations(in: repository.swiftFiles, readme: "").count > 15)
    }

    @Test("Commands that README does not have are found, several in a file")
    func missing() {
        let file = SourceFile(
            path: "Sources/EspalierCLI/Commands/a.swift",
            text: """
                x(
                  commandName: "prune",
                  abstract: "a")
                y(commandName: "grow", a: "b")
                """
        )
        for (readme, lines) in [
            ("`ls` `grep`", [2, 4]), ("`ls` `prune`", [4]), ("`ls, prune` `grow, ls`", [2]),
            ("$ espalier prune a\n`grow`", []),
        ] {
            let violations = ListedCommands.violations(in: [file], readme: readme)
            #expect(violations.map(\.place) == lines.map { "\(file.path):\($0)" })
        }
    }
}
