import EspalierLMDB
import EspalierRecords

/// How far a transaction evicts.
enum EvictionGoal: Equatable {
    /// From above the high watermark down to the low one, see ``PagePlan``.
    case watermark
    /// Until no more than this many pages are in use.
    case pages(Int, Eviction.Reason)

    /// The pages in use at which to stop.
    fileprivate func pages(watermark: Int) -> Int {
        if case .pages(let pages, _) = self { pages } else { watermark }
    }

    var reason: Eviction.Reason {
        switch self {
        case .watermark: .budget
        case .pages(_, let reason): reason
        }
    }
}

/// How far a transaction has evicted.
struct EvictionProgress {
    /// Steps taken, including those that only moved, spared or blocked a record.
    var steps = 0
    /// Steps that removed something.
    var removals = 0
    /// Whether no step could be taken: there were too few free pages, or the reader table was full.
    var couldNotBegin = false
}

/// The eviction of one transaction. It evicts in the order of ``RecencyOrder`` as
/// ``EvictionPolicy`` decides, as long as there are pages for it, and checks that the transaction
/// may be committed.
struct Evictor {
    private let commit: CommitTransaction
    private var budget: PageBudget
    /// The time of a record's last touch, as long as no commit has stored it.
    private let touchTime: (Handle) -> UInt64?
    /// The records that were spared. When one of them comes up again, only such records are left.
    private var spared = SparedRecords()
    /// The numbers of evicted records and bytes.
    private(set) var evicted = EvictionCounts()
    private(set) var progress = EvictionProgress()
    /// Whether more may be left to evict or to remove, and another transaction can continue.
    private(set) var hasMoreToEvict = false
    /// The pages that the transaction has to copy, without its eviction and without packing; nil if
    /// there are so many unused ones that they were not counted.
    private(set) var neededPages: Int?
    /// The pages in use in the end.
    private(set) var usedPages = 0
    /// Whether nothing is left that could be evicted.
    private(set) var isExhausted = false
    /// The pages that removals have freed when they were written, as a share of the estimate.
    private var freedShare = 1.0
    /// Whether the next cycle fits a whole transaction, but not the pages that are left of this
    /// one.
    private var needsNextTransaction = false
    /// How many steps to take until more expired records are moved to the front.
    private var stepsToExpired = 0

    /// Makes the evictor of a transaction whose operations are done.
    ///
    /// - Parameters:
    ///   - mayUseReserve: Whether the operations may use the pages that are reserved for eviction.
    ///   - touchTime: Returns the time at which a read has last touched a record; nil if no touch
    ///     waits to be stored.
    init(
        _ commit: CommitTransaction, _ transaction: borrowing WriteTransaction, mayUseReserve: Bool,
        touchTime: @escaping (Handle) -> UInt64?
    ) throws {
        self.commit = commit
        self.touchTime = touchTime
        budget = try PageBudget(commit, transaction, mayUseReserve: mayUseReserve)
    }

    /// Writes the records and index entries of the operations to their pages. Checks the pages
    /// before it takes any, and afterwards.
    ///
    /// - Throws: ``NoRoom`` if the transaction must not be committed.
    mutating func writeChanges(in transaction: inout WriteTransaction) throws {
        guard let limit = budget.limit, let needed = try budget.check(transaction, packing: false)
        else { return try commit.applyPending(in: &transaction) }
        // Packing may take half of the pages that are left. The eviction that follows gets the
        // other half.
        let packingLimit = (limit - needed) / 2
        try commit.applyPending(in: &transaction, packingLimit: packingLimit)
        let copied = try budget.check(transaction) ?? 0
        neededPages = max(needed, copied - packingLimit)
    }

    /// Evicts towards `goal`, in at most `stepLimit` steps. If `relistingBlocked`, first lists
    /// those blocked records again that it can evict. To be called after `writeChanges`.
    ///
    /// - Throws: ``NoRoom`` if the transaction must not be committed.
    mutating func run(
        towards goal: EvictionGoal, steps stepLimit: Int, relistingBlocked: Bool,
        in transaction: inout WriteTransaction
    ) throws {
        if try isDue(goal, in: transaction) {
            let start = ContinuousClock.now
            // While the reader table is full, pages can't be counted, and nothing is evicted.
            if budget.beginCounting() {
                try evictOldest(
                    towards: goal, steps: stepLimit, relistingBlocked: relistingBlocked,
                    in: &transaction)
                try commit.removeNamesOfUnreadable(in: &transaction)
            } else {
                progress.couldNotBegin = true
            }
            evicted.spent = .now - start
        }
        try commit.applyPending(in: &transaction)
        _ = try budget.check(transaction)
    }

