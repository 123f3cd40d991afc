import ArgumentParser

/// Measures keeping trees in memory consistent.
@main
struct ConsistencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Consistency",
        abstract: "Measures the consistency manager and data providers.",
        subcommands: [
            Updating.self, Editing.self, Registering.self, Watching.self, Everything.self,
        ],
        defaultSubcommand: Everything.self)
}

struct Everything: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all", abstract: "All of them, one after the other.")

    func run() async throws {
        try await Updating.parse([]).run()
        try await Editing.parse([]).run()
        try await Registering.parse([]).run()
        try await Watching.parse([]).run()
    }
}
