import EspalierRecords

/// What the rule asks of the cache: never more than it needs to decide.
protocol EvictionGraph {
    func entry(_ handle: Handle) throws -> StateEntry
    /// The handles a record refers to; none for what is no record.
    func children(_ handle: Handle) throws -> [Handle]
}

/// What to do with the record that stands first in `recency`.
enum EvictionStep: Equatable {
    /// It is dying: release some more of its children.
    case release(Handle)
    /// These go, as one: a root, or the records of a cycle that nothing else refers to. `stamp` is
    /// when they were last accessed.
    case evict([Handle], stamp: Stamp)
    /// Another record of its cycle was accessed later: that is when it was, too.
    case relist(Handle, stamp: Stamp)
    /// Its cycle is referred to from outside, at these records: when such a reference goes it is
    /// looked at again.
    case block(Handle, externalReferences: [Handle])
    /// It is on no cycle any more, and somebody refers to it.
    case unflag(Handle)
}

/// Which record goes: exact subtree LRU, decided from counts and stamps alone.
///
/// A read touches every record that can be reached from the one it began at, so records on a cycle
/// are always touched together, and the cache, taken by cycles, is a graph without any. Only what
/// nothing refers to can go without breaking a tree: roots, and cycles without a reference from
/// outside. Of these, the one accessed longest ago. Its own stamp is exact, because whenever a
/// reference goes its stamp is handed on: nothing is younger than what refers to it.
///
/// Finding cycles by looking at what a record refers to follows trial deletion (Bacon, Rajan:
/// Concurrent Cycle Collection in Reference Counted Systems, 2001), with flags instead of a buffer
/// of suspects.
enum EvictionRule {
    /// Records looked at to judge one cycle. What is larger is held until nothing else is left.
    static let searchLimit = 1 << 15

    /// `regardlessOfAge` asks for a record's own sake and not because it stands first.
    static func step(
        for handle: Handle, in graph: some EvictionGraph, regardlessOfAge: Bool = false,
        searchLimit: Int = searchLimit
    ) throws -> EvictionStep {
        let entry = try graph.entry(handle)
        if entry.flags.contains(.pendingRemoval), !entry.flags.contains(.blocked) {
            return .release(handle)
        }
        if entry.referenceCount == 0 { return .evict([handle], stamp: entry.stamp) }
        guard let cycle = try Cycle.through(handle, limit: searchLimit, children: graph.children)
        else {
            return .block(handle, externalReferences: [])
        }
        guard !cycle.references.isEmpty else { return .unflag(handle) }
        var stamp = entry.stamp
        var externalReferences: [Handle] = []
        for (member, references) in cycle.references {
            let entry = try graph.entry(member)
            stamp = max(stamp, entry.stamp)
            if entry.referenceCount > references { externalReferences.append(member) }
        }
        if !externalReferences.isEmpty {
            return .block(handle, externalReferences: externalReferences.sorted())
        }
        if stamp > entry.stamp, !regardlessOfAge { return .relist(handle, stamp: stamp) }
        return .evict(cycle.references.keys.sorted(), stamp: stamp)
    }
}
