#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// The references around one record, up to a number of steps.
struct ReferenceGraph: Sendable {
    enum Direction: String, Sendable, CaseIterable {
        /// References that the record holds.
        case to
        /// References that lead to the record.
        case from
    }

    /// A reference, with the direction and the distance at which it was found.
    struct Step: Sendable {
        let direction: Direction
        /// 1 for the references of the record itself.
        let depth: Int
        let edge: ReferenceEdge

        /// The record at the other end, seen from the start.
        var far: Handle { direction == .to ? edge.target : edge.source }
    }

    let start: Handle
    let depth: Int
    private(set) var steps: [Step] = []

    /// Follows references from `start`, first those that it holds and then those that lead to it.
    /// Visits each record once in each direction, so that cycles end.
    ///
    /// - Parameter references: Returns the references from or to the given records. Called once per
    ///   level.
    init(
        around start: Handle, depth: Int,
        references: (Direction, [Handle]) throws -> [ReferenceEdge]
    ) rethrows {
        self.start = start
        self.depth = depth
        for direction in Direction.allCases {
            var known: Set<Handle> = [start]
            var level = [start]
            var distance = 1
            while distance <= depth, !level.isEmpty {
                let found = try references(direction, level).map {
                    Step(direction: direction, depth: distance, edge: $0)
                }
                steps += found
                level = found.map(\.far).filter { known.insert($0).inserted }
                distance += 1
            }
        }
    }

    /// The references without repetitions.
    var edges: [ReferenceEdge] {
        var known: Set<ReferenceEdge> = []
        return steps.map(\.edge).filter { known.insert($0).inserted }
    }
}

/// A reference: the record that holds it, its path there, and its target. A collection holds the
/// references of its segments.
struct ReferenceEdge: Sendable, Hashable {
    let source: Handle
    let path: FieldPath
    let target: Handle
}

/// Finds references in one snapshot.
///
/// The cache stores no back references. Finding the references to a set of records takes one walk
/// over all records.
struct ReferenceFinder {
    private let inspection: Inspection
    /// Records that cannot be read, whose references are unknown.
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

    // MARK: References from a record

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
                    // Reports the segment itself at the index of its first element.
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

    // MARK: References to a record

    private mutating func references(to targets: Set<Handle>) throws -> [ReferenceEdge] {
        var edges: [ReferenceEdge] = []
        var inSegments: [Handle: [ReferenceEdge]] = [:]
        try inspection.forEachRecord { handle, stored in
            guard case .record(let record) = stored else {
                unreadable.insert(handle)
                return true
            }
            // The children of a collection are segments, which are never targets.
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

    /// Returns the references of segments as references of their collections.
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
    /// Returns the path in a collection for this path in a segment that begins at index `start`.
    func moved(by start: Int) -> FieldPath {
        guard case .index(let index) = steps.first else { return self }
        return FieldPath(steps: [.index(index + start)] + steps.dropFirst())
    }
}
#endif
