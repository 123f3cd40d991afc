import ArgumentParser

/// How a verb prints its result.
struct OutputOptions: ParsableArguments, OutputChoice {
    @Option(help: "How the result is printed.")
    var format = Format.table

    @Option(help: "When the result is coloured; auto is on a terminal, unless NO_COLOR is set.")
    var color = ColorChoice.auto
}
