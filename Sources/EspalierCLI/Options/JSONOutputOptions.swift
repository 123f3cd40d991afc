import ArgumentParser

/// How a verb prints its result that is JSON by nature.
struct JSONOutputOptions: ParsableArguments, OutputChoice {
    @Option(name: .customLong("format"), help: "How the result is printed; json without.")
    var givenFormat: Format?

    @Option(help: "When a table is coloured; auto is on a terminal, unless NO_COLOR is set.")
    var color = ColorChoice.auto

    var format: Format { givenFormat ?? .json }
}
