package import EspalierRecords

// # Eviction
//
// The files of this folder, in the order to read them:
//
// - EvictionPolicy: the states of a record, and the rule that decides which record is evicted next.
// - RecencyOrder: the order in which a transaction looks at records.
// - Evictor: evicts in one transaction, and removes records.
// - PendingRemoval: the removal of large records, in steps.
// - PageBudget: the pages that a transaction may copy, and a forecast of those that it copies.
// - AccessLog: the accesses that no commit has stored yet.
// - RoomMaker: makes room for a transaction that needs more pages than there are.
// - CycleCollection: the scan that finds unflagged cycles.
// - LargeCycle: the eviction of large cycles, over several commits.
//
// # The states of a record
//
// A record's state follows from its `StateEntry` in a group of the keyspace `state`, or from the
// default, and from whether its bytes (`nodes`) and its name (`index`) are there. `recency` lists
// only the records that the evictor has to look at.
//
//     state             references  flags                  bytes  name   in `recency`
//     referenced        1 or more   none                   yes    yes    no
//     root              0           none, or onCycle       yes    yes    under its stamp
//     on a cycle        1 or more   onCycle                yes    yes    under its stamp
//     blocked           1 or more   onCycle, blocked       yes    yes    no
//     pending removal   any number  pendingRemoval         some   no     first, under stamp 0
//     waiting removal   1 or more   pendingRemoval,blocked yes    no     no
//     tombstone         1 or more   tombstone              no     no     no
//     lost              any number  lost                   no     yes    if it has no references
//     gone              0           no state               no     no     no
//
// A pin is a reference that no record holds. A record that is pending removal and still referred to
// also has the flag tombstone. A lost record without a name also has the flag nameless.
//
//                        the last reference goes
//        +------------+ ------------------------> +------+  evicted, if small
//        | referenced |                           | root | -----------------------------> gone
//        +------------+ <------------------------ +------+                                 ^
//           |      ^      something refers to it      |                                    |
//     found |      | found on                         | evicted, if large                  |
//      on a |      | no cycle                         v                                    |
//     cycle v      |                         +-----------------+  last step, no references |
//        +------------+  its cycle evicted   | pending removal | --------------------------+
//        | on a cycle | -------------------> +-----------------+                           |
//        +------------+  (if small: gone)             | last step, still referred to       |
//           |      ^                                  v                                    |
//  cycle is |      | a reference               +-----------+  the last reference goes      |
//  referred |      | to it goes                | tombstone | ------------------------------+
//      from v      |                           +-----------+
//        +------------+
//        |  blocked   |
//        +------------+
//
// Besides:
//
// - A delete makes a record a tombstone if it is referred to, and gone if not. A large record may
//   be pending removal first.
// - A commit that finds a record damaged makes it lost. The next write of its identifier makes it
//   referenced or a root again. The evictor treats a lost record without references as a root.
// - A tombstone, or a lost record without a name, is gone with its last reference.
//
// A cycle of more than 64 records is evicted over several commits. Its records lose their names a
// few at a time and become waiting removals. The last one becomes pending removal. Each of the
// others follows when the first reference to it goes.

/// The part of the cache that ``EvictionRule`` reads. It reads no more than it needs to decide.
package protocol EvictionGraph {
    func entry(_ handle: Handle) throws -> StateEntry
    /// Returns the handles a record refers to; none if there is no record.
    func children(_ handle: Handle) throws -> [Handle]
}

/// The step for the record that is first in `recency`.
package enum EvictionStep: Equatable {
    /// The record is pending removal: release some more of its children.
    case release(Handle)
    /// Evict these records as one: a root, or the records of a cycle that nothing else refers to.
    /// `stamp` is the time of their last access.
    case evict([Handle], stamp: Stamp)
    /// Another record of its cycle was accessed later: move the record to that time.
    case relist(Handle, stamp: Stamp)
    /// Its cycle is referred to from outside, at `externalReferences`: take the record out of
    /// `recency` until such a reference goes.
    case block(Handle, externalReferences: [Handle])
    /// The record is on no cycle any more, and something refers to it.
    case unflag(Handle)
}

