import EspalierLMDB
import EspalierRecords

/// How far a transaction evicts.
enum EvictionGoal: Equatable {
    /// Until the pages in use are below the watermark.
    case watermark
    /// Until no more than this many pages are in use.
    case pages(Int, Eviction.Reason)

    var reason: Eviction.Reason {
        switch self {
        case .watermark: .budget
        case .pages(_, let reason): reason
        }
    }
}

/// The eviction of one transaction. It evicts in the order of ``RecencyOrder`` as ``EvictionRule``
/// decides, as long as there are pages for it, and checks that the transaction may be committed.
struct Evictor {
    private let commit: CommitTransaction
    private var budget: PageBudget
    /// Whether a read has touched a record since the last commit.
    private let isTouched: (Handle) -> Bool
    /// Records that were moved to the young end because a read has touched them. Each is spared
    /// once per transaction: when it comes up again, no older record is left.
    private var spared: Set<Handle> = []
    /// The numbers of evicted records and bytes.
    private(set) var evicted = EvictionCounts()
    /// Steps taken, including those that only spared a record.
    private(set) var steps = 0
    /// Whether more may be left to evict or to remove, and another transaction can continue.
    private(set) var isBehind = false
    /// Whether nothing is left that could be evicted.
    private(set) var isExhausted = false

    /// Makes the evictor of a transaction whose operations are done.
    ///
    /// - Parameters:
    ///   - makesRoom: Whether the operations may use the pages that are reserved for eviction.
    ///   - isTouched: Returns whether a read has touched a record and no commit has stored that.
    init(
        _ commit: CommitTransaction, _ transaction: borrowing WriteTransaction, makesRoom: Bool,
        isTouched: @escaping (Handle) -> Bool
    ) throws {
        self.commit = commit
        self.isTouched = isTouched
        budget = try PageBudget(commit, transaction, makesRoom: makesRoom)
    }

    /// Evicts towards `goal`, in at most `stepLimit` steps.
    ///
    /// - Throws: ``NoRoom`` if the transaction must not be committed.
    mutating func run(
        towards goal: EvictionGoal, steps stepLimit: Int = .max,
        in transaction: inout WriteTransaction
    ) throws {
        if try isDue(goal, in: transaction) {
            let start = ContinuousClock.now
            // While the reader table is full, pages can't be counted, and nothing is evicted.
            if budget.beginCounting() {
                try evict(towards: goal, steps: stepLimit, in: &transaction)
            }
            evicted.spent = .now - start
        }
        try budget.check(transaction)
    }

    /// Whether there is anything to do. Most commits need not look at the oldest record.
    private func isDue(
        _ goal: EvictionGoal, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        let used = try transaction.pages().used
        let isAbove =
            switch goal {
            case .watermark: used > budget.plan.high
            case .pages(let pages, _): used > pages
            }
        return try isAbove || commit.mayHavePendingRemovals(in: transaction)
    }

    private mutating func evict(
        towards goal: EvictionGoal, steps stepLimit: Int, in transaction: inout WriteTransaction
    ) throws {
        let plan = budget.plan
        var order = RecencyOrder(commit)
        var isAbove = false
        var start: Int?
        while true {
            let used = try transaction.pages().used
            switch goal {
            case .watermark: isAbove = used > (isAbove ? plan.low : plan.high)
            case .pages(let pages, _): isAbove = used > pages
            }
            // Pending removals continue regardless of the goal.
            guard try isAbove || isRemovalDue(&order, in: &transaction) else { return }
            let pages = try budget.pagesCopied(in: transaction)
            start = start ?? pages
            // Keeps 8 pages back, because a step may copy a few pages more than the forecast.
            guard steps < stepLimit,
                pages < min(budget.limit ?? .max, (start ?? 0) + plan.evictionLimit) - 8
            else {
                isBehind = steps > spared.count
                return
            }
            guard let oldest = try order.oldest(in: &transaction) else {
                isExhausted = true
                return
            }
            try step(oldest, reason: goal.reason, in: &transaction)
            steps += 1
        }
    }