    /// Notes how many pages are in use in the end, with those of `state` and `recency`. The next
    /// transaction goes on if there are more than the watermark allows.
    mutating func finish(using pages: Int) {
        usedPages = pages
        let hasChanged = progress.removals > 0 || commit.changes.writeCount > 0
        if pages > budget.plan.highWatermark, hasChanged, !isExhausted { hasMoreToEvict = true }
    }

    /// Whether there is anything to do. Most commits need not look at the oldest record.
    private func isDue(
        _ goal: EvictionGoal, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        let isAbove =
            try transaction.pages().used > goal.pages(watermark: budget.plan.highWatermark)
        return try isAbove || commit.mayHavePendingRemovals(in: transaction)
    }

    private mutating func evictOldest(
        towards goal: EvictionGoal, steps stepLimit: Int, relistingBlocked: Bool,
        in transaction: inout WriteTransaction
    ) throws {
        let plan = budget.plan
        commit.knownCycles.forgetLarge(
            at: commit.counters.bytesWritten, limit: UInt64(commit.generation.budget.bytes / 16))
        if relistingBlocked { try relistBlocked(atMost: plan.touchLimit, in: transaction) }
        var order = RecencyOrder(commit)
        var isAbove = false
        var start: Int?
        while true {
            let mark = goal.pages(watermark: isAbove ? plan.lowWatermark : plan.highWatermark)
            // A caller that asks for a size gets it nearly exactly.
            let mayOvershoot = goal.reason == .budget
            isAbove = try isUsingMore(than: mark, mayOvershoot, in: &transaction)
            // Pending removals continue regardless of the goal.
            guard try isAbove || isRemovalDue(&order, in: &transaction) else { return }
            var pages = try budget.pagesCopied(in: transaction)
            start = start ?? pages
            // Keeps 8 pages back, because a step may copy a few pages more than the forecast.
            let limit = min(budget.limit ?? .max, (start ?? 0) + plan.evictionLimit) - 8
            if pages >= limit, commit.pendingCount > 0 {
                // Neighbouring records were counted as if each had a page of its own.
                try commit.applyPending(in: &transaction)
                pages = try budget.pagesCopied(in: transaction)
            }
            // A name that only a walk finds may stand on two pages of its own.
            let names = commit.removal.unreadable.count
            guard progress.steps < stepLimit, pages + 2 * names < limit,
                names < plan.touchLimit, !needsNextTransaction
            else {
                // After a write, an eviction in the background has room of its own.
                let isWrite = commit.changes.writeCount > 0
                hasMoreToEvict = progress.steps > spared.count || isAbove && isWrite
                progress.couldNotBegin = isAbove && progress.steps == 0
                return
            }
            // If not even one step has fitted, the next one is as small as possible.
            try commit.limitRemovalBatch(
                toPages: stepLimit == 1 ? 0 : limit - pages, in: transaction)
            if isAbove { try moveExpired(in: transaction) }
            guard let oldest = try next(&order, isAbove: isAbove, in: &transaction),
                try step(oldest, reason: goal.reason, in: &transaction)
            else {
                isExhausted = true
                // This commit lists the records anew whose groups could not be read. The next one
                // can evict them.
                if isAbove && commit.states.hasDamagedRecency { hasMoreToEvict = true }
                return
            }
            progress.steps += 1
        }
    }

