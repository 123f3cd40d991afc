#if CommandLine
import ArgumentParser
import Foundation

/// The root of the tool `espalier`. Its subcommands stand in the folder `Commands`.
///
/// The tool exits with 0 after success, 1 after a failure, 2 after a miss or a failed check and 64
/// after wrong arguments. It reports an error as one line on standard error; standard output holds
/// results only.
struct EspalierCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "espalier",
        abstract:
            """
            Stores JSON in a normalized cache, one record per object with an identity, and reads \
            it back.
            """,
        discussion: """
            Exit codes: 0 success, 1 failure, 2 a miss or a failed check, 64 wrong arguments.
            """,
        version: Version.current,
        groupedSubcommands: [
            CommandGroup(
                name: "Write:",
                subcommands: [
                    ImportCommand.self, SetCommand.self, DeleteCommand.self, OutboxCommand.self,
                ]),
            CommandGroup(
                name: "Read:",
                subcommands: [
                    GetCommand.self, LsCommand.self, RefsCommand.self, TopCommand.self,
                    GrepCommand.self,
                ]),
            CommandGroup(
                name: "Budget and eviction:",
                subcommands: [
                    BudgetCommand.self, EvictCommand.self, PinCommand.self, UnpinCommand.self,
                    CollectCyclesCommand.self,
                ]),
            CommandGroup(
                name: "Compression:", subcommands: [DictionariesCommand.self, CompactCommand.self]),
            CommandGroup(
                name: "Copy and compare:", subcommands: [ExportCommand.self, DiffCommand.self]),
            CommandGroup(
                name: "Check:",
                subcommands: [
                    StatsCommand.self, WatchCommand.self, VerifyCommand.self, DoctorCommand.self,
                ]),
            CommandGroup(name: "Write source:", subcommands: [GenerateCommand.self]),
            CommandGroup(
                name: "Try and measure:", subcommands: [DemoCommand.self, BenchCommand.self]),
            CommandGroup(name: "Shell:", subcommands: [CompletionsCommand.self]),
        ])

    func run() throws {
        throw ValidationError("A command is missing; espalier --help lists the commands.")
    }

    // Runs on the main actor, because its thread has a deep stack: the tool builds, writes and
    // frees trees recursively.
    @MainActor
    static func main() async {
        Terminal.holdStandardDescriptors()
        Terminal.ignoreClosedPipes()
        do {
            try CommandName.check(CommandLine.arguments.dropFirst().first)
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Self.exit(reporting: error)
        }
    }

    /// Prints what went wrong on standard error and ends the process with the code for it.
    private static func exit(reporting error: any Error) -> Never {
        switch error {
        case let failure as CommandFailure:
            Console.error(failure.message)
            Foundation.exit(failure.kind.rawValue)
        case is OutputClosed: Foundation.exit(OutputClosed.code)
        default:
            let code = exitCode(for: error)
            // Help and the version arrive as errors too, and belong on standard output.
            guard !code.isSuccess else { exit(withError: error) }
            Console.error(message(for: error))
            Foundation.exit(code.rawValue)
        }
    }
}

/// The entry point of the tool, for the executable target.
package enum Tool {
    /// Runs the command that the arguments of the process name. Ends the process after an error.
    @MainActor
    package static func main() async { await EspalierCommand.main() }
}

/// Checks the first word of a command line.
///
/// The argument parser takes an unknown command for an argument of the root command, and complains
/// about the word after it.
enum CommandName {
    static var all: [String] {
        EspalierCommand.configuration.subcommands.compactMap { $0.configuration.commandName } + [
            "help"
        ]
    }

    /// Throws a `ValidationError` if `word` is neither an option nor a command. The error suggests
    /// the command with the closest name.
    static func check(_ word: String?) throws(ValidationError) {
        guard let word, !word.hasPrefix("-"), !all.contains(word) else { return }
        let suggestion = closest(to: word).map { " Did you mean \($0)?" } ?? ""
        throw ValidationError(
            "Unknown command '\(word)'.\(suggestion) espalier --help lists the commands."
        )
    }

    /// Returns the command whose name is closest to `word` and at most two edits away.
    static func closest(to word: String) -> String? {
        let ranked = all.map { (name: $0, distance: distance(Array(word), Array($0))) }.sorted {
            $0.distance < $1.distance
        }
        guard let first = ranked.first, first.distance <= 2, first.distance < first.name.count
        else { return nil }
        return first.name
    }

    /// Returns the number of letters to insert, delete or replace. Two swapped neighbors count as
    /// one edit (Damerau-Levenshtein, optimal string alignment).
    private static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var rows = [Array(0...b.count)]
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var least = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}

/// `espalier completions`: prints a script with which a shell completes commands, options and
/// paths.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Prints the completion script for a shell.",
        discussion: """
            bash: mkdir -p ~/.local/share/bash-completion/completions
                  espalier completions bash > ~/.local/share/bash-completion/completions/espalier
            zsh:  espalier completions zsh > DIRECTORY/_espalier, a directory in $fpath
            fish: espalier completions fish > ~/.config/fish/completions/espalier.fish
            """)

    @Argument(help: "The shell (default: the one in $SHELL).")
    var shell: Shell?

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    func run() throws {
        let own = ProcessInfo.processInfo.environment["SHELL"].map {
            URL(fileURLWithPath: $0).lastPathComponent
        }
        guard let name = (shell ?? own.flatMap(Shell.init))?.rawValue,
            let shell = CompletionShell(rawValue: name)
        else {
            throw ValidationError("$SHELL names none of bash, zsh and fish; name one of them.")
        }
        try Console.print(EspalierCommand.completionScript(for: shell))
    }
}
#endif
