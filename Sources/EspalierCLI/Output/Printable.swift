/// A result that can be printed for a person and for a program.
protocol Printable {
    var table: Table { get }
    var json: JSONValue { get }
}

extension FormatOption {
    func print(_ result: some Printable) throws {
        switch format {
        case .table: try Console.print(result.table.text)
        case .json: try Console.print(result.json)
        }
    }
}
