import EspalierRecords
import EspalierStore

/// Finds references in one snapshot.
///
/// Nothing is stored about what refers to a record, so that finding it out takes a walk over all
/// records: one for any number of them.
struct ReferenceFinder {
    private let inspection: Inspection
    /// Records that can't be read: what they refer to is not known.
    private(set) var unreadable: Set<Handle> = []

    init(_ inspection: Inspection) { self.inspection = inspection }

    mutating func references(_ direction: ReferenceGraph.Direction, _ records: [Handle]) throws
        -> [ReferenceEdge]
    {
        switch direction {
        case .to: try records.flatMap { try references(in: $0) }
        case .from: try references(to: Set(records))
        }
    }

    // MARK: What a record refers to

    private mutating func references(in handle: Handle) throws -> [ReferenceEdge] {
        switch try inspection.record(handle) {
        case .record(let record): return try references(in: record)
        case .deleted, .lost, .nothing: return []
        case .damaged:
            unreadable.insert(handle)
            return []
        }
    }

    private mutating func references(in record: Record) throws -> [ReferenceEdge] {
        var edges: [ReferenceEdge] = []
        do {
            try inspection.forEachValue(
                of: record,
                unreadable: { segment in
                    // Shown as what it is, where the first of its elements would stand.
                    let path = FieldPath(steps: [.index(segment.elements.lowerBound)])
                    edges.append(
                        ReferenceEdge(source: record.handle, path: path, target: segment.handle))
                    unreadable.insert(segment.handle)
                },
                { value in
                    edges += value.references.map {
                        ReferenceEdge(source: record.handle, path: $0.path, target: $0.target)
                    }
                    return true
                })
        } catch is FormatError {
            unreadable.insert(record.handle)
        }
        return edges
    }

    // MARK: What refers to a record

    private mutating func references(to targets: Set<Handle>) throws -> [ReferenceEdge] {
        var edges: [ReferenceEdge] = []
        var inSegments: [Handle: [ReferenceEdge]] = [:]
        try inspection.forEachRecord { handle, stored in
            guard case .record(let record) = stored else {
                unreadable.insert(handle)
                return true
            }
            // The children of a collection are segments, which nobody asks for.
            guard record.nameSpace != .collection, record.children.contains(where: targets.contains)
            else {
                return true
            }
            let found = try references(in: record).filter { targets.contains($0.target) }
            if record.nameSpace == .segment { inSegments[handle] = found } else { edges += found }
            return true
        }
        return edges + (try collectionReferences(inSegments))
    }

    /// What segments refer to, as references of the collections they belong to.
    private func collectionReferences(_ found: [Handle: [ReferenceEdge]]) throws -> [ReferenceEdge]
    {
        var edges: [ReferenceEdge] = []
        guard !found.isEmpty else { return edges }
        try inspection.forEachEntry(of: .collection) { entry in
            guard case .record(let collection) = try inspection.record(of: entry) else {
                return true
            }
            for (segment, elements) in (try? collection.segments()) ?? [] {
                edges += (found[segment] ?? []).map { edge in
                    ReferenceEdge(
                        source: entry.handle, path: edge.path.moved(by: elements.lowerBound),
                        target: edge.target)
                }
            }
            return true
        }
        return edges
    }
}

extension FieldPath {
    /// The path in a collection of what stands at this one in a segment whose first element has the
    /// index `start`.
    func moved(by start: Int) -> FieldPath {
        guard case .index(let index) = steps.first else { return self }
        return FieldPath(steps: [.index(index + start)] + steps.dropFirst())
    }
}
