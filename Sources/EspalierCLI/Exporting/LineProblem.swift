/// Why a line is no record of an export.
struct LineProblem: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }

    /// The same, said of a part of the line.
    func at(_ place: String) -> LineProblem { LineProblem("\(place): \(description)") }
}