    /// Returns whether more pages are in use than a limit.
    ///
    /// Records are removed from their containers together, so that each container is written once.
    /// As long as they are not, the pages that they will free are estimated by their share of all
    /// records. The containers are written as soon as the estimate says that it is enough, and then
    /// the pages are counted.
    private mutating func isUsingMore(
        than limit: Int, _ mayOvershoot: Bool, in transaction: inout WriteTransaction
    ) throws -> Bool {
        let used = try transaction.pages().used
        guard used > limit else { return false }
        guard commit.pendingCount > 0 else { return true }
        let share = Double(try commit.pagesOfPendingRemovals(in: transaction))
        if used - Int(share * freedShare) > limit { return true }
        try commit.applyPending(in: &transaction)
        let left = try transaction.pages().used
        // The first records that leave a container or a group free no page. To wait for more of
        // them spares writing each page many times.
        if mayOvershoot { freedShare = max(0.5, min(1, Double(used - left) / max(1, share))) }
        return left > limit
    }

    /// Returns the entry of the record to be looked at next.
    ///
    /// A pending removal comes first: its record is lost already, so it loses nothing more. But the
    /// children that it releases become roots, which take pages in `state` and `recency`. While
    /// more pages are in use than the goal allows, each child is therefore evicted when it is
    /// released, before it is written to these keyspaces. When half of the pages above the
    /// watermark are in use, records that are older than the removed one are evicted, too: the
    /// removal could otherwise fill the map.
    private func next(
        _ order: inout RecencyOrder, isAbove: Bool, in transaction: inout WriteTransaction
    ) throws -> RecencyEntry? {
        guard let oldest = try order.oldest(in: &transaction) else { return nil }
        guard isAbove, oldest.stamp == .never,
            let root = try order.oldestRoot(in: &transaction)
        else { return oldest }
        let removal = try commit.states.entry(oldest.handle, in: transaction)
        guard removal.released != StateEntry.allReleased else { return oldest }
        let isChild = removal.released > 0 && root.stamp == removal.stamp
        let isNext = try isChild || isScarce(in: transaction) && root.stamp <= removal.stamp
        return isNext ? root : oldest
    }

    /// Whether half of the pages above the watermark are in use. Then other records are evicted
    /// before more children are released, which takes pages: that could fill the map, and no commit
    /// could go on.
    private func isScarce(in transaction: borrowing WriteTransaction) throws -> Bool {
        try transaction.pages().used > (budget.plan.highWatermark + budget.plan.capacity) / 2
    }

    /// Whether the next record is pending removal.
    private func isRemovalDue(
        _ order: inout RecencyOrder, in transaction: inout WriteTransaction
    ) throws -> Bool {
        guard let oldest = try order.oldest(in: &transaction), oldest.stamp == .never else {
            return false
        }
        return try commit.states.entry(oldest.handle, in: transaction).flags.contains(
            .pendingRemoval)
    }

    /// Moves expired records to the front of `recency`, a few at a time, as long as there are any.
    private mutating func moveExpired(in transaction: borrowing WriteTransaction) throws {
        if stepsToExpired > 0 {
            stepsToExpired -= 1
        } else {
            let count = try commit.moveExpired(
                atMost: budget.plan.touchLimit, except: isProtected, in: transaction)
            stepsToExpired = count > 0 ? count - 1 : .max
        }
    }

    /// Whether a record is the oldest because it has expired: reads do not keep it.
    private func isExpired(
        _ entry: RecencyEntry, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        guard entry.stamp == Stamp(1), commit.expiryMark > .none else { return false }
        return try commit.states.entry(entry.handle, in: transaction).isExpiredRoot(
            at: WriteTime(commit.now).rawValue)
    }

    /// Takes the step that the policy decides for the oldest record. Returns false if nothing is
    /// left to evict.
    private mutating func step(
        _ first: RecencyEntry, reason: Eviction.Reason, in transaction: inout WriteTransaction
    ) throws -> Bool {
        let states = commit.states
        let spared = try sparedRecord(before: first, in: transaction)
        let oldest = spared ?? first
        // A record that this transaction has made a root is the rest of a tree already counted.
        let isTree = states.wasListed(oldest.handle)
        let graph = CommitGraph(commit: commit, snapshot: transaction.snapshot)
        let next = try EvictionPolicy.step(
            for: oldest.handle, in: graph, regardlessOfAge: spared != nil,
            searchLimit: commit.searchLimit, known: &commit.knownCycles)
        switch next {
        case .evict(let handles, let stamp):
            if try isSpared(handles, of: oldest, in: transaction) { break }
            try evictOrDetach(
                handles, foundBy: oldest.handle, accessedAt: spared?.stamp ?? stamp,
                reason: reason, isTree: isTree, in: &transaction)
        case .release(let handle):
            try commit.continueRemoval(of: handle, in: &transaction)
            countRemoval()
        case .relist(let handle, let stamp):
            try states.update(handle, in: transaction) { $0.stamp = stamp }
        case .block(let handle, let externalReferences):
            for handle in [handle] + externalReferences {
                try states.update(handle, in: transaction) { $0.block() }
            }
        case .unflag(let handle): try states.update(handle, in: transaction) { $0.unflag() }
        case .detach: return try detach(oldest, reason: reason, in: &transaction)
        }
        return true
    }

