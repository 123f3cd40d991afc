#if CommandLine
/// A record that differs between two caches.
struct RecordDifference: Sendable, Equatable {
    enum Change: String, Sendable {
        /// Only the second cache has the record.
        case added
        /// Only the first cache has the record.
        case removed
        case changed
        /// One cache or both cannot read the record.
        case damaged
    }

    let change: Change
    let kind: RecordName.Kind
    let identifier: String
    /// The fields that differ; empty for a record that only one cache has.
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

/// The differences between two caches, one row per place.
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

    /// The rows with values as JSON instead of their text. A missing value has no member.
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

/// A place at which two records differ, and both values.
struct FieldDifference: Sendable, Equatable {
    /// The value in one record.
    enum Side: Sendable, Equatable {
        case nothing
        case value(JSONValue)
        /// Some elements of an array.
        case elements([JSONValue])
    }

    /// A path as in `entities.media[0].url`, a run of elements as in `media[3-5]`, or `$types`,
    /// `$declarers` or `$count`.
    let path: String
    let a: Side
    let b: Side
}

extension FieldDifference.Side {
    /// The number of elements that a table shows; it counts the others.
    private static let shownElements = 3

    var cell: Cell {
        switch self {
        case .nothing: return .nothing
        case .value(let value): return .text(JSONWriter().string(from: value))
        case .elements(let elements):
            let shown = elements.prefix(Self.shownElements).map(JSONWriter().string(from:)).joined(
                separator: ", ")
            let rest = elements.count - Self.shownElements
            return .text(rest > 0 ? "\(shown) and \(rest) more" : shown)
        }
    }

    /// The value as JSON, or nil for nothing, which differs from null.
    var json: JSONValue? {
        switch self {
        case .nothing: nil
        case .value(let value): value
        case .elements(let elements): .array(elements)
        }
    }
}
#endif
