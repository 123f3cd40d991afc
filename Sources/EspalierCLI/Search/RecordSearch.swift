#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// Searches the records of one snapshot for values. Implements `grep`.
struct RecordSearch {
    private let inspection: Inspection
    private let field: FieldPath?
    private let query: ValueQuery?
    private let limit: Int
    /// The nodes whose identifier is the text searched for: references to them match.
    private let targets: Set<Handle>
    private var names: RecordNames
    private(set) var matches: [ValueMatch] = []
    /// The number of records and segments that could not be searched.
    private(set) var unreadable = 0

    /// - Precondition: `field` or `query` is not nil.
    init(_ inspection: Inspection, field: FieldPath?, query: ValueQuery?, limit: Int?) throws {
        precondition(field != nil || query != nil, "a search needs a field or a query")
        self.inspection = inspection
        self.field = field
        self.query = query
        self.limit = limit ?? .max
        names = RecordNames(inspection)
        targets = try query.map { try Self.targets(of: $0.search, in: inspection) } ?? []
    }

    /// Returns the nodes whose identifier is the text searched for.
    private static func targets(of search: TextSearch, in inspection: Inspection) throws -> Set<
        Handle
    > {
        guard search.ignoresCase else {
            return Set([try inspection.handle(of: search.text, in: .node)].compactMap { $0 })
        }
        let whole = TextSearch(search.text, ignoresCase: true, isExact: true)
        var targets: Set<Handle> = []
        try inspection.forEachEntry(of: .node) { entry in
            if whole.matches(entry.identifier) { targets.insert(entry.handle) }
            return true
        }
        return targets
    }

    /// Searches nodes, keys and collections in the order of the index, up to the limit.
    mutating func run() throws {
        for nameSpace in [NameSpace.node, .key, .collection] where matches.count < limit {
            try inspection.forEachEntry(of: nameSpace) { entry in
                switch try inspection.record(of: entry) {
                case .record(let record): try search(record)
                case .damaged, .nothing: unreadable += 1
                // There is nothing to search, and no damage.
                case .deleted, .lost: break
                }
                return matches.count < limit
            }
        }
    }

    private mutating func search(_ record: Record) throws {
        guard mayMatch(record) else { return }
        let name = RecordName(record)
        do {
            guard record.nameSpace == .node, case .name(let first)? = field?.steps.first else {
                return try inspection.forEachValue(of: record, unreadable: { _ in unreadable += 1 })
                { value in
                    try search(value, of: name)
                    return matches.count < limit
                }
            }
            // Decodes the one field only.
            guard let slot = record.shape.slot(of: first) else { return }
            let value = try record.value(inSlot: slot)
            guard value != .absent else { return }
            let path = FieldPath(steps: [.name(first)])
            try search(PlacedValue(path: path, value: value, children: record.children), of: name)
        } catch is FormatError {
            unreadable += 1
        }
    }

    /// Returns false if the record cannot match. Records hold the bytes of strings unchanged: if
    /// the bytes searched for are not in it, the record need not be decoded.
    private func mayMatch(_ record: Record) -> Bool {
        guard let query, query.isTextOnly, record.nameSpace != .collection else { return true }
        return record.children.contains(where: targets.contains)
            || query.search.mayStand(in: record.values)
    }

    private mutating func search(_ placed: PlacedValue, of name: RecordName) throws {
        guard let steps = steps(from: placed) else { return }
        var path = placed.path
        _ = try placed.value.forEach(at: steps, path: &path) { path, value in
            if query == nil {
                try add(value, at: path, in: placed, of: name)
            } else {
                _ = try value.forEachLeaf(at: &path) { path, leaf in
                    if isMatch(leaf, in: placed) { try add(leaf, at: path, in: placed, of: name) }
                    return matches.count < limit
                }
            }
            return matches.count < limit
        }
    }

    /// Returns the steps from a value of the record to the field, or nil if the field is not in it.
    ///
    /// The first step selects the value in the record. A path that begins with a name also leads
    /// into the elements of a collection.
    private func steps(from placed: PlacedValue) -> ArraySlice<FieldPath.Step>? {
        guard let field else { return [] }
        guard let own = placed.path.steps.first else { return field.steps[...] }
        switch (own, field.steps.first) {
        case (_, own): return field.steps.dropFirst()
        case (.name, _), (_, .index): return nil
        default: return field.steps[...]
        }
    }

    private func isMatch(_ value: RecordValue, in placed: PlacedValue) -> Bool {
        if case .child(let ordinal) = value {
            return placed.target(ordinal).map(targets.contains) ?? false
        }
        return query?.matches(value) ?? false
    }

    private mutating func add(
        _ value: RecordValue, at path: FieldPath, in placed: PlacedValue, of name: RecordName
    ) throws {
        let shown = try JSONValue(value) { ordinal in
            let identifier = try target(ordinal, of: placed).identifier
            return identifier.isEmpty ? .null : .string(identifier)
        }
        var match = ValueMatch(record: name, path: path, value: shown)
        if case .child(let ordinal) = value { match.target = try target(ordinal, of: placed) }
        matches.append(match)
    }

    private mutating func target(_ ordinal: Int, of placed: PlacedValue) throws -> RecordName {
        try placed.target(ordinal).map { try names[$0] }
            ?? RecordName(kind: .nothing, identifier: "")
    }
}

/// A value found by a search.
struct ValueMatch: Sendable, Equatable {
    let record: RecordName
    let path: FieldPath
    /// For a reference, the identifier of its target, or null if the target has none.
    let value: JSONValue
    /// The target of a reference.
    var target: RecordName?
}

/// The matches of a search, one row each.
struct MatchReport: Printable {
    let matches: [ValueMatch]
    /// The text searched for, which excerpts show in context.
    let search: TextSearch?

    /// The rows with excerpts of long values.
    var shown: Report {
        Report(
            .list, columns: [.left("record"), .left("path"), .left("value")],
            rows: matches.map { match in
                [match.record.cell, .text(match.path.description), excerpt(of: match)]
            })
    }

    private func excerpt(of match: ValueMatch) -> Cell {
        if let target = match.target { return target.cell }
        if case .string(let text) = match.value {
            return .text(Excerpt.text(of: text, around: search?.range(in: text)))
        }
        return .text(Excerpt.text(of: match.value.text, around: nil))
    }

    var report: Report {
        Report(
            .list, columns: [.left("identifier"), .left("kind"), .left("path"), .left("value")],
            rows: matches.map { match in
                let text =
                    if case .string(let text) = match.value { text } else { match.value.text }
                return [
                    .text(match.record.identifier), .text(match.record.kind.rawValue),
                    .text(match.path.description), .value(match.value, shown: .text(text)),
                ]
            })
    }
}

/// The part of a text that a table shows: the match with a little context.
enum Excerpt {
    private static let before = 12
    private static let length = 72

    static func text(of text: String, around found: Range<String.Index>?) -> String {
        let found = found ?? text.startIndex..<text.startIndex
        let start = text[..<found.lowerBound].suffix(before).startIndex
        let shown = text[start...].prefix(length)
        return (start > text.startIndex ? "…" : "") + shown
            + (shown.endIndex < text.endIndex ? "…" : "")
    }
}
#endif
