#if CommandLine
import ArgumentParser

/// The options of a command whose result is a table unless the user asks for another format.
struct OutputOptions: ParsableArguments, OutputChoice {
    @Option(help: "The format of the result.")
    var format = Format.table

    @Option(
        help: "Whether the result is colored; auto colors on a terminal, unless NO_COLOR is set.")
    var color = ColorChoice.auto
}

/// The options of a command whose result is JSON unless the user asks for another format.
struct JSONOutputOptions: ParsableArguments, OutputChoice {
    @Option(name: .customLong("format"), help: "The format of the result (default: json).")
    var givenFormat: Format?

    @Option(help: "Whether a table is colored; auto colors on a terminal, unless NO_COLOR is set.")
    var color = ColorChoice.auto

    var format: Format { givenFormat ?? .json }
}

/// The option that limits the number of results.
struct LimitOption: ParsableArguments {
    @Option(help: ArgumentHelp("Stops after this many results.", valueName: "count"))
    var limit: Int?

    func validate() throws {
        guard limit ?? 1 >= 1 else { throw ValidationError("--limit must be at least 1.") }
    }
}

// The parser's conformances stand here, so that the types themselves do not import it.
extension Format: ExpressibleByArgument {}
extension ColorChoice: ExpressibleByArgument {}
extension EntryKind: ExpressibleByArgument {}
extension RankingOrder: ExpressibleByArgument {}

extension SizeArgument: ExpressibleByArgument {
    init?(argument: String) { try? self.init(parsing: argument) }
}
#endif
