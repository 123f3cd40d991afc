// The occurrences of one node in one write. APIs return the same person poor in one place and rich
// in another: a node that merges keeps every field that any of them has.
//
//     "actor": {"id": 1, "login": "ada"}           the record of User:1:
//     "user":  {"id": 1, "name": "Ada"}            id, login, name

/// A later occurrence of a node whose projection the tree has already.
struct Occurrence {
    /// Its place in the order in which occurrences begin.
    let number: Int
    let node: Int
    /// The position of its type among those of the tree.
    let type: Int
    let draft: ProjectionDraft
}

/// The later occurrences that a flattening has met.
struct OccurrenceCount {
    private(set) var count = 0
    /// Occurrences met inside of another one of their node, which is not complete yet.
    private var pending: [Int: [Occurrence]] = [:]
    private var objects = KnownObjects()

    var hasPending: Bool { !pending.isEmpty }

    /// Returns the number of an occurrence that begins.
    mutating func next(_ limits: TreeLimits) throws -> Int {
        guard count < limits.maximumLogicalNodes else {
            throw FlattenError.tooManyOccurrences(limit: limits.maximumLogicalNodes)
        }
        count += 1
        return count
    }

    /// Returns false for an object that was asked about before.
    mutating func isNew(_ object: AnyObject?) -> Bool { objects.isNew(object) }

    mutating func keep(_ occurrence: Occurrence) {
        pending[occurrence.node, default: []].append(occurrence)
    }

    /// Removes and returns the pending occurrences of a node, in the order in which they begin.
    mutating func takePending(of node: Int) -> [Occurrence] {
        pending.removeValue(forKey: node)?.sorted { $0.number < $1.number } ?? []
    }
}

/// Objects that were walked, by identity. They are kept alive, because a model may make its
/// children anew for each encoding, and a later object could get the address of an earlier one.
struct KnownObjects {
    private var objects: [ObjectIdentifier: AnyObject] = [:]

    /// Returns false for an object that was asked about before.
    mutating func isNew(_ object: AnyObject?) -> Bool {
        guard let object else { return true }
        return objects.updateValue(object, forKey: ObjectIdentifier(object)) == nil
    }
}

extension ProjectionDraft {
    /// Returns this draft with the fields that it lacks and a later occurrence of the node has; nil
    /// if there are none.
    ///
    /// A field that both have is merged by the rule of the type. Without a rule it stays as it is:
    /// the first occurrence counts. Of an enum, whose fields are cases, the first case counts.
    ///
    /// - Complexity: O(bytes of both).
    func filled(
        from later: ProjectionDraft, _ shapes: ShapeInterner, by rules: MergeRules = [:]
    ) throws -> ProjectionDraft? {
        guard !isCase, !later.isCase else { return nil }
        let (mine, theirs) = (try versions, try later.versions)
        let newer = try rules.stamps.newer { stamp in
            guard let slot = shape.slot(of: stamp), mine.ranges.isSet(slot),
                let other = later.shape.slot(of: stamp), theirs.ranges.isSet(other)
            else { return nil }
            return (mine.fields[slot], theirs.fields[other])
        }
        var names = shape.names
        var picked: [FieldVersion] = []
        var nulls = explicitNulls
        var isChanged = false
        for slot in 0..<shape.count {
            var outcome = FieldVersion.Outcome.old
            if let other = later.shape.slot(of: names[slot]), theirs.ranges.isSet(other) {
                if !mine.ranges.isSet(slot) {
                    outcome = .new
                } else if let rule = rules[Identifier(names[slot])] {
                    outcome = try mine.fields[slot].merged(
                        with: theirs.fields[other], by: rule, isOldNewer: newer.contains)
                }
                if case .new = outcome {
                    picked.append(theirs.fields[other])
                    nulls.remove(slot)
                    if later.explicitNulls.contains(other) { nulls.insert(slot) }
                }
            }
            switch outcome {
            case .old: picked.append(mine.fields[slot])
            case .new: isChanged = true
            case .merged(let values, let children):
                picked.append(
                    FieldVersion(values: values, range: 0..<values.count, children: children))
                isChanged = true
            }
        }
        for (slot, name) in later.shape.names.enumerated() where shape.slot(of: name) == nil {
            if later.explicitNulls.contains(slot) { nulls.insert(names.count) }
            names.append(name)
            picked.append(theirs.fields[slot])
            isChanged = true
        }
        guard isChanged else { return nil }
        var splicer = ValueSplicer()
        for value in picked { try value.append(to: &splicer) }
        return ProjectionDraft(
            type: type,
            shape: names.count == shape.count
                ? shape : try shapes.shape(type: type, fields: names),
            values: splicer.values, children: splicer.children.map { Int($0.rawValue) },
            isCase: false, explicitNulls: nulls)
    }
}

