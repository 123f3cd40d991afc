import EspalierStore

extension VerifyReport: Printable {
    private var counts: [(name: String, count: Int)] {
        [
            ("nodes", nodes), ("keys", keys), ("collections", collections), ("segments", segments),
            ("tombstones", tombstones), ("references", references), ("problems", problemCount),
        ]
    }

    /// The counts, then a row for each problem.
    var report: Report {
        var report = Report(.list, columns: [.left("checked"), .left("found")])
        for (name, count) in counts {
            report.append([.text(name), name == "problems" && count > 0 ? .text(String(count), .bad) : .count(count)])
        }
        for problem in problems {
            let name = problem.invariant == 0 ? "damage" : "invariant \(problem.invariant)"
            report.append([.text(name, .bad), .text(problem.detail)])
        }
        return report
    }

    var json: JSONValue {
        let problems = problems.map { problem -> JSONValue in
            ["invariant": .number(JSONNumber(problem.invariant)), "detail": .string(problem.detail)]
        }
        let counts = counts.dropLast().map { JSONMember(name: $0.name, value: .number(JSONNumber($0.count))) }
        return .object(
            [JSONMember(name: "isClean", value: .bool(isClean))] + counts + [
                JSONMember(name: "problemCount", value: .number(JSONNumber(problemCount))),
                JSONMember(name: "problems", value: .array(problems)),
            ])
    }
}
