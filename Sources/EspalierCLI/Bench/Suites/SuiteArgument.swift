import ArgumentParser

/// A suite as named on the command line, or `all`.
struct SuiteArgument: ExpressibleByArgument {
    let suites: [BenchSuite]

    private static let all = "all"

    init?(argument: String) {
        if argument == Self.all {
            suites = BenchSuite.allCases
        } else if let suite = BenchSuite(rawValue: argument) {
            suites = [suite]
        } else {
            return nil
        }
    }

    static var allValueStrings: [String] { BenchSuite.allCases.map(\.rawValue) + [all] }

    /// Each once, in the order they are run in; reading where none is named.
    static func suites(named arguments: [SuiteArgument]) -> [BenchSuite] {
        let named = arguments.flatMap(\.suites)
        return named.isEmpty ? [.reading] : BenchSuite.allCases.filter(named.contains)
    }
}