    private mutating func countRemoval() {
        progress.removals += 1
        commit.keptByPins.removeAll()
    }

    /// Whether a record has to stay for the write for which there has to be room.
    private func isProtected(_ handle: Handle) -> Bool { touchTime(handle) == .max }

    /// Returns whether records stay because a read has touched one of them since the last commit,
    /// or because they are protected. Moves the oldest one to the back of `recency` then.
    private mutating func isSpared(
        _ handles: [Handle], of oldest: RecencyEntry, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        guard let time = handles.compactMap({ touchTime($0) }).max(),
            try handles.contains(where: isProtected) || !isExpired(oldest, in: transaction),
            spared.insert(oldest.handle, touchedAt: time)
        else { return false }
        commit.keptByPins.removeAll()
        commit.states.tick()
        try commit.states.touch(oldest.handle, in: transaction)
        return true
    }

    /// Returns the entry of the spared record that is to be evicted instead of `first`, because
    /// reads touched it longer ago. Returns nil if `first` was not spared, was touched before all
    /// other spared records, or was returned before.
    ///
    /// Moves the record in front of `first`. When it goes, what it refers to gets the same time,
    /// and comes up next: both were accessed together.
    private mutating func sparedRecord(
        before first: RecencyEntry, in transaction: borrowing WriteTransaction
    ) throws -> RecencyEntry? {
        // Under stamp 0 stands a pending removal, which goes on before anything else.
        guard first.stamp > Stamp(1), spared.isWaiting(first.handle) else { return nil }
        while let handle = spared.takeOldest(), handle != first.handle {
            // A record without a stamp is gone, or is on no cycle any more.
            guard
                let stamp = try commit.states.recencyStamp(of: handle, in: transaction),
                stamp != .never
            else { continue }
            let moved = min(stamp, Stamp(first.stamp.rawValue - 1))
            try commit.states.update(handle, in: transaction) { $0.stamp = moved }
            return RecencyEntry(stamp: moved, handle: handle)
        }
        return nil
    }

    /// Detaches a record on a large cycle from its children. Moves the record to the back of
    /// `recency` instead if a pin keeps what is below it, or if a scan has flagged it and no access
    /// is known.
    ///
    /// - Returns: False if all that is left is kept by pins.
    private mutating func detach(
        _ oldest: RecencyEntry, reason: Eviction.Reason, in transaction: inout WriteTransaction
    ) throws -> Bool {
        let handle = oldest.handle
        if try isSpared([handle], of: oldest, in: transaction) { return true }
        let isKept = try commit.isKept(handle, in: transaction)
        if isKept, !commit.keptByPins.insert(handle).inserted { return false }
        if isKept || oldest.stamp <= Stamp(1) {
            // What was moved without being kept may be evicted when it comes up again.
            if !isKept { commit.keptByPins.removeAll() }
            commit.states.tick()
            try commit.states.touch(handle, in: transaction)
            return true
        }
        try detachChildren(of: handle, reason: reason, in: &transaction)
        return true
    }

    private mutating func detachChildren(
        of handle: Handle, reason: Eviction.Reason, in transaction: inout WriteTransaction
    ) throws {
        let isMoreLeft = try commit.detachChildren(
            of: handle, reason: reason, countingIn: &evicted, in: &transaction)
        if !isMoreLeft { commit.knownCycles.noteDetachment(of: handle) }
        countRemoval()
    }
}

