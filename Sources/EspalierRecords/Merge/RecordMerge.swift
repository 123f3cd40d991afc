/// The record that results when a node of a tree is merged into the stored record: the rules of
/// projections, as a value.
///
/// Where a type that merges has a ``MergeRule`` for a field, the merge follows it.
///
///     record before        write by T            record after
///     a  {S}               b, c                  a {S}, b {S,T}, c {T}
///     b  {S,T}
///     d  {T}                                     (d is gone: only T declared it)
package struct RecordMerge {
    package let shape: Shape
    package let children: [Handle]
    package let values: ArraySlice<UInt8>
    /// Whether the record refers to nodes that the tree does not: those of fields that stay.
    package let keepsChildren: Bool
    /// Whether the record has what the tree has, and nothing else.
    package let isWhole: Bool

    /// Merges the node at `index` of `tree` into `old`. `handles` holds the handle of each node of
    /// the tree.
    // Shared, because an initialiser gets a copy otherwise, which retains all of the tree's arrays
    // for each node.
    package init(
        _ index: Int, of tree: __shared FlattenedTree, into old: __shared Record?,
        handles: __shared [Handle]
    ) throws {
        // Reads the arrays of the tree: `tree.nodes[index]` would copy them into a draft.
        if try tree.replaces(old, at: index) {
            shape = tree.shape(at: index)
            children = tree.entries[index].first.children.map { handles[tree.children[$0]] }
            values = tree.values(at: index)
            keepsChildren = false
            isWhole = true
            return
        }
        var merge = SlotMerge()
        if let old { merge.start(with: old) }
        var childCount = 0
        for projection in tree.nodes[index].projections {
            childCount += projection.children.count
            try merge.add(projection, children: projection.children.map { handles[$0] })
        }
        let merged = try merge.finish()
        (shape, children, values) = (merged.shape, merged.children, merged.values[...])
        // A rule may keep the record's version of a field that the tree has, too, and its children.
        keepsChildren = children.count > childCount || merge.keepsFields
        isWhole = false
    }
}

/// The general case of a merge: slot by slot.
private struct SlotMerge {
    struct Slot {
        let name: Identifier
        var declarers: Set<Identifier>
        var source: Int
        var range: Range<Int>
    }

    private var slots: [Slot] = []
    private var places: [Identifier: Int] = [:]
    private var types: [Identifier] = []
    private var sources: [(values: [UInt8], children: [Handle])] = []
    /// Fields that an earlier projection of the same write has set.
    private var written: Set<Identifier> = []
    /// Those of `written` that are nil because a projection was replaced.
    private var cleared: Set<Identifier> = []
    /// Whether a rule has kept children of a field that the write has set.
    private(set) var keepsFields = false

    /// Begins with the stored record. One whose values break the format counts as not there: it
    /// must not prevent the write.
    mutating func start(with old: Record) {
        guard let ranges = try? FieldRanges.ranges(of: old.values, count: old.shape.count) else {
            return
        }
        types = old.shape.types.map(Identifier.init)
        sources.append((old.values, old.children))
        for (field, range) in zip(old.shape.fields, ranges) {
            let declarers = types.indices.filter { field.declarers & (1 << UInt64($0)) != 0 }.map {
                types[$0]
            }
            append(
                Slot(
                    name: Identifier(field.name), declarers: Set(declarers), source: 0, range: range
                ))
        }
    }

