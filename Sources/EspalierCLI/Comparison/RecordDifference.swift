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
        Report(
            .list,
            columns: [
                .left("change"), .left("kind"), .left("identifier"), .left("path"), .left("a"),
                .left("b"),
            ],
            rows: differences.flatMap { difference -> [[Cell]] in
                let name: [Cell] = [
                    .text(difference.change.rawValue, difference.change.style),
                    .text(difference.kind.rawValue), .text(difference.identifier, .name),
                ]
                let nothing = Array(repeating: Cell.value(nil, shown: .nothing), count: 3)
                return difference.fields.isEmpty
                    ? [name + nothing]
                    : difference.fields.map { name + [.text($0.path), $0.a.cell, $0.b.cell] }
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

    /// In JSON, nothing is no member, because it differs from null.
    var cell: Cell {
        switch self {
        case .nothing: return .value(nil, shown: .nothing)
        case .value(let value): return .value(value, shown: .text(value.text))
        case .elements(let elements):
            let shown = elements.prefix(Self.shownElements).map(\.text).joined(separator: ", ")
            let rest = elements.count - Self.shownElements
            return .value(
                .array(elements), shown: .text(rest > 0 ? "\(shown) and \(rest) more" : shown))
        }
    }
}
#endif
