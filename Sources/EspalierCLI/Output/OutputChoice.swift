/// How a result is printed. Options say it, which differ in what holds without them.
protocol OutputChoice {
    var format: Format { get }
    var color: ColorChoice { get }
}

extension OutputChoice {
    var palette: Palette { color.palette(isTerminal: Terminal.isOutput) }

    func print(_ result: some Printable) throws { try print(result, as: format) }

    func print(_ result: some Printable, as format: Format) throws {
        switch format {
        case .table:
            try Console.print(result.report.table.text(width: Terminal.width, palette: palette))
        case .json: try Console.print(result.json)
        case .csv: try Console.print(result.report.csv)
        }
    }
}