    mutating func add(_ projection: ProjectionDraft, children: [Handle]) throws {
        let type = Identifier(projection.type)
        if !projection.merges || projection.isCase {
            withdraw(type, except: Set(projection.shape.names.map(Identifier.init)))
        }
        if !types.contains(type) { types.append(type) }
        let source = sources.count
        sources.append((projection.values, children))
        let fields = try FieldRanges(of: projection)
        let rules = projection.isCase ? nil : projection.rules
        let newer = try rules.map { try newerStamps($0.rules, than: projection, fields) }
        for (slot, name) in projection.shape.names.map(Identifier.init).enumerated() {
            let range = fields.ranges[slot]
            let isSet = !projection.merges || fields.isSet(slot)
            if let place = places[name] {
                slots[place].declarers.insert(type)
                guard isSet else { continue }
                if let rules, let newer, let rule = rules.rules[name],
                    isFetched(at: place, asField: rules.fields.contains(name))
                {
                    let new = FieldVersion(
                        values: projection.values, range: range, children: children)
                    try merge(new, from: source, to: place, by: rule, newer)
                } else if !written.contains(name) || projection.merges && cleared.contains(name) {
                    slots[place].source = source
                    slots[place].range = range
                }
            } else {
                append(Slot(name: name, declarers: [type], source: source, range: range))
            }
            guard isSet else { continue }
            if projection.merges || fields.isSet(slot) {
                cleared.remove(name)
            } else if !written.contains(name) {
                cleared.insert(name)
            }
            written.insert(name)
        }
    }

    // MARK: Rules

    /// Merges the field at `place` by its rule. `newer` has the fields in which the record is newer
    /// than the projection.
    private mutating func merge(
        _ new: FieldVersion, from source: Int, to place: Int, by rule: MergeRule,
        _ newer: Set<String>
    ) throws {
        let old = version(at: place)
        switch try old.merged(with: new, by: rule, isOldNewer: newer.contains) {
        case .old: keepsFields = keepsFields || !old.children.isEmpty
        case .new:
            slots[place].source = source
            slots[place].range = new.range
        case .merged(let values, let children):
            keepsFields = keepsFields || !children.isEmpty
            slots[place].source = sources.count
            slots[place].range = 0..<values.count
            sources.append((values, children))
        }
    }

    /// Returns the fields named by rules in which the record is newer than `projection`. The fields
    /// of a projection are all compared with the record as it was before.
    private func newerStamps(
        _ rules: MergeRules, than projection: ProjectionDraft, _ fields: FieldRanges
    ) throws -> Set<String> {
        try rules.stamps.newer { stamp in
            guard let slot = projection.shape.slot(of: stamp), fields.isSet(slot),
                let place = places[Identifier(stamp)]
            else { return nil }
            let new = FieldVersion(
                values: projection.values, range: fields.ranges[slot], children: [])
            return (version(at: place), new)
        }
    }

    private func version(at place: Int) -> FieldVersion {
        let source = sources[slots[place].source]
        return FieldVersion(
            values: source.values, range: slots[place].range, children: source.children)
    }

    /// Whether the record has fetched a field. Nil is fetched if the field tells null from absent,
    /// or if the same write has set it.
    private func isFetched(at place: Int, asField: Bool) -> Bool {
        let slot = slots[place]
        return switch sources[slot.source].values[slot.range.lowerBound] {
        case Wire.absent: false
        case Wire.null: asField || written.contains(slot.name)
        default: true
        }
    }

    // MARK: Fields

    /// Removes `type` from the declarers of all fields except `kept`, and the fields that are left
    /// without declarer.
    private mutating func withdraw(_ type: Identifier, except kept: Set<Identifier>) {
        for index in slots.indices where !kept.contains(slots[index].name) {
            slots[index].declarers.remove(type)
        }
        slots.removeAll { $0.declarers.isEmpty }
        places = Dictionary(uniqueKeysWithValues: slots.enumerated().map { ($1.name, $0) })
    }

    private mutating func append(_ slot: Slot) {
        places[slot.name] = slots.count
        slots.append(slot)
    }

    mutating func finish() throws -> (shape: Shape, children: [Handle], values: [UInt8]) {
        limitTypes()
        let used = types.filter { type in slots.contains { $0.declarers.contains(type) } }
        let bits = Dictionary(
            uniqueKeysWithValues: used.enumerated().map { ($1, UInt64(1) << UInt64($0)) })
        var splicer = ValueSplicer()
        for slot in slots {
            let source = sources[slot.source]
            try ByteReader.reading(source.values) { reader in
                try splicer.append(slot.range, of: reader) { ordinal in
                    guard ordinal < source.children.count else {
                        throw FormatError.malformed("a child that is not in the record")
                    }
                    return source.children[ordinal]
                }
            }
        }
        let fields = slots.map { slot in
            Shape.Field(
                name: slot.name.string, declarers: slot.declarers.reduce(0) { $0 | (bits[$1] ?? 0) }
            )
        }
        return (Shape(types: used.map(\.string), fields: fields), splicer.children, splicer.values)
    }

