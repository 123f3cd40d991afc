import ArgumentParser

/// How a command prints its result: for a person, or for a program.
enum Format: String, Sendable, CaseIterable, ExpressibleByArgument {
    case table
    case json
    case csv
}
