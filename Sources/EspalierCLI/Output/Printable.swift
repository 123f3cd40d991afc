/// A result that can be printed for a person and for a program.
protocol Printable {
    var report: Report { get }
    /// The report's own, unless rows of cells can't say it.
    var json: JSONValue { get }
}

extension Printable {
    var json: JSONValue { report.json }
}

extension Report: Printable {
    var report: Report { self }
}
