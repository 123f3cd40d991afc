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
// - ExpiredRecords: moves expired roots to the front of `recency`, so that they are evicted first.
// - AccessLog: the accesses that no commit has stored yet.
// - RoomMaker: makes room for a transaction that needs more pages than there are.
// - CycleCollection: the scan that finds unflagged cycles.
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
    /// Its cycle is too large to be evicted as one, or to be searched: detach the record from its
    /// children.
    case detach(Handle)
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
/// cache. The flagged record of such a cycle that was accessed longest ago is detached from its
/// children, whatever records refer to it. It keeps its values and loses its references, so trees
/// that need only its values stay whole. The same holds for a flagged record that leads to such a
/// cycle, or to more records than a search looks at. Once a record was detached in a cache, reads
/// touch the flagged records whose references they follow.
///
/// Finding cycles by searching what a record refers to follows trial deletion (Bacon, Rajan:
/// Concurrent Cycle Collection in Reference Counted Systems, 2001), with flags instead of a buffer
/// of suspects.
package enum EvictionRule {
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
