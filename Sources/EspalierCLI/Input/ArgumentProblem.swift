/// Why an argument can't be what it should be.
struct ArgumentProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
