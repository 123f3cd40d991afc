/// A record that two caches don't have alike.
struct RecordDifference: Sendable, Equatable {
    enum Change: String, Sendable {
        /// Only the second has it.
        case added
        /// Only the first has it.
        case removed
        case changed
        /// It can't be read in one of them, or in both.
        case damaged
    }

    let change: Change
    let kind: RecordName.Kind
    let identifier: String
    /// Where they differ; none for one that only one of them has.
    var fields: [FieldDifference] = []
}

extension RecordDifference.Change {
    var style: TextStyle {
        switch self {
        case .added: .good
        case .removed, .damaged: .bad
        case .changed: .warning
        }
    }
}

/// The differences of two caches, a row for each place.
struct DifferenceReport: Printable {
    let differences: [RecordDifference]

    var report: Report {
        var report = Report(
            .list,
            columns: [
                .left("change"), .left("kind"), .left("identifier"), .left("path"), .left("a"),
                .left("b"),
            ])
        for difference in differences {
            let name: [Cell] = [
                .text(difference.change.rawValue, difference.change.style),
                .text(difference.kind.rawValue),
                .text(difference.identifier, .name),
            ]
            guard !difference.fields.isEmpty else {
                report.append(name + [.nothing, .nothing, .nothing])
                continue
            }
            for field in difference.fields {
                report.append(name + [.text(field.path), field.a.cell, field.b.cell])
            }
        }
        return report
    }

    /// With values in place of their text, and without what is not there.
    var json: JSONValue {
        .array(
            differences.flatMap { difference -> [JSONValue] in
                let name = [
                    JSONMember(name: "change", value: .string(difference.change.rawValue)),
                    JSONMember(name: "kind", value: .string(difference.kind.rawValue)),
                    JSONMember(name: "identifier", value: .string(difference.identifier)),
                ]
                guard !difference.fields.isEmpty else { return [.object(name)] }
                return difference.fields.map { field in
                    let sides = [("a", field.a.json), ("b", field.b.json)].compactMap {
                        name, value in
                        value.map { JSONMember(name: name, value: $0) }
                    }
                    return .object(
                        name + [JSONMember(name: "path", value: .string(field.path))] + sides)
                }
            })
    }
}
