import ArgumentParser

/// Measures models that the macro made beside the hand-written baseline, the Codable bridge and
/// JSON, in one process and in turns.
@main
struct ModelsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Models", abstract: "Measures models that @Normalized wrote.",
        subcommands: [
            Reading.self, Writing.self, Answering.self, Remembering.self, Soaking.self,
            Allocations.self, Everything.self,
        ],
        defaultSubcommand: Everything.self)
}

struct Everything: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all", abstract: "All of them, one after the other; the soak takes a minute.")

    func run() throws {
        try Reading.parse([]).run()
        try Writing.parse([]).run()
        try Answering.parse([]).run()
        try Remembering.parse([]).run()
        try Allocations.parse([]).run()
        try Soaking.parse([]).run()
    }
}
