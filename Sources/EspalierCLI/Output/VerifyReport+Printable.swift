import EspalierStore

extension VerifyReport: Printable {
    private var counts: [(name: String, count: Int)] {
        [
            ("nodes", nodes), ("keys", keys), ("collections", collections), ("segments", segments),
            ("tombstones", tombstones), ("references", references),
        ]
            + (trees > 0
                ? [("values", values), ("trees", trees), ("unreadableTrees", unreadableTrees)] : [])
            + [
                ("problems", problemCount)
            ]
    }

    /// The counts, then a row for each problem.
    var report: Report {
        var report = Report(.list, columns: [.left("checked"), .left("found")])
        for (name, count) in counts {
            report.append([
                .text(name),
                name == "problems" && count > 0 ? .text(String(count), .bad) : .count(count),
            ])
        }
        for problem in problems {
            let name = problem.invariant == 0 ? "damage" : "invariant \(problem.invariant)"
            let detail = [problem.path, problem.detail].compactMap { $0 }.joined(separator: ": ")
            report.append([.text(name, .bad), .text(detail)])
        }
        return report
    }

    var json: JSONValue {
        let problems = problems.map { problem -> JSONValue in
            let place = [("identifier", problem.identifier), ("path", problem.path)].compactMap {
                name, text in
                text.map { JSONMember(name: name, value: .string($0)) }
            }
            return .object(
                [
                    JSONMember(name: "invariant", value: .number(JSONNumber(problem.invariant))),
                    JSONMember(name: "detail", value: .string(problem.detail)),
                ] + place)
        }
        let counts = counts.dropLast().map {
            JSONMember(name: $0.name, value: .number(JSONNumber($0.count)))
        }
        return .object(
            [JSONMember(name: "isClean", value: .bool(isClean))] + counts + [
                JSONMember(name: "problemCount", value: .number(JSONNumber(problemCount))),
                JSONMember(name: "problems", value: .array(problems)),
            ])
    }
}
