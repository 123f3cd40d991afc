import EspalierRecords

/// The references around one record, so many steps far.
struct ReferenceGraph: Sendable {
    enum Direction: String, Sendable, CaseIterable {
        /// What the record refers to.
        case to
        /// What refers to the record.
        case from
    }

    /// A reference, and how it was come by.
    struct Step: Sendable {
        let direction: Direction
        /// 1 for the references of the record itself.
        let depth: Int
        let edge: ReferenceEdge

        /// The record it was followed to.
        var far: Handle { direction == .to ? edge.target : edge.source }
    }

    let start: Handle
    let depth: Int
    private(set) var steps: [Step] = []

    /// Follows references from `start`, first those to other records and then those from them. Each
    /// record is looked at once in each direction, so that cycles end.
    ///
    /// - Parameter references: those to or from the records given: one call for each level.
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

    /// The references, each once, whichever way it was come by.
    var edges: [ReferenceEdge] {
        var known: Set<ReferenceEdge> = []
        return steps.map(\.edge).filter { known.insert($0).inserted }
    }
}
