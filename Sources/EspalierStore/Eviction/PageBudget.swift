import EspalierLMDB
import EspalierRecords

/// How the pages of a cache's map are divided between records, copies, and eviction.
///
///     0                                       highWatermark   capacity - reserve   capacity
///     | records, index, state ........................ | copies ... | eviction alone ..|
///
/// LMDB never writes a page in place: a commit needs a free page for each page that it changes, and
/// the pages that it frees can be reused two commits later. So the pages of one transaction have to
/// be free at any time; where those of the last one are not free yet, an empty commit makes them
/// so. What a transaction changes grows more slowly than the cache, about as its square root. So
/// 80 % of a cache of 1 MiB are filled, 86 % at 1.5 MiB, 95 % at 8 MiB and 98 % at 50 MiB.
package struct PagePlan: Sendable, Equatable {
    /// The pages that can be allocated at all.
    package let capacity: Int

    package init(capacity: Int) { self.capacity = capacity }

    /// Above this many pages in use, commits begin to evict.
    ///
    /// The numbers were found by trying, not derived: with them LMDB never ran out of pages in the
    /// streams of `docs/decisions/0034-filling-the-budget.md`, which also says what commits copy.
    /// Of a large map, 1.9 % are more than 14 pages and twice its root.
    package var highWatermark: Int {
        let root = Double(capacity).squareRoot()
        return capacity - max(14 + Int(2 * root), min(capacity * 19 / 1_000, 6_000))
    }

    /// The pages in use at which a commit stops evicting.
    var lowWatermark: Int { highWatermark - max(2, min(capacity / 1_024, 64)) }

    /// The pages that a write must leave allocatable: enough for an eviction of its own, which
    /// copies a path of each keyspace.
    var reserve: Int { min(max(capacity / 128, 20), 96) }

    /// Makes sure that the file has 24 to 96 pages beyond the last used one, with which eviction
    /// goes on when the disk is full.
    ///
    /// - Throws: `LMDBError` with `diskFull`. After other errors the transaction can go on.
    func reserveFile(
        of generation: Generation, lastPage: Int, in transaction: borrowing WriteTransaction
    ) throws {
        do throws(LMDBError) {
            try generation.environment.reserveFile(
                pages: min(reserve, 24 + lastPage / 8), in: transaction)
        } catch  where error.code == .diskFull {
            throw error
        } catch {}
    }

    /// The pages that can be free for one write, if everything else is evicted.
    var mostPages: Int { capacity - Self.keptPages - reserve }

    /// What no eviction frees, rounded up: a page for each of the 11 keyspaces, two for the tables
    /// of LMDB, and four for shapes, dictionaries and lists of free pages. A cache that was emptied
    /// record by record has some five pages in use.
    private static let keptPages = 17

    /// The pages that one transaction may copy for eviction. LMDB writes the pages that a commit
    /// frees as one list, and a list of more than 509 needs free pages in a row.
    var evictionLimit: Int { min(max(capacity / 4, 48), 400) }

    /// The most touches, or flags, that one commit applies: each may change a page of its own.
    var touchLimit: Int { evictionLimit / 4 }

    /// The bytes of records that are committed together, at most. A single write may be larger.
    var groupBytes: Int { min(max(capacity * 16, 16 << 10), 1 << 20) }

    /// The pages that the writes of one transaction may copy together. They have to be free before
    /// it, so large groups would keep a small cache half empty.
    private var groupPages: Int { max(24, capacity / 16) }

    /// The writes of the first transaction of a process.
    static let firstGroupCount = 8

    /// Returns how many writes the next transaction may have.
    ///
    /// - Parameters:
    ///   - count: The writes of the last one.
    ///   - pages: The pages that it had to copy; nil if they were not counted, because the file has
    ///     never been full.
    ///   - used: The pages in use after it.
    func groupCount(after count: Int, copying pages: Int?, of used: Int) -> Int {
        guard let pages, used > capacity / 4 else { return WriterThread.groupLimit }
        // Every transaction copies some pages besides those of its writes.
        let writePages = max(1, pages - CopiedPages.overhead)
        let count = max(1, (groupPages - CopiedPages.overhead) * count / writePages)
        return min(count, WriterThread.groupLimit)
    }
}