    /// Whether the next record is pending removal.
    private func isRemovalDue(
        _ order: inout RecencyOrder, in transaction: inout WriteTransaction
    ) throws -> Bool {
        guard let oldest = try order.oldest(in: &transaction), oldest.stamp == .never else {
            return false
        }
        return try commit.counts.entry(oldest.handle, in: transaction).flags.contains(
            .pendingRemoval)
    }

    /// Takes the step that the rule decides for the oldest record.
    private mutating func step(
        _ oldest: RecencyEntry, reason: Eviction.Reason, in transaction: inout WriteTransaction
    ) throws {
        let counts = commit.counts
        // A record that this transaction has made a root is the rest of a tree already counted.
        let isTree = !counts.hasChanged(oldest.handle)
        let graph = CommitGraph(commit: commit, snapshot: transaction.snapshot)
        switch try EvictionRule.step(for: oldest.handle, in: graph) {
        case .evict(let handles, let stamp):
            if handles.contains(where: isTouched), spared.insert(oldest.handle).inserted {
                commit.counts.tick()
                return try counts.touch(oldest.handle, in: transaction)
            }
            try commit.evict(
                handles, accessedAt: stamp, isByCaller: false, reason: reason,
                countingIn: &evicted, in: &transaction)
            if isTree { evicted.addTree() }
        case .release(let handle): try commit.continueRemoval(of: handle, in: &transaction)
        case .relist(let handle, let stamp):
            try counts.update(handle, in: transaction) { $0.stamp = stamp }
        case .block(let handle, let externalReferences):
            for handle in [handle] + externalReferences {
                try counts.update(handle, in: transaction) { $0.block() }
            }
        case .unflag(let handle): try counts.update(handle, in: transaction) { $0.unflag() }
        }
    }
}

/// The cache as a transaction is changing it.
private struct CommitGraph: EvictionGraph {
    let commit: CommitTransaction
    let snapshot: Snapshot

    func entry(_ handle: Handle) throws -> StateEntry {
        try commit.counts.entry(handle, in: snapshot)
    }

    func children(_ handle: Handle) throws -> [Handle] {
        // A record that is pending removal releases its children in steps of its own.
        let flags = try commit.counts.entry(handle, in: snapshot).flags
        guard !flags.contains(.pendingRemoval) || flags.contains(.blocked) else { return [] }
        return try commit.readableRecord(handle, in: snapshot)?.children ?? []
    }
}

/// The records that were evicted in one step: a root, or the records of a cycle.
struct Victim: Hashable, Sendable {
    /// The name of an evicted record.
    struct Name: Hashable, Sendable {
        let nameSpace: NameSpace
        let identifier: String
    }

    /// The time of their last access.
    let stamp: Stamp
    let reason: Eviction.Reason
    /// Their names. Segments have none.
    private(set) var entries: [Name] = []
    private(set) var bytes = 0

    init(stamp: Stamp, reason: Eviction.Reason) {
        self.stamp = stamp
        self.reason = reason
    }

    mutating func add(_ record: Record) {
        if record.nameSpace != .segment {
            entries.append(Name(nameSpace: record.nameSpace, identifier: record.identifier))
        }
        bytes += record.storedByteCount
    }
}

// Eviction removes records to which nothing outside refers, and hands the time of their last access
// on to their children.
extension CommitTransaction {
    /// Evicts the record that `identifier` names, whatever its age.
    ///
    /// - Throws: ``CacheError/Code/referenced`` if the record is pinned or another record refers to
    ///   it.
    func evict(_ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction)
        throws
    {
        guard let handle = try index.handle(of: identifier, in: nameSpace, transaction) else {
            return
        }
        if let record = try readableRecord(handle, in: transaction),
            !record.isNamed(identifier, in: nameSpace)
        {
            return
        }
        counts.stampUnreferenced()
        let graph = CommitGraph(commit: self, snapshot: transaction.snapshot)
        guard
            case .evict(let handles, _) = try EvictionRule.step(
                for: handle, in: graph, regardlessOfAge: true)
        else { throw CacheError.referenced }
        var evicted = EvictionCounts()
        try evict(
            handles, accessedAt: counts.stamp, isByCaller: true, reason: .explicit,
            countingIn: &evicted,
            in: &transaction)
        evicted.addTree()
        count(evicted, for: .explicit)
    }

