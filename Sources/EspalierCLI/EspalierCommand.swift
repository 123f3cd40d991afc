import ArgumentParser

/// The command line over a cache: one verb a file, in `Verbs`.
///
/// Exits with 0 when it worked, 1 when it could not be done, 2 for a miss or a failed check, 64 for
/// wrong arguments. What goes wrong is one line on standard error; standard output carries results
/// only.
struct Espalier: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "espalier",
        abstract:
            "Stores JSON in a normalized cache, one record for each object with an identity, and reads it back.",
        discussion: """
            Exit codes: 0 it worked, 1 it could not be done, 2 a miss or a failed check, 64 wrong arguments.
            """,
        version: Version.current,
        groupedSubcommands: [
            CommandGroup(
                name: "Storing:", subcommands: [ImportVerb.self, SetVerb.self, DeleteVerb.self]),
            CommandGroup(
                name: "Looking:",
                subcommands: [
                    GetVerb.self, LsVerb.self, RefsVerb.self, TopVerb.self, GrepVerb.self,
                ]),
            CommandGroup(
                name: "Keeping within the budget:",
                subcommands: [
                    BudgetVerb.self, EvictVerb.self, PinVerb.self, UnpinVerb.self,
                    CollectCyclesVerb.self,
                ]),
            CommandGroup(
                name: "Compressing:", subcommands: [DictionariesVerb.self, CompactVerb.self]),
            CommandGroup(name: "Moving:", subcommands: [ExportVerb.self, DiffVerb.self]),
            CommandGroup(
                name: "Checking:", subcommands: [StatsVerb.self, VerifyVerb.self, DoctorVerb.self]),
            CommandGroup(name: "Trying:", subcommands: [DemoVerb.self, BenchVerb.self]),
            CommandGroup(name: "Shells:", subcommands: [CompletionsVerb.self]),
        ])

    func run() throws {
        throw ValidationError("A verb is missing; espalier --help lists them.")
    }

    // On the main actor, whose thread has a deep stack: trees are built, written and freed
    // recursively.
    @MainActor
    static func main() async {
        Terminal.holdStandardDescriptors()
        do {
            try VerbName.check(CommandLine.arguments.dropFirst().first)
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Console.exit(with: error)
        }
    }
}

/// The whole tool, for the executable that is nothing else.
package enum Tool {
    /// Runs what the process's arguments say, and ends the process where that fails.
    @MainActor
    package static func main() async { await Espalier.main() }
}