/// Thrown when a transaction would copy more pages than it may. It must be aborted.
struct NoRoom: Error {
    /// The pages that the transaction would copy.
    let pages: Int
}

/// The pages that one transaction may copy, and those that it copies so far.
struct PageBudget {
    let plan: PagePlan
    /// The pages that the transaction may copy; nil if the map has so many unused pages that there
    /// is no need to count.
    let limit: Int?
    private let commit: CommitTransaction
    private var base: BaseSnapshot?
    private var copied: CopiedPages?

    /// Makes the budget of a transaction whose operations are done.
    ///
    /// - Parameter mayUseReserve: Whether they may use the pages that are reserved for eviction.
    init(
        _ commit: CommitTransaction, _ transaction: borrowing WriteTransaction, mayUseReserve: Bool
    ) throws {
        self.commit = commit
        let pages = try transaction.pages()
        plan = PagePlan(capacity: pages.capacity)
        // Most caches are not full and need no count.
        let ample = CopiedPages.upperBound(for: commit) + plan.reserve + 2 * plan.evictionLimit
        guard pages.neverAllocated < ample else {
            limit = nil
            return
        }
        let base = try BaseSnapshot(commit.generation.environment)
        self.base = base
        let allocatable = try base.freePages().allocatable
        limit = mayUseReserve ? allocatable : allocatable - plan.reserve
    }

    /// Opens the snapshot that pages are counted against, unless it is open already. Returns false
    /// if it can't be opened, because the reader table is full.
    mutating func beginCounting() -> Bool {
        base = base ?? (try? BaseSnapshot(commit.generation.environment))
        return base != nil
    }

    /// Returns how many pages the transaction would copy if it was committed now.
    ///
    /// - Parameter packing: Whether to count the pages that packing may take.
    mutating func pagesCopied(
        in transaction: borrowing WriteTransaction, packing: Bool = true
    ) throws -> Int {
        guard let base else { return CopiedPages.upperBound(for: commit) }
        if copied == nil { copied = try CopiedPages(base.snapshot, commit.keyspaces) }
        try copied?.addEdits(of: commit)
        return try copied?.count(in: transaction, packing: packing) ?? 0
    }

    /// Checks that the transaction may be committed. Returns the pages that it would copy; nil if
    /// there is no need to count them.
    ///
    /// - Throws: ``NoRoom`` if it would copy more pages than it may.
    mutating func check(
        _ transaction: borrowing WriteTransaction, packing: Bool = true
    ) throws -> Int? {
        guard let limit else { return nil }
        let pages = try pagesCopied(in: transaction, packing: packing)
        if pages > limit { throw NoRoom(pages: pages) }
        return pages
    }
}

/// A forecast of the pages that a commit copies or newly uses. It is needed because LMDB does not
/// tell the number before the commit, which fails if pages run out.
///
/// Edits of existing entries are counted exactly, by the pages they stand on in the snapshot that
/// the transaction began with. New entries are counted by their bytes. A group of `state` or of
/// `recency` that takes in the next one may change a second page: a quarter of their pages is added
/// for that and for splits. A little is added for what LMDB writes by itself: branches, splits, the
/// free list.
struct CopiedPages {
    private let nodes: LeafPages
    private let index: LeafPages
    private let state: LeafPages
    private let recency: LeafPages
    private let keyspaces: Keyspaces
    /// Finds the containers of records that were removed, and are still in them.
    private let containers: RangeReader
    /// Finds the groups of states.
    private let groups: RangeReader
    /// The keys of the containers of pending records, and how many entries of which
    /// `RecordTable.pendingReplacements` list have been added.
    private var pendingContainers: Set<UInt64> = []
    private var countedPending = (count: 0, applyCount: 0)
    /// How many of the commit's edits are counted already.
    private var counted = (nodes: 0, index: 0, states: 0)
    private var newPages = 0

    /// The pages of a commit besides its leaves: the counters, LMDB's own lists, new roots.
    fileprivate static let overhead = 10
    /// Packing may write so many pages in each commit beyond those of the changed containers.
    static let firstPackingPages = 6
    /// Packing may write so many pages more for each changed container.
    static let packingPagesOfContainer = 2
    /// An entry of `recency` takes about 5 bytes, and one of `state` about 4. Groups are half full
    /// after they were split.
    private static let newEntriesOfPage = 200
    /// The entries of a record that is written by itself: one of `state` takes up to 12 bytes.
    private static let newRootsOfPage = 100