extension ProjectionDraft {
    /// The versions of the fields. The splicer numbers children by handles; here they are nodes of
    /// the tree.
    private var versions: (ranges: FieldRanges, fields: [FieldVersion]) {
        get throws {
            let ranges = try FieldRanges(of: self)
            let nodes = children.map { Handle(UInt64($0)) }
            return (
                ranges,
                ranges.ranges.map { FieldVersion(values: values, range: $0, children: nodes) }
            )
        }
    }
}

/// Where the values of a draft's fields stand.
struct FieldRanges {
    let ranges: [Range<Int>]
    private let tags: [UInt8]
    private let explicitNulls: Set<Int>

    init(of draft: ProjectionDraft) throws {
        ranges = try Self.ranges(of: draft.values, count: draft.shape.count)
        tags = ranges.map { draft.values[$0.lowerBound] }
        explicitNulls = draft.explicitNulls
    }

    /// Whether the field was fetched: it has a value or is an explicit null.
    func isSet(_ slot: Int) -> Bool {
        tags[slot] != Wire.null && tags[slot] != Wire.absent || explicitNulls.contains(slot)
    }

    /// Returns the ranges of `count` values that stand one after the other.
    static func ranges(of values: [UInt8], count: Int) throws -> [Range<Int>] {
        try ByteReader.reading(values) { reader in
            try (0..<count).map { _ in
                let start = reader.position
                try reader.skipValue()
                return start..<reader.position
            }
        }
    }
}

// MARK: - Parts of the tree

extension FlattenedTree {
    /// Returns whether a projection has the values and children that `encoder` has written.
    func holds(_ encoder: ValueEncoder, in part: Part) -> Bool {
        return encoder.writer.reading { $0.matchesRest(values, part.values) }
            && children[part.children].elementsEqual(encoder.children)
    }

    /// Returns a projection of a node; nil as long as it is not complete.
    func filledPart(ofTypeAt type: Int, at node: Int) -> Part? {
        let part =
            entries[node].first.type == type
            ? entries[node].first : others[node]?.first { $0.type == type }
        // A part has its shape once it is written.
        return part.flatMap { $0.shape == 0 ? nil : $0 }
    }

    /// Notes that occurrences of a node differ, and that they refer to other nodes.
    mutating func noteDifference(_ occurrence: Occurrence) {
        hasDifferences = true
        if !occurrence.draft.children.isEmpty { mixed.insert(occurrence.node) }
    }

    mutating func replacePart(ofTypeAt type: Int, at node: Int, with part: Part) {
        if entries[node].first.type == type {
            entries[node].first = part
        } else if let slot = others[node]?.firstIndex(where: { $0.type == type }) {
            others[node]?[slot] = part
        }
    }

    /// Gives up the values and children of a part that another one replaces.
    mutating func remove(_ part: Part) {
        byteCount -= part.values.count + part.children.count * 2
        // A part without fields begins where the next one does.
        if !part.values.isEmpty { explicitNulls[part.values.lowerBound] = nil }
        guard part.values.upperBound == values.count, part.children.upperBound == children.count
        else { return }
        values.removeLast(part.values.count)
        children.removeLast(part.children.count)
    }

    /// Moves all parts together if half of the bytes belong to parts that were replaced: a node
    /// with thousands of occurrences is merged as often, and may grow each time.
    mutating func removeUnusedBytes() {
        guard values.count + children.count * 2 > 2 * byteCount + 1 << 20 else { return }
        let (oldValues, oldChildren, oldNulls) = (values, children, explicitNulls)
        (values, children, explicitNulls) = ([], [], [:])
        for node in entries.indices {
            var first = entries[node].first
            move(&first, from: oldValues, oldChildren, oldNulls)
            entries[node].first = first
            for slot in (others[node] ?? []).indices {
                guard var part = others[node]?[slot] else { continue }
                move(&part, from: oldValues, oldChildren, oldNulls)
                others[node]?[slot] = part
            }
        }
    }

    private mutating func move(
        _ part: inout Part, from oldValues: [UInt8], _ oldChildren: [Int],
        _ oldNulls: [Int: Set<Int>]
    ) {
        let (bytes, nodes) = (oldValues[part.values], oldChildren[part.children])
        if let nulls = oldNulls[part.values.lowerBound], !bytes.isEmpty {
            explicitNulls[values.count] = nulls
        }
        part.values = values.count..<values.count + bytes.count
        part.children = children.count..<children.count + nodes.count
        values += bytes
        children += nodes
    }

    /// Appends the values and children of a draft.
    mutating func append(_ draft: ProjectionDraft, shape: Int, type: Int) -> Part {
        var part = Part(type: type, shape: shape)
        part.values = values.count..<values.count + draft.values.count
        part.children = children.count..<children.count + draft.children.count
        if !draft.explicitNulls.isEmpty { explicitNulls[values.count] = draft.explicitNulls }
        values += draft.values
        children += draft.children
        return part
    }
}
