import EspalierRecords

/// A value that `grep` found.
struct ValueMatch: Sendable, Equatable {
    let record: RecordName
    let path: FieldPath
    /// A reference is the identifier of what it leads to; null where that has none any more.
    let value: JSONValue
    /// What a reference leads to.
    var target: RecordName?
}

/// What `grep` found, a row for each value.
struct MatchReport: Sendable {
    let matches: [ValueMatch]
    /// What was searched for, to be shown in its surroundings.
    let search: TextSearch?

    /// For a person.
    var table: Report {
        var report = Report(.list, columns: [.left("record"), .left("path"), .left("value")])
        for match in matches {
            report.append([match.record.cell, .text(match.path.description), excerpt(of: match)])
        }
        return report
    }

    private func excerpt(of match: ValueMatch) -> Cell {
        if let target = match.target { return target.cell }
        if case .string(let text) = match.value {
            return .text(Excerpt.text(of: text, around: search?.range(in: text)))
        }
        return .text(Excerpt.text(of: JSONWriter().string(from: match.value), around: nil))
    }
}

extension MatchReport: Printable {
    private static let columns: [Report.Column] = [
        .left("identifier"), .left("kind"), .left("path"), .left("value"),
    ]

    /// For a program that reads lines.
    var report: Report {
        var report = Report(.list, columns: Self.columns)
        for match in matches { report.append(Self.cells(match) + [.text(Self.text(match.value))]) }
        return report
    }

    /// Values are what they are, not their text.
    var json: JSONValue {
        .array(
            matches.map { match in
                let names = Self.columns.map(\.name)
                let values = Self.cells(match).map(\.json) + [match.value]
                return .object(zip(names, values).map { JSONMember(name: $0, value: $1) })
            })
    }

    private static func cells(_ match: ValueMatch) -> [Cell] {
        [
            .text(match.record.identifier), .text(match.record.kind.rawValue),
            .text(match.path.description),
        ]
    }

    private static func text(_ value: JSONValue) -> String {
        if case .string(let text) = value { text } else { JSONWriter().string(from: value) }
    }
}