    /// `base` is the snapshot that the commit's transaction began with.
    init(_ base: Snapshot, _ keyspaces: Keyspaces) throws {
        nodes = try LeafPages(base, keyspaces.nodes)
        index = try LeafPages(base, keyspaces.index)
        state = try LeafPages(base, keyspaces.state)
        recency = try LeafPages(base, keyspaces.recency)
        containers = try RangeReader(base, keyspaces.nodes)
        groups = try RangeReader(base, keyspaces.state)
        self.keyspaces = keyspaces
    }

    /// Returns an upper estimate of the pages that `commit` copies, whatever pages its edits stand
    /// on. If that many are free, no exact count is needed.
    static func upperBound(for commit: CommitTransaction) -> Int {
        let edits =
            commit.records.editedCount + commit.index.edited.count + 2 * commit.states.edited.count
        return overhead + 5 + 2 * edits + commit.records.newPages + commit.index.newPages
            + commit.states.newRootCount / newRootsOfPage
            + commit.ring.pages(for: commit.changes)
    }

    /// Adds what the commit has edited since the last call.
    mutating func addEdits(of commit: CommitTransaction) throws {
        for key in commit.records.edited[counted.nodes...] { try nodes.note(key) }
        for key in commit.index.edited[counted.index...] { try index.note(key) }
        for edit in commit.states.edited[counted.states...] {
            let group = try groups.withValue(around: edit.handle.rawValue) { key, _ in key }
            try state.note(group ?? edit.handle.rawValue)
            if let stamp = edit.recencyStamp {
                let entry = RecencyEntry(stamp: stamp, handle: edit.handle)
                try recency.note(rangeOf: entry.key)
            }
        }
        counted = (
            commit.records.edited.count, commit.index.edited.count, commit.states.edited.count
        )
        try addPending(of: commit)
        newPages =
            2 * pendingContainers.count + commit.records.newPages + commit.index.newPages
            + counted.states / Self.newEntriesOfPage + (state.count + recency.count + 3) / 4
            + commit.states.newRootCount / Self.newRootsOfPage
            + commit.ring.pages(for: commit.changes)
    }

    /// The pages that packing may add. Each pending container is counted with two already: its own,
    /// and one for what no longer fits.
    private var packingAllowance: Int {
        pendingContainers.isEmpty
            ? 0
            : Self.firstPackingPages
                + (Self.packingPagesOfContainer - 1) * pendingContainers.count
    }

    /// Adds the containers of records that are not changed in their containers yet.
    private mutating func addPending(of commit: CommitTransaction) throws {
        let (handles, applyCount) = commit.records.pendingReplacements
        if applyCount != countedPending.applyCount {
            pendingContainers.removeAll(keepingCapacity: true)
            countedPending = (0, applyCount)
        }
        for handle in handles[countedPending.count...] {
            let key = try containers.withValue(around: handle.rawValue) { key, _ in key }
            if let key, pendingContainers.insert(key).inserted { try nodes.note(key) }
        }
        countedPending.count = handles.count
    }

    /// Returns the number of pages for the edits added so far.
    ///
    /// - Parameter packing: Whether to count the pages that packing may take.
    func count(in transaction: borrowing WriteTransaction, packing: Bool) throws -> Int {
        var count = Self.overhead + newPages + (packing ? packingAllowance : 0)
        for (leaves, keyspace) in [
            (nodes.count, keyspaces.nodes), (index.count, keyspaces.index),
            (state.count, keyspaces.state), (recency.count, keyspaces.recency),
        ] {
            let branches = try transaction.statistics(of: keyspace).branchPages
            count += leaves + min(branches, leaves)
        }
        return count + count / 400
    }
}

/// A read transaction that stays open as long as the object: the snapshot before a write.
private final class BaseSnapshot {
    // immutable
    private let transaction: ReadTransaction
    private let environment: Environment

    init(_ environment: Environment) throws {
        self.environment = environment
        transaction = try environment.beginRead()
    }

    var snapshot: Snapshot { transaction.snapshot }

    func freePages() throws -> FreePages {
        try transaction.freePages(oldestReader: try environment.oldestReader)
    }
}