    /// Evicts a root, or the records of a cycle that nothing else refers to.
    ///
    /// - Parameter isByCaller: Whether a caller asked for it. If so, the children count as accessed
    ///   now, as after a write of the record; otherwise they get the time of the record.
    fileprivate func evict(
        _ handles: [Handle], accessedAt stamp: Stamp, isByCaller: Bool, reason: Eviction.Reason,
        countingIn evicted: inout EvictionCounts, in transaction: inout WriteTransaction
    ) throws {
        if handles.count > Self.removalBatch, !isByCaller {
            return try evictLargeCycle(
                handles, accessedAt: stamp, reason: reason, countingIn: &evicted, in: &transaction)
        }
        var victim = Victim(stamp: stamp, reason: reason)
        let members = Set(handles)
        for handle in handles {
            guard let record = try readableRecord(handle, in: transaction) else {
                try evictUnreadable(handle, in: &transaction)
                continue
            }
            victim.add(record)
            if handles.count == 1, isLarge(record) {
                try scheduleRemoval(record, accessedAt: stamp, in: &transaction)
                continue
            }
            for child in record.children where !members.contains(child) {
                if isByCaller {
                    try counts.release(child, in: transaction)
                } else {
                    try counts.release(child, evictedAt: stamp, in: transaction)
                }
            }
            try erase(record, in: &transaction)
            try counts.forget(handle, in: transaction)
        }
        guard !victim.entries.isEmpty else { return }
        changes.add(victim)
        evicted.add(
            records: victim.entries.count, bytes: victim.bytes, accessedAt: stamp,
            isGroup: handles.count > 1)
    }

    /// Evicts some records of a cycle that is too large for one step.
    ///
    /// Removes the names of the records first, a few at a time, and the name of the record in
    /// `recency` last. Until then, every tree that can be reached by a name is whole. Then that
    /// record is scheduled for removal, and each of the others follows when a first reference to it
    /// goes.
    private func evictLargeCycle(
        _ handles: [Handle], accessedAt stamp: Stamp, reason: Eviction.Reason,
        countingIn evicted: inout EvictionCounts, in transaction: inout WriteTransaction
    ) throws {
        var named: [Handle] = []
        for handle in handles
        where try !counts.entry(handle, in: transaction).flags.contains(.pendingRemoval) {
            named.append(handle)
            if named.count > Self.removalBatch { break }
        }
        // While this record stands in `recency`, the cycle comes up again.
        let inRecency = try named.last { try counts.entry($0, in: transaction).isInRecency }
        let isLast = named.count <= Self.removalBatch
        var victim = Victim(stamp: stamp, reason: reason)
        for handle in named where handle != inRecency || isLast {
            guard let record = try readableRecord(handle, in: transaction) else {
                try evictUnreadable(handle, in: &transaction)
                continue
            }
            victim.add(record)
            try index.removeEntry(of: record, in: &transaction)
            if handle == inRecency {
                try counts.scheduleRemoval(handle, accessedAt: stamp, in: transaction)
            } else {
                try counts.scheduleRemovalWhenReleased(handle, accessedAt: stamp, in: transaction)
            }
        }
        guard !victim.entries.isEmpty else { return }
        changes.add(victim)
        evicted.add(
            records: victim.entries.count, bytes: victim.bytes, accessedAt: stamp, isGroup: isLast)
    }

    /// Evicts a record that can't be read: its bytes, and its name, which only a walk of the index
    /// finds.
    private func evictUnreadable(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        try discardUnreadable(handle, in: &transaction)
        let keys = try index.keys(leadingTo: [handle], in: transaction)
        try index.removeDamagedEntries(keys[handle] ?? [], in: &transaction)
        try counts.forget(handle, in: transaction)
    }

    /// Adds the evicted records to the lifetime counters of the cache.
    func count(_ evicted: EvictionCounts, for reason: Eviction.Reason) {
        lifetime.add(
            evicted, for: reason,
            ages: lifetime.timeline.ages(of: evicted, at: Timeline.currentSecond))
    }
}
