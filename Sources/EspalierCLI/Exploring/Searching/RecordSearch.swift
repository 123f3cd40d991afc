import EspalierRecords
import EspalierStore

/// Searches the records of one snapshot for values.
struct RecordSearch {
    private let inspection: Inspection
    private let field: FieldPath?
    private let query: ValueQuery?
    private let limit: Int
    /// The records that a reference has to lead to.
    private let targets: Set<Handle>
    private var names: RecordNames
    private(set) var matches: [ValueMatch] = []
    /// How many records and segments could not be searched.
    private(set) var unreadable = 0

    /// - Precondition: a field or a query.
    init(_ inspection: Inspection, field: FieldPath?, query: ValueQuery?, limit: Int?) throws {
        precondition(field != nil || query != nil, "a search needs something to look for")
        self.inspection = inspection
        self.field = field
        self.query = query
        self.limit = limit ?? .max
        names = RecordNames(inspection)
        targets = try query.map { try Self.targets(of: $0.search, in: inspection) } ?? []
    }

    /// Of all nodes the one with the identifier searched for; those, where case is ignored.
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

    /// Goes through nodes, keys and collections in the order of the index.
    mutating func run() throws {
        for nameSpace in [NameSpace.node, .key, .collection] where matches.count < limit {
            try inspection.forEachEntry(of: nameSpace) { entry in
                if case .record(let record) = try inspection.record(of: entry) {
                    try search(record)
                } else {
                    unreadable += 1
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
            // The others need not be taken apart.
            guard let slot = record.shape.slot(of: first) else { return }
            let value = try record.value(inSlot: slot)
            guard value != .absent else { return }
            let path = FieldPath(steps: [.name(first)])
            try search(PlacedValue(path: path, value: value, children: record.children), of: name)
        } catch is FormatError {
            unreadable += 1
        }
    }

    /// Strings stand in a record as they are: where the bytes looked for are not in it, it need not
    /// be taken apart.
    private func mayMatch(_ record: Record) -> Bool {
        guard let query, query.isTextOnly, record.nameSpace != .collection else { return true }
        return record.children.contains(where: targets.contains)
            || query.search.mayStand(in: record.values)
    }

    private mutating func search(_ placed: PlacedValue, of name: RecordName) throws {
        guard let field else { return try search(placed, at: [], of: name) }
        // What a place in the record is asked for by its first step; an element may also be looked
        // into.
        if let own = placed.path.steps.first {
            let isAskedFor = own == field.steps.first
            if case .name = own, !isAskedFor { return }
            if case .index? = field.steps.first, !isAskedFor { return }
            return try search(
                placed, at: isAskedFor ? field.steps.dropFirst() : field.steps[...], of: name)
        }
        try search(placed, at: field.steps[...], of: name)
    }

    private mutating func search(
        _ placed: PlacedValue, at steps: ArraySlice<FieldPath.Step>, of name: RecordName
    )
        throws
    {
        var path = placed.path
        _ = try placed.value.forEach(at: steps, path: &path) { path, value in
            try search(value, at: &path, in: placed, of: name)
            return matches.count < limit
        }
    }

    private mutating func search(
        _ value: RecordValue, at path: inout FieldPath, in placed: PlacedValue, of name: RecordName
    ) throws {
        guard query != nil else { return try add(value, at: path, in: placed, of: name) }
        _ = try value.forEachLeaf(at: &path) { path, leaf in
            if isMatch(leaf, in: placed) { try add(leaf, at: path, in: placed, of: name) }
            return matches.count < limit
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