extension Evictor {
    /// Evicts a root or the records of a cycle. If a cycle has too many for any transaction,
    /// detaches the listed record from its children: the others are roots then, or on smaller
    /// cycles.
    ///
    /// - Parameter found: The record that `recency` lists.
    private mutating func evictOrDetach(
        _ handles: [Handle], foundBy found: Handle, accessedAt stamp: Stamp,
        reason: Eviction.Reason, isTree: Bool, in transaction: inout WriteTransaction
    ) throws {
        if handles.count > commit.removal.batch {
            // A transaction of its own has more pages than one that begins with a write.
            let isFirst = progress.steps == 0 && commit.changes.writeCount == 0
            if handles.count <= RemovalProgress.largestBatch, !isFirst {
                needsNextTransaction = true
                return
            }
            try commit.states.update(found, in: transaction) { $0.stamp = stamp }
            try detachChildren(of: found, reason: reason, in: &transaction)
            return
        }
        try commit.evictTogether(
            handles, accessedAt: commit.lastAccess(of: found, stamp), childrenAccessedAt: stamp,
            reason: reason, countingIn: &evicted, in: &transaction)
        countRemoval()
        if isTree { evicted.addTree() }
    }

    /// Lists blocked records again unless external references keep their cycles. Called when
    /// nothing else is left: a detachment may have split a cycle, and removed the record that was
    /// to list the cycle again. The scan for cycles finds such records, too.
    ///
    /// - Complexity: Reads the keyspace `state`, and what can be reached from blocked records.
    private func relistBlocked(
        atMost limit: Int, in transaction: borrowing WriteTransaction
    ) throws {
        let graph = CommitGraph(commit: commit, snapshot: transaction.snapshot)
        var count = 0
        // The records of blocked cycles that were judged already.
        var kept: Set<Handle> = []
        for handle in try blockedHandles(in: transaction) where !kept.contains(handle) {
            let cycle = try EvictionPolicy.judge(
                handle, in: graph, searchLimit: commit.searchLimit, known: &commit.knownCycles)
            if let cycle, !cycle.externalReferences.isEmpty {
                kept.formUnion(cycle.members)
                continue
            }
            try commit.states.unblockCycle(at: handle, in: transaction)
            commit.keptByPins.removeAll()
            count += 1
            if count == limit { return }
        }
    }

    /// Returns the records that are on a cycle and blocked.
    private func blockedHandles(in transaction: borrowing WriteTransaction) throws -> [Handle] {
        var handles: [Handle] = []
        let snapshot = transaction.snapshot
        for handle in try commit.states.storedHandles(in: snapshot) {
            let state = try commit.states.entry(handle, in: snapshot)
            if state.isBlockedCycle { handles.append(handle) }
        }
        return handles
    }
}

/// The cache as a transaction is changing it.
private struct CommitGraph: EvictionGraph {
    let commit: CommitTransaction
    let snapshot: Snapshot
    func entry(_ handle: Handle) throws -> StateEntry {
        try commit.states.entry(handle, in: snapshot)
    }

    func children(_ handle: Handle) throws -> [Handle] {
        // A record that is pending removal releases its children in steps of its own.
        let flags = try commit.states.entry(handle, in: snapshot).flags
        guard !flags.contains(.pendingRemoval) else { return [] }
        return try commit.readableRecord(handle)?.children ?? []
    }
}

// Eviction removes records to which nothing outside refers, and hands the time of their last access
// on to their children.
extension CommitTransaction {
    /// Evicts the record of a name, whatever its age.
    ///
    /// - Parameter keepsTime: Whether its children count as accessed when the record was. If not,
    ///   they count as accessed now, as after a write of the record.
    /// - Throws: ``CacheError/Code/referenced`` if the record is pinned or another record refers to
    ///   it.
    func evictNamed(
        _ name: RecordName, keepsTime: Bool,
        countingIn evicted: inout EvictionCounts, in transaction: inout WriteTransaction
    ) throws {
        let (nameSpace, identifier) = (name.nameSpace, name.identifier.string)
        guard let handle = try index.handle(of: identifier, in: nameSpace, transaction) else {
            return
        }
        if let record = try readableRecord(handle),
            !record.isNamed(identifier, in: nameSpace)
        {
            return
        }
        states.stampUnreferenced()
        let graph = CommitGraph(commit: self, snapshot: transaction.snapshot)
        var known = KnownCycles()
        guard
            case .evict(let handles, let lastAccess) = try EvictionPolicy.step(
                for: handle, in: graph, regardlessOfAge: true, known: &known)
        else { throw CacheError.referenced }
        let before = evicted.records
        try evictTogether(
            handles, accessedAt: self.lastAccess(of: handle, lastAccess),
            childrenAccessedAt: keepsTime ? lastAccess : nil,
            reason: .explicit, countingIn: &evicted, in: &transaction)
        try removeNamesOfUnreadable(in: &transaction)
        if evicted.records > before { evicted.addTree() }
    }

