import EspalierLMDB
import EspalierRecords

/// How far a transaction is to evict.
enum EvictionGoal: Equatable {
    /// What stands above the watermark.
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

/// A transaction would copy more pages than it may: nothing was changed.
struct NoRoom: Error {
    let pages: Int
}

/// The eviction of one transaction, and whether it can be committed: what drives an `RecencyOrder`.
struct Evictor {
    private let commit: CommitTransaction
    private let plan: PagePlan
    /// Pages that the transaction may copy. None for as many as it likes.
    private let limit: Int?
    private var base: HeldRead?
    private var copied: CopiedPages?
    private(set) var tally = EvictionCounts()
    private(set) var steps = 0
    /// Whether there may be more to evict or to release, and it would not be in vain to try.
    private(set) var isBehind = false
    /// Whether nothing is left that could be evicted.
    private(set) var isExhausted = false
    private let isTouched: (Handle) -> Bool

    /// To be made when the transaction's operations are done. `makesRoom` says that they may use
    /// what is reserved for eviction.
    init(
        _ commit: CommitTransaction, _ transaction: borrowing WriteTransaction, makesRoom: Bool,
        isTouched: @escaping (Handle) -> Bool
    ) throws {
        self.commit = commit
        self.isTouched = isTouched
        let environment = commit.generation.environment
        let pages = try transaction.pages()
        plan = PagePlan(capacity: pages.capacity)
        // Most caches are not full, and need not count.
        let isAmple =
            pages.neverAllocated >= CopiedPages.most(for: commit) + plan.reserve + 2
            * plan.evictionLimit
        guard !isAmple else {
            limit = nil
            return
        }
        let base = try HeldRead(environment)
        self.base = base
        let allocatable = try base.freePages().allocatable
        limit = makesRoom ? allocatable : allocatable - plan.reserve
    }

    /// Evicts, and throws `NoRoom` when the transaction must not be committed.
    mutating func run(
        towards goal: EvictionGoal, steps limitOfSteps: Int = .max,
        in transaction: inout WriteTransaction
    ) throws {
        if try isDue(towards: goal, in: transaction) {
            // Where nothing has to be counted, nor is evicted while the reader table is full.
            base = base ?? (try? HeldRead(commit.generation.environment))
            let start = ContinuousClock.now
            if base != nil { try evict(towards: goal, steps: limitOfSteps, in: &transaction) }
            tally.spent = .now - start
        }
        guard let limit else { return }
        let pages = try pagesCopied(in: transaction)
        if pages > limit { throw NoRoom(pages: pages) }
    }

    /// Whether there is anything to do: most commits need not look at what is oldest.
    private func isDue(towards goal: EvictionGoal, in transaction: borrowing WriteTransaction)
        throws -> Bool
    {
        let used = try transaction.pages().used
        let isAbove =
            switch goal {
            case .watermark: used > plan.high
            case .pages(let pages, _): used > pages
            }
        return try isAbove || commit.mayHavePendingRemovals(in: transaction)
    }

    private mutating func evict(
        towards goal: EvictionGoal, steps limitOfSteps: Int, in transaction: inout WriteTransaction
    ) throws {
        let run = RecencyOrder(commit, reason: goal.reason, isTouched: isTouched)
        defer { tally = run.tally }
        var isAbove = false
        var start: Int?
        while true {
            let used = try transaction.pages().used
            switch goal {
            case .watermark: isAbove = used > (isAbove ? plan.low : plan.high)
            case .pages(let pages, _): isAbove = used > pages
            }
            guard try isAbove || run.isReleaseDue(in: &transaction) else { return }
            let pages = try pagesCopied(in: transaction)
            start = start ?? pages
            // A step may cost a few pages more than there were before it.
            guard steps < limitOfSteps,
                pages < min(limit ?? .max, (start ?? 0) + plan.evictionLimit) - 8
            else {
                isBehind = run.taken > 0
                return
            }
            guard try run.step(in: &transaction) else {
                isExhausted = true
                return
            }
            steps += 1
        }
    }

    private mutating func pagesCopied(in transaction: borrowing WriteTransaction) throws -> Int {
        guard let base else { return CopiedPages.most(for: commit) }
        if copied == nil { copied = try CopiedPages(base.snapshot, commit.keyspaces) }
        try copied?.note(commit)
        return try copied?.count(in: transaction) ?? 0
    }
}

/// A read transaction as long as the object: the snapshot beside a write.
private final class HeldRead {
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
