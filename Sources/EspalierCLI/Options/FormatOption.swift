import ArgumentParser

/// How a verb prints its result.
struct FormatOption: ParsableArguments {
    @Option(help: "How the result is printed.")
    var format = Format.table
}