    /// Returns when a record was last accessed, which has the stamp `stamp`; `.never` if that is
    /// not known, because the record has expired and an earlier commit has moved it to the front.
    fileprivate func lastAccess(of handle: Handle, _ stamp: Stamp) -> Stamp {
        guard stamp == Stamp(1), expiryMark > .none else { return stamp }
        return lastAccesses[handle] ?? .never
    }

    /// Evicts a root, or the records of a cycle that nothing else refers to.
    ///
    /// - Parameters:
    ///   - lastAccess: The time of their last access, for events and statistics.
    ///   - stamp: When their children count as accessed; nil for now.
    fileprivate func evictTogether(
        _ handles: [Handle], accessedAt lastAccess: Stamp, childrenAccessedAt stamp: Stamp?,
        reason: Eviction.Reason, countingIn evicted: inout EvictionCounts,
        in transaction: inout WriteTransaction
    ) throws {
        var victim = Victim(stamp: lastAccess, reason: reason)
        let members = Set(handles)
        let isLargeCycle = try handles.count > 1 && !fitsOneStep(handles)
        for handle in handles {
            guard let record = try readableRecord(handle) else {
                try evictUnreadable(handle, in: &transaction)
                continue
            }
            victim.add(record)
            if isLargeCycle || handles.count == 1 && isLarge(record) {
                try scheduleRemoval(
                    record, accessedAt: stamp ?? states.stamp, in: &transaction)
                continue
            }
            for child in record.children where !members.contains(child) {
                if let stamp {
                    try states.release(child, evictedAt: stamp, in: transaction)
                } else {
                    try states.release(child, in: transaction)
                }
            }
            try erase(record, in: &transaction)
            try states.forget(handle, in: transaction)
        }
        guard !victim.names.isEmpty else { return }
        changes.add(victim)
        evicted.add(
            records: victim.names.count, bytes: victim.bytes, accessedAt: lastAccess,
            isGroup: handles.count > 1)
    }

    /// Evicts a record that can't be read, and notes that its name has to go: the caller calls
    /// `removeNamesOfUnreadable` in the end.
    private func evictUnreadable(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        try discardUnreadable(handle, in: &transaction)
        removal.unreadable.insert(handle)
        try states.forget(handle, in: transaction)
    }

    /// Removes the names of evicted records that could not be read. Only a walk of the index finds
    /// them, so there is one for all.
    fileprivate func removeNamesOfUnreadable(in transaction: inout WriteTransaction) throws {
        guard !removal.unreadable.isEmpty else { return }
        try index.removeEntries(leadingTo: removal.unreadable, in: &transaction)
        removal.unreadable = []
    }

    /// Estimates the pages that pending removals will free. Records that are still in their
    /// containers, and names that are still in their groups, count by their share of all.
    fileprivate func pagesOfPendingRemovals(
        in transaction: borrowing WriteTransaction
    ) throws -> Int {
        let containers = try transaction.statistics(of: keyspaces.nodes).overflowPages
        let groups = try transaction.statistics(of: keyspaces.index).overflowPages
        let counters = counters
        let names = counters.nodes + counters.keys + counters.collections
        let records = records.removedBytes * containers / max(1, Int(counters.recordBytes))
        return records + index.pendingCount * groups / max(1, Int(names))
    }

    /// Adds the evicted records to the lifetime counters of the cache.
    func count(_ evicted: EvictionCounts, for reason: Eviction.Reason) {
        lifetime.add(
            evicted, for: reason,
            ages: lifetime.timeline.ages(of: evicted, at: Timeline.second(of: now)))
    }
}