/// Decides which record is evicted next: exact subtree LRU, from counts and stamps alone.
///
/// A read touches every record that can be reached from its first record. All records of a cycle
/// are therefore touched together, and with each cycle taken as one record, the cache is an acyclic
/// graph. Only roots, and cycles without a reference from outside, can be evicted without breaking
/// a tree. The rule evicts the one of them that was accessed longest ago. Its own stamp is exact,
/// because a removed reference hands its stamp on: every record counts as accessed at least as
/// recently as the records that refer to it.
///
/// Finding cycles by searching what a record refers to follows trial deletion (Bacon, Rajan:
/// Concurrent Cycle Collection in Reference Counted Systems, 2001), with flags instead of a buffer
/// of suspects.
package enum EvictionRule {
    /// The most records searched to judge one cycle. A record of a larger cycle is blocked, and
    /// `Evictor` judges the cycle with others of its size, now and then.
    package static let searchLimit = 1 << 15

    /// Returns what to do with the record of `handle`.
    ///
    /// - Parameters:
    ///   - regardlessOfAge: Whether the record is to go for its own sake, and not because it stands
    ///     first in `recency`. It is not moved to a later time then.
    ///   - searchLimit: Records searched to judge its cycle.
    /// - Throws: What `graph` throws.
    /// - Complexity: O(1) for a record that nothing refers to or that is pending removal. For
    ///   others the children of at most `searchLimit` records are read.
    package static func step(
        for handle: Handle, in graph: some EvictionGraph, regardlessOfAge: Bool = false,
        searchLimit: Int = searchLimit
    ) throws -> EvictionStep {
        let entry = try graph.entry(handle)
        if entry.flags.contains(.pendingRemoval), !entry.flags.contains(.blocked) {
            return .release(handle)
        }
        if entry.referenceCount == 0 { return .evict([handle], stamp: entry.stamp) }
        guard let cycle = try judge(handle, in: graph, searchLimit: searchLimit) else {
            return .block(handle, externalReferences: [])
        }
        guard !cycle.members.isEmpty else { return .unflag(handle) }
        if !cycle.externalReferences.isEmpty {
            return .block(handle, externalReferences: cycle.externalReferences.sorted())
        }
        if cycle.stamp > entry.stamp, !regardlessOfAge {
            return .relist(handle, stamp: cycle.stamp)
        }
        return .evict(cycle.members.sorted(), stamp: cycle.stamp)
    }

    /// Returns the cycle through a record; nil if more than `searchLimit` records can be reached
    /// from it.
    static func judge(
        _ handle: Handle, in graph: some EvictionGraph, searchLimit: Int
    ) throws -> JudgedCycle? {
        guard let cycle = try Cycle.through(handle, limit: searchLimit, children: graph.children)
        else { return nil }
        var judged = JudgedCycle()
        for (member, references) in cycle.references {
            let entry = try graph.entry(member)
            judged.members.append(member)
            judged.stamp = max(judged.stamp, entry.stamp)
            if entry.referenceCount > references { judged.externalReferences.append(member) }
        }
        return judged
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

/// The records that can be reached from one record and lead back to it.
struct Cycle: Equatable {
    /// The records of the cycle, each with the number of references to it from within the cycle.
    /// Empty if no path leads back to the first record.
    var references: [Handle: UInt64] = [:]

    /// Returns the cycle through `start`; nil if more than `limit` records can be reached from it.
    ///
    /// - Complexity: One call of `children` for each record reached, and no recursion.
    static func through(
        _ start: Handle, limit: Int, children: (Handle) throws -> [Handle]
    ) rethrows -> Cycle? {
        var parents: [Handle: [Handle]] = [start: []]
        var open = [start]
        while let record = open.popLast() {
            for child in try children(record) {
                if parents[child] == nil {
                    guard parents.count < limit else { return nil }
                    open.append(child)
                }
                parents[child, default: []].append(record)
            }
        }
        var cycle = Cycle()
        open = [start]
        // Follows the same references backwards: every record on the way leads to `start`.
        while let record = open.popLast() {
            guard cycle.references[record] == nil, let referring = parents[record],
                !referring.isEmpty
            else { continue }
            cycle.references[record] = UInt64(referring.count)
            open += referring
        }
        return cycle
    }
}
