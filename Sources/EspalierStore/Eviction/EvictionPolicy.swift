package import EspalierRecords

// # Eviction
//
// The files of this folder, in the order to read them:
//
// - EvictionPolicy: the states of a record, and which record is evicted next.
// - RecencyOrder: the order in which a transaction looks at records.
// - Evictor: evicts in one transaction, and removes records.
// - PendingRemoval: the removal of large records, in steps.
// - PageBudget: the pages that a transaction may copy, and a forecast of those that it copies.
// - ExpiredRecords: moves expired roots to the front of `recency`, so that they are evicted first.
// - AccessLog: the accesses that no commit has stored yet.
// - RoomMaker: makes room for a transaction that needs more pages than there are.
// - CycleSearch: finds cycles, and the records of one.
// - CycleCollection: flags the cycles that writes have closed, and scans for the others.
// - LargeCycle: detaches records from their children where a cycle is too large to be evicted as
//   one.
//
// # The states of a record
//
// A record's state follows from its `StateEntry` in a group of the keyspace `state`, or from the
// default, and from whether its bytes (`nodes`) and its name (`index`) are there. `recency` lists
// only the records that the evictor has to look at, in the order of their stamps. The evictor takes
// them from the front, where the lowest stamps are.
//
//     state             references  flags                  bytes  name   in `recency`
//     referenced        1 or more   none                   yes    yes    no
//     root              0           none, or onCycle       yes    yes    under its stamp
//     on a cycle        1 or more   onCycle                yes    yes    under its stamp
//     blocked           1 or more   onCycle, blocked       yes    yes    no
//     pending removal   any number  pendingRemoval         some   no     first, under stamp 0
//     tombstone         1 or more   tombstone              no     no     no
//     lost              any number  lost                   no     yes    if it has no references
//     stub              1 or more   lost,nameless,blocked  no     no     no
//     gone              0           no state               no     no     no
//
// A pin is a reference that no record holds. A record that is pending removal and still referred to
// also has the flag tombstone, or becomes a stub. A lost record without a name also has the flag
// nameless.
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
// A record on a cycle that is too large to be evicted as one is detached from its children instead:
// its references are replaced by references to a stub, which is a lost record. The detached record
// is referenced from then on.

/// The part of the cache that ``EvictionPolicy`` reads. It reads no more than it needs to decide.
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
    /// Its cycle is too large to be evicted as one, or to be searched: detach the record from its
    /// children.
    case detach(Handle)
}

/// Decides which record is evicted next: exact subtree LRU, from counts and stamps alone.
///
/// A read counts as an access to every record that it can reach, but touches only its entry record:
/// a removed reference hands its stamp on to what it leads to. All records of a cycle therefore
/// count as accessed together, and with each cycle taken as one record, the cache is an acyclic
/// graph. Only roots, and cycles without a reference from outside, can be evicted without breaking
/// a tree. The policy evicts the one of them that was accessed longest ago. Its own stamp is exact,
/// because a removed reference hands its stamp on: every record counts as accessed at least as
/// recently as the records that refer to it.
///
/// Cycles of more than 1,024 records are an exception. People who are friends of each other, or
/// pins, boards and users, make one cycle of nearly all records, and to evict it would empty the
/// cache. The flagged record of such a cycle that was accessed longest ago is detached from its
/// children, whatever records refer to it. It keeps its values and loses its references, so trees
/// that need only its values stay whole. The same holds for a flagged record that leads to such a
/// cycle, or to more records than a search looks at. Once a record was detached in a cache, reads
/// touch the flagged records whose references they follow.
///
/// Finding cycles by searching what a record refers to follows trial deletion (Bacon, Rajan:
/// Concurrent Cycle Collection in Reference Counted Systems, 2001), with flags instead of a buffer
/// of suspects.
package enum EvictionPolicy {
    /// The most records searched to judge one cycle, as long as no record was detached.
    static let searchLimit = 1 << 15
    /// The same, in a cache in which records were detached. Their reads touch what they need, so a
    /// record that is detached without a search to the end is still the one used longest ago.
    static let searchLimitOnceDetached = 1 << 9
    /// The most records of a cycle that is evicted as one.
    package static let memberLimit = 1 << 10

    /// Returns the most records searched to judge one cycle, by whether any record of the cache was
    /// detached.
    package static func searchLimit(hasDetached: Bool) -> Int {
        hasDetached ? searchLimitOnceDetached : searchLimit
    }

    /// Returns what to do with the record of `handle`.
    ///
    /// - Parameters:
    ///   - regardlessOfAge: Whether the record is to go for its own sake, and not because it stands
    ///     first in `recency`. It is not moved to a later time then.
    ///   - searchLimit: Records searched to judge its cycle.
    ///   - memberLimit: The most records of a cycle that is evicted as one.
    ///   - known: What earlier searches have found. The search stops at what is known, and adds
    ///     what it finds.
    /// - Throws: What `graph` throws.
    /// - Complexity: O(1) for a record that nothing refers to or that is pending removal. For
    ///   others the children of at most `searchLimit` records are read.
    package static func step(
        for handle: Handle, in graph: some EvictionGraph, regardlessOfAge: Bool = false,
        searchLimit: Int = searchLimit, memberLimit: Int = memberLimit,
        known: inout KnownCycles
    ) throws -> EvictionStep {
        let entry = try graph.entry(handle)
        if entry.flags.contains(.pendingRemoval) { return .release(handle) }
        if entry.referenceCount == 0 { return .evict([handle], stamp: entry.stamp) }
        let judgement = try judge(
            handle, in: graph, searchLimit: searchLimit, memberLimit: memberLimit, known: &known)
        guard let cycle = judgement else { return .detach(handle) }
        guard !cycle.members.isEmpty else { return .unflag(handle) }
        if !cycle.externalReferences.isEmpty {
            return .block(handle, externalReferences: cycle.externalReferences.sorted())
        }
        if cycle.stamp > entry.stamp, !regardlessOfAge {
            return .relist(handle, stamp: cycle.stamp)
        }
        return .evict(cycle.members.sorted(), stamp: cycle.stamp)
    }

    /// Judges the cycle through a record. Returns nil if the cycle is too large to be evicted as
    /// one, or if the record leads to such a cycle or to more records than `searchLimit`.
    static func judge(
        _ handle: Handle, in graph: some EvictionGraph, searchLimit: Int = searchLimit,
        memberLimit: Int = memberLimit, known: inout KnownCycles
    ) throws -> JudgedCycle? {
        if known.large.contains(handle) { return nil }
        if known.acyclic.contains(handle) { return JudgedCycle() }
        var search = CycleSearch(from: handle, memberLimit: memberLimit)
        guard try search.run(limit: searchLimit, known: known, children: graph.children) else {
            known.addLarge(search.members.union([handle]))
            return nil
        }
        known.addAcyclic(search)
        var judged = JudgedCycle()
        for member in search.members {
            let entry = try graph.entry(member)
            judged.members.append(member)
            judged.stamp = max(judged.stamp, entry.stamp)
            if entry.referenceCount > search.references(to: member) {
                judged.externalReferences.append(member)
            }
        }
        return judged
    }
}
