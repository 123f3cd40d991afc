/// A place that breaks a rule.
struct Violation: Sendable, Equatable, CustomStringConvertible {
    let place: String
    let problem: String

    var description: String { "\(place): \(problem)" }
}
