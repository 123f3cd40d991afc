import EspalierRecords

/// Finds records at which cycles close: depth first, without recursion, each record once.
///
/// Whatever cycle can be reached from where the search starts, the record at which it was entered
/// is among those found. So when these are flagged, no cycle is without a flag.
struct CycleSearch {
    private enum Mark { case onPath, done }

    private var marks: [Handle: Mark] = [:]
    private(set) var found: Set<Handle> = []

    /// Searches what `start` refers to. `children` gives none for a record where the search should
    /// not go on.
    ///
    /// After `limit` records it stops: what it has not seen by then may be on cycles that are not
    /// found.
    mutating func search(
        from start: Handle, limit: Int = .max, children: (Handle) throws -> [Handle]
    ) rethrows {
        guard marks[start] == nil else { return }
        marks[start] = .onPath
        let known = marks.count
        var path = [(record: start, rest: try children(start)[...])]
        while let last = path.indices.last {
            guard marks.count - known < limit else {
                for step in path { marks[step.record] = .done }
                return
            }
            guard let child = path[last].rest.popFirst() else {
                marks[path.removeLast().record] = .done
                continue
            }
            switch marks[child] {
            case .done: break
            case .onPath: found.insert(child)
            case nil:
                marks[child] = .onPath
                path.append((child, try children(child)[...]))
            }
        }
    }
}
