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
// - LargeCycle: cuts references where a cycle is too large to be evicted as one.
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
//     tombstone         1 or more   tombstone              no     no     no
//     lost              any number  lost                   no     yes    if it has no references
//     cut               1 or more   lost,nameless,blocked  no     no     no
//     gone              0           no state               no     no     no
//
// A pin is a reference that no record holds. A record that is pending removal and still referred to
// also has the flag tombstone, or becomes a cut one. A lost record without a name also has the flag
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
// A record on a cycle that is too large to be evicted as one loses its references instead. They are
// replaced by references to a lost record, and the record is referenced from then on.

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
    /// Its cycle is too large to be evicted as one: cut the references of the record. `members` are
    /// records of the cycle, as many as the search has found.
    case cut(Handle, members: Set<Handle>)
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
/// Cycles of more than 1,024 records are an exception. People who are friends of each other, or
/// pins, boards and users, make one cycle of nearly all records, and to evict it would empty the
/// cache. Such a cycle is cut at the flagged record that was accessed longest ago, whatever records
/// refer to it. That record keeps its values and loses its references, so trees that need only its
/// values stay whole. Once references were cut in a cache, reads touch the flagged records whose
/// references they follow.
///
/// Finding cycles by searching what a record refers to follows trial deletion (Bacon, Rajan:
/// Concurrent Cycle Collection in Reference Counted Systems, 2001), with flags instead of a buffer
/// of suspects.
package enum EvictionRule {
    /// The most records searched to judge one cycle. If more can be reached, a record that the
    /// search has found to be on a cycle is cut. Any other is blocked, until a reference to it goes
    /// or `Evictor` judges all blocked cycles.
    package static let searchLimit = 1 << 15
    /// The most records of a cycle that is evicted as one.
    package static let memberLimit = 1 << 10

    /// Returns what to do with the record of `handle`.
    ///
    /// - Parameters:
    ///   - regardlessOfAge: Whether the record is to go for its own sake, and not because it stands
    ///     first in `recency`. It is not moved to a later time then.
    ///   - searchLimit: Records searched to judge its cycle.
    ///   - memberLimit: The most records of a cycle that is evicted as one.
    /// - Throws: What `graph` throws.
    /// - Complexity: O(1) for a record that nothing refers to or that is pending removal. For
    ///   others the children of at most `searchLimit` records are read.
    package static func step(
        for handle: Handle, in graph: some EvictionGraph, regardlessOfAge: Bool = false,
        searchLimit: Int = searchLimit, memberLimit: Int = memberLimit
    ) throws -> EvictionStep {
        let entry = try graph.entry(handle)
        if entry.flags.contains(.pendingRemoval) { return .release(handle) }
        if entry.referenceCount == 0 { return .evict([handle], stamp: entry.stamp) }
        let cycle: JudgedCycle
        switch try judge(handle, in: graph, searchLimit: searchLimit, memberLimit: memberLimit) {
        case .unknown: return .block(handle, externalReferences: [])
        case .large(let members): return .cut(handle, members: members)
        case .whole(let whole): cycle = whole
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

    /// What a search tells of the cycle through a record.
    enum Judgement {
        /// The cycle. It has no members if the record is on none.
        case whole(JudgedCycle)
        /// The cycle is too large to be evicted as one. These are some of its records.
        case large(Set<Handle>)
        /// More records can be reached than the search looked at, and none of those that it looked
        /// at leads back.
        case unknown
    }

    /// Judges the cycle through a record.
    static func judge(
        _ handle: Handle, in graph: some EvictionGraph, searchLimit: Int,
        memberLimit: Int = memberLimit
    ) throws -> Judgement {
        var search = CycleSearch(from: handle, memberLimit: memberLimit)
        guard try search.run(limit: searchLimit, children: graph.children) else {
            return search.members.isEmpty ? .unknown : .large(search.members)
        }
        guard search.members.count <= memberLimit else { return .large(search.members) }
        var judged = JudgedCycle()
        for member in search.members {
            let entry = try graph.entry(member)
            judged.members.append(member)
            judged.stamp = max(judged.stamp, entry.stamp)
            if entry.referenceCount > search.references(to: member) {
                judged.externalReferences.append(member)
            }
        }
        return .whole(judged)
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
    /// The records reached so far, each with those that refer to it, as often as they do.
    private var parents: [Handle: [Handle]]
    private let start: Handle
    private let memberLimit: Int
    /// The records reached that are known to lead back to the first one.
    private(set) var members: Set<Handle> = []

    init(from start: Handle, memberLimit: Int = .max) {
        self.start = start
        self.memberLimit = memberLimit
        parents = [start: []]
    }

    /// Searches until everything that can be reached was seen, or the cycle is known to have more
    /// than `memberLimit` records. Returns false if more than `limit` records can be reached.
    ///
    /// - Complexity: One call of `children` for each record reached, and no recursion.
    mutating func run(limit: Int, children: (Handle) throws -> [Handle]) rethrows -> Bool {
        var open = [start]
        while let record = open.popLast() {
            for child in try children(record) {
                if parents[child] == nil {
                    guard parents.count < limit else { return false }
                    open.append(child)
                }
                parents[child, default: []].append(record)
                if child == start || members.contains(child) { addMembers(leadingTo: record) }
            }
            guard members.count <= memberLimit else { return true }
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
}
