package import EspalierRecords

// The two searches for cycles: `CycleFinder` finds a record of each cycle, so that it can be
// flagged, and `CycleSearch` all records of one cycle, so that it can be judged and evicted.
// `KnownCycles` keeps what searches have found for those after them.

/// Finds records at which cycles close: depth first, without recursion, each record once.
/// ``CycleSearch`` finds all records of one cycle instead.
///
/// For every cycle that can be reached from where the search starts, ``found`` has the record at
/// which the search entered it. Flagging the records found leaves no cycle without a flag.
struct CycleFinder {
    private enum Mark { case onPath, done }

    private var marks: [Handle: Mark] = [:]
    private(set) var found: Set<Handle> = []
    /// The records that searches have looked at.
    private(set) var lookCount = 0

    /// Searches what can be reached from `start`.
    ///
    /// - Parameters:
    ///   - limit: Records after which the search stops. Cycles through records that it has not seen
    ///     by then may not be found.
    ///   - children: Returns the children of a record; none where the search should not go on.
    /// - Returns: Whether the search has seen everything.
    @discardableResult
    mutating func search(
        from start: Handle, limit: Int = .max, children: (Handle) throws -> [Handle]
    ) rethrows -> Bool {
        guard marks[start] == nil else { return true }
        marks[start] = .onPath
        lookCount += 1
        let end = limit < .max - lookCount ? lookCount + limit : .max
        var path = [(record: start, rest: try children(start)[...])]
        while let last = path.indices.last {
            guard lookCount < end else {
                // What leads from these records was not seen: a later search has to look again.
                for step in path { marks[step.record] = nil }
                return false
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
                lookCount += 1
                path.append((child, try children(child)[...]))
            }
        }
        return true
    }
}

/// What decides whether a cycle can be evicted.
struct JudgedCycle {
    /// Empty if no path leads back to the record that the search began at.
    var members: [Handle] = []
    /// The members to which records outside the cycle refer, or pins.
    var externalReferences: [Handle] = []
    /// The time of the last access to any member.
    var stamp = Stamp.never
}

/// The search for the records that can be reached from one record and lead back to it: its cycle.
struct CycleSearch {
    /// The records reached so far, each with those that refer to it.
    private var parents: [Handle: [Handle]]
    private let start: Handle
    private let memberLimit: Int
    /// The records reached that are known to lead back to the first one.
    private(set) var members: Set<Handle> = []

    init(from start: Handle, memberLimit: Int) {
        self.start = start
        self.memberLimit = memberLimit
        parents = [start: []]
    }

    /// The number of records reached.
    var count: Int { parents.count }

    /// Searches until everything that can be reached was seen, but for records that are known to
    /// lead to no cycle. Returns false if the search has ended early: at a record that is known to
    /// lead to a large cycle, when the cycle has more than `memberLimit` records, or if more than
    /// `limit` records can be reached.
    ///
    /// - Complexity: One call of `children` for each record reached, and no recursion.
    mutating func run(
        limit: Int, known: KnownCycles, children: (Handle) throws -> [Handle]
    ) rethrows -> Bool {
        var open = [start]
        while let record = open.popLast() {
            for child in try children(record) where !known.acyclic.contains(child) {
                if parents[child] == nil {
                    guard parents.count < limit, !known.large.contains(child) else { return false }
                    open.append(child)
                }
                parents[child, default: []].append(record)
                if child == start || members.contains(child) { addMembers(leadingTo: record) }
            }
            guard members.count <= memberLimit else { return false }
        }
        return true
    }

    /// Adds a record that refers to a member, and all those that lead to it.
    private mutating func addMembers(leadingTo record: Handle) {
        var open = [record]
        while let record = open.popLast() {
            guard members.insert(record).inserted else { continue }
            open += parents[record] ?? []
        }
    }

    /// Returns the number of references to a member from within the cycle, after a search that has
    /// seen everything.
    func references(to member: Handle) -> UInt64 { UInt64(parents[member]?.count ?? 0) }

    /// Returns the records that lead to no cycle, after a search that has seen everything: those
    /// without children, those whose children are all such records, and so on.
    func leadingToNoCycle() -> Set<Handle> {
        var childCounts: [Handle: Int] = [:]
        for parent in parents.values.joined() { childCounts[parent, default: 0] += 1 }
        var open = parents.keys.filter { childCounts[$0] == nil }
        var found = Set(open)
        while let record = open.popLast() {
            for parent in parents[record] ?? [] {
                childCounts[parent, default: 0] -= 1
                if childCounts[parent] == 0, found.insert(parent).inserted { open.append(parent) }
            }
        }
        return found
    }
}

/// What the evictor's searches have found, for the searches after them: where many records refer to
/// each other, thousands can be reached from each, and nearly the same ones from each.
///
/// Kept in memory only. Handles are never used again, so what is evicted needs no removal here.
package struct KnownCycles: Sendable {
    /// Records on a cycle that is too large to be evicted as one, or that lead to one, or to more
    /// records than a search looks at. The set may be out of date once references were removed, so
    /// it is emptied after a number of detachments, and after writes.
    private(set) var large: Set<Handle> = []
    /// Records that lead to no cycle, until one is closed.
    private(set) var acyclic: Set<Handle> = []
    /// Detachments until `large` is forgotten.
    private var detachmentsLeft = 0
    /// The bytes that had been written to the cache when `large` was empty.
    private var bytesWritten: UInt64 = 0

    /// A search that reaches fewer records is as fast as remembering what it has found.
    private let shortestSearch: Int
    /// The detachments after which `large` is forgotten. With 64, searches took half of the time of
    /// a cache of feeds whose posts refer to other posts; with 1,024, a fifth.
    private static let detachmentLimit = 1_024
    /// The number of records in `acyclic` at which it is emptied before more are added.
    private static let acyclicLimit = 1 << 16

    package init(shortestSearch: Int = 64) { self.shortestSearch = shortestSearch }

    mutating func addLarge(_ handles: Set<Handle>) {
        if large.isEmpty { detachmentsLeft = Self.detachmentLimit }
        large.formUnion(handles)
    }

    mutating func addAcyclic(_ search: CycleSearch) {
        guard search.count >= shortestSearch else { return }
        if acyclic.count >= Self.acyclicLimit { acyclic.removeAll() }
        acyclic.formUnion(search.leadingToNoCycle())
    }

    /// Notes that a record was detached from its children.
    package mutating func noteDetachment(of handle: Handle) {
        large.remove(handle)
        detachmentsLeft -= 1
        if detachmentsLeft <= 0 { large.removeAll() }
    }

    /// Notes that a cycle was closed or found.
    mutating func noteNewCycle() { acyclic.removeAll() }

    /// Forgets large cycles if more than `limit` bytes were written since they were found. The
    /// writes may have removed references.
    mutating func forgetLarge(at bytesWritten: UInt64, limit: UInt64) {
        if large.isEmpty || bytesWritten &- self.bytesWritten > limit {
            large.removeAll()
            self.bytesWritten = bytesWritten
        }
    }
}