    /// Removes the types that wrote first beyond the 64 that a shape may have, with the fields that
    /// only they declare.
    private mutating func limitTypes() {
        while types.count > Shape.maximumTypes {
            withdraw(types.removeFirst(), except: [])
        }
    }
}

/// Which nodes of a tree merge.
package enum TreePolicy: Sendable, CaseIterable {
    /// None.
    case replace
    /// All.
    case merge
    /// Those whose types say so.
    case ofTypes

    /// - Parameters:
    ///   - policy: The policy that a call has given; nil if it has given none.
    ///   - root: The policy of the type that is written, or of the elements of a collection.
    package init(_ policy: WritePolicy?, root: WritePolicy = .replace) {
        switch (policy, root) {
        case (.merge, _), (nil, .merge): self = .merge
        case (.replace, _): self = .replace
        case (nil, .replace): self = .ofTypes
        }
    }

    /// The `policy` argument of a call that leads to this policy; nil if the call gives none.
    package var given: WritePolicy? {
        switch self {
        case .replace: .replace
        case .merge: .merge
        case .ofTypes: nil
        }
    }
}

/// How a write treats the fields that a record has already.
public enum WritePolicy: String, Sendable, CaseIterable, Codable {
    /// Replaces every field that the type declares, by nil too. Fields that only other types
    /// declare stay. Fields that only this type declared, and no longer does, are removed.
    case replace
    /// Keeps a field of the record where the model has nil, which means "not fetched": the superset
    /// rule of partial models. To overwrite a field with nil, declare it as a ``Field``. If a node
    /// occurs several times in one write, its record gets every field that any occurrence has; of
    /// those that several have, the first counts.
    ///
    /// A field for which the type has a ``MergeRule`` follows that rule, in both cases.
    case merge
}

// The common cases of a write, in which a record becomes what the tree has: no other type wrote the
// record, and a node that merges lacks nothing that the record has, because a server sends the
// same fields of a node each time.
//
//     record          id: 7, name: "Ada",   url: nil
//     tree            id: 7, name: "Grace", url: nil      the record becomes what the tree has

extension FlattenedTree {
    /// Returns whether the record of the node at `index` becomes exactly what the tree has.
    ///
    /// - Complexity: O(1), or O(bytes of both) for a node that merges.
    func replaces(_ old: Record?, at index: Int) throws -> Bool {
        guard !hasProjections || others[index] == nil else { return false }
        guard let old else { return true }
        if merges(typeAt: entries[index].first.type) { return try fetchesAll(of: old, at: index) }
        return old.shape.types == [type(at: index)] || old.shape.types.isEmpty
    }

    /// Returns whether a merge into `old` keeps nothing of it: only the node's type wrote it, with
    /// the same fields, and it is nil in each field that the node lacks.
    private func fetchesAll(of old: Record, at index: Int) throws -> Bool {
        let part = entries[index].first
        guard !part.isCase, rules.isEmpty || rules[part.type] == nil,
            old.shape == shapes[part.shape]
        else { return false }
        let nulls = explicitNulls(of: part)
        return try ByteReader.reading(values) { mine in
            mine.position = part.values.lowerBound
            return try ByteReader.reading(old.values) { theirs in
                for slot in 0..<old.shape.count {
                    let (tag, known) = (try mine.peek(), try theirs.peek())
                    let isFetched = tag != Wire.null && tag != Wire.absent || nulls.contains(slot)
                    guard isFetched || tag == known else { return false }
                    try mine.skipValue()
                    try theirs.skipValue()
                }
                return true
            }
        }
    }
}
