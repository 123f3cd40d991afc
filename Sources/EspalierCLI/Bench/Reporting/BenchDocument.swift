/// All that a run came to, for programs.
struct BenchDocument {
    let environment: BenchEnvironment
    let seconds: Double
    /// Results, and where their charts are, if any were asked for.
    let results: [(result: SuiteResult, chart: String?)]

    var json: JSONValue {
        .object([
            JSONMember(name: "environment", value: environment.json),
            JSONMember(name: "secondsPerSuite", value: .number(.double(seconds))),
            JSONMember(
                name: "suites", value: .array(results.map { json(of: $0.result, $0.chart) })),
        ])
    }

    private func json(of result: SuiteResult, _ chart: String?) -> JSONValue {
        var members = [
            JSONMember(name: "suite", value: .string(result.suite.rawValue)),
            JSONMember(name: "about", value: .string(result.suite.about)),
            JSONMember(name: "baseline", value: .string(result.baseline)),
            JSONMember(name: "timings", value: SuiteReport(result: result).json),
        ]
        if !result.figures.isEmpty {
            members.append(JSONMember(name: "figures", value: Report(facts: result.figures).json))
        }
        if let chart { members.append(JSONMember(name: "chart", value: .string(chart))) }
        return .object(members)
    }

    /// Times and figures as rows of one table; a figure has a value only.
    var csv: String {
        let columns = ["suite"] + SuiteReport.columns.map(\.name) + ["value"]
        var report = Report(.list, columns: columns.map { .left($0) })
        for (result, _) in results {
            let suite = Cell.text(result.suite.rawValue)
            for timing in result.timings {
                report.append([suite] + SuiteReport(result: result).cells(of: timing) + [.nothing])
            }
            for figure in result.figures {
                let empty = Array(repeating: Cell.nothing, count: SuiteReport.columns.count - 1)
                report.append([suite, .text(figure.name)] + empty + [figure.cell])
            }
        }
        return report.csv
    }
}
