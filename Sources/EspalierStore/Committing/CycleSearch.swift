import EspalierRecords

/// Finds records at which cycles close: depth first, without recursion, each record once.
///
/// Whatever cycle can be reached from where the search starts, the record at which it was entered is among those found. So
/// when these are flagged, no cycle is without a flag.
struct CycleSearch {
    private enum Mark { case onPath, done }

    private var marks: [Handle: Mark] = [:]
    private(set) var found: Set<Handle> = []

    /// Searches what `start` refers to. `children` gives none for a record where the search should not go on.
    mutating func search(from start: Handle, children: (Handle) throws -> [Handle]) rethrows {
        guard marks[start] == nil else { return }
        marks[start] = .onPath
        var path = [(record: start, rest: try children(start)[...])]
        while let last = path.indices.last {
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
