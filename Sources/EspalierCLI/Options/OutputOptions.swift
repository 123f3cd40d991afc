import ArgumentParser

/// How a verb prints its result.
struct OutputOptions: ParsableArguments {
    @Option(help: "How the result is printed.")
    var format = Format.table

    @Option(help: "When the result is coloured; auto is on a terminal, unless NO_COLOR is set.")
    var color = ColorChoice.auto

    var palette: Palette { color.palette(isTerminal: Terminal.isOutput) }

    func print(_ result: some Printable) throws {
        switch format {
        case .table: try Console.print(result.report.table.text(width: Terminal.width, palette: palette))
        case .json: try Console.print(result.json)
        case .csv: try Console.print(result.report.csv)
        }
    }
}
