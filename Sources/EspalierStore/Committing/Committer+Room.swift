import EspalierLMDB
import EspalierRecords
import Foundation
import Synchronization

// What to do when the pages do not suffice. A transaction that fails changes nothing, so eviction
// must not wait for that: writes leave pages that only eviction takes, and room is made in small
// transactions before a write is tried again.
extension Committer {
    /// How often a write is tried before it is dropped.
    private static let attempts = 4
    /// How long a write waits for a read to end that keeps pages from being used again.
    private static let patience = Duration.milliseconds(250)
    /// Transactions that make room for one write, at most.
    private static let roomLimit = 4_096

    func commit(_ operations: [WriteOperation], makingRoomIn generation: Generation) throws {
        var needed = 0
        var ranOut = false
        for attempt in 0..<Self.attempts {
            do {
                // What a write fails for must not be the records that are lost beside it.
                try transact(
                    operations, in: generation, goal: .watermark, losingRecords: attempt == 0)
                if ranOut { statistics.countMapFull() }
                return
            } catch let error as NoRoom {
                needed = max(needed + 16, error.pages)
            } catch let error as LMDBError where error.code == .mapFull {
                ranOut = true
                let free = try freePages(of: generation)
                needed = max(needed * 2, free.allocatable + free.allocatable / 2, 64)
            }
            try makeRoom(for: needed, in: generation)
        }
        throw full(generation)
    }

    /// Evicts and lets time pass until a transaction can copy `pages` pages. Throws where that
    /// can't be reached.
    func makeRoom(for pages: Int, in generation: Generation) throws {
        let plan = try PagePlan(capacity: generation.environment.read { try $0.pages().capacity })
        let needed = pages + plan.reserve
        guard needed < plan.capacity - 16 else { throw full(generation) }
        var steps = Int.max
        for _ in 0..<Self.roomLimit {
            let free = try freePages(of: generation)
            if free.allocatable >= needed { return }
            let missing = needed - free.allocatable
            if free.held > 0, try generation.environment.clearStaleReaders() > 0 { continue }
            // What is only waiting for its readers to end will not come sooner by evicting more.
            if free.held >= missing, free.recent < missing {
                try waitForReader(in: generation)
                continue
            }
            // Passing time takes some pages itself, and frees them again.
            if free.recent >= missing + 8 {
                try commitEmptyTransaction(in: generation)
                continue
            }
            do {
                let used = try generation.environment.read { try $0.pages().used }
                let goal = EvictionGoal.pages(max(0, used - missing), .budget)
                if try transact([], in: generation, goal: goal, steps: steps, takingTouches: false)
                    > 0
                {
                    continue
                }
                guard free.recent > 8 else { throw stuck(generation, free) }
                try commitEmptyTransaction(in: generation)
            } catch let error where Self.isOutOfPages(error) && steps > 1 {
                // One record at a time, until there is more room.
                steps = steps == .max ? 16 : steps / 4
            } catch let error where Self.isOutOfPages(error) {
                if free.recent > 8 {
                    try commitEmptyTransaction(in: generation)
                    steps = .max
                } else {
                    guard free.held > 0 else { throw stuck(generation, free) }
                    try waitForReader(in: generation)
                }
            }
        }
        throw full(generation)
    }

    private static func isOutOfPages(_ error: any Error) -> Bool {
        (error as? LMDBError)?.code == .mapFull || error is NoRoom
    }

    /// Most reads take milliseconds; one that takes longer is not waited for a second time.
    private func waitForReader(in generation: Generation) throws {
        guard let oldest = try generation.environment.oldestReader else { return }
        let place = "\(generation.name) \(oldest)"
        let deadline = ContinuousClock.now + Self.patience
        while state.withLock({ $0.slowReader }) != place, ContinuousClock.now < deadline {
            Thread.sleep(forTimeInterval: 0.000_5)
            guard try generation.environment.oldestReader == oldest else { return }
        }
        state.withLock { $0.slowReader = place }
        throw CacheError.pagesHeld(try holder(in: generation))
    }

    /// What a commit frees can be used again two commits later.
    private func commitEmptyTransaction(in generation: Generation) throws {
        let info = generation.keyspaces.info
        try generation.environment.write { transaction in
            guard let counters = try transaction.value(info, Counters.key) else { return }
            try transaction.put(info, Counters.key, counters)
            // Nothing has changed that the tables tell of.
            let number = transaction.number
            state.withLock { state in
                if let asOf = state.asOf, asOf == (generation.name, number - 1) {
                    state.asOf = (generation.name, number)
                }
            }
        }
    }

    private func freePages(of generation: Generation) throws -> FreePages {
        let oldest = try generation.environment.oldestReader
        return try generation.environment.read { try $0.freePages(oldestReader: oldest) }
    }

    /// Evicts the oldest until no more than `pages` are in use, or nothing more can go.
    func trim(to pages: Int, _ reason: Eviction.Reason, in generation: Generation) throws {
        while try generation.environment.read({ try $0.pages().used }) > pages {
            do {
                guard try transact([], in: generation, goal: .pages(pages, reason)) > 0 else {
                    return
                }
            } catch let error where Self.isOutOfPages(error) {
                // To evict takes pages, too: those that a reader holds would do.
                guard try freePages(of: generation).held > 0 else { throw full(generation) }
                throw CacheError.pagesHeld(try holder(in: generation))
            }
        }
    }

    /// With pins it is they who leave no room. Without, the cache starts anew, if it is sure that
    /// nothing else helps.
    private func stuck(_ generation: Generation, _ free: FreePages) -> any Error {
        let (pins, isExhausted) = state.withLock { ($0.tables?.reach.pins ?? 0, $0.isExhausted) }
        if pins > 0 { return CacheError.pinnedFull(generation.budget) }
        return isExhausted && free.held == 0 ? BudgetDeadlock() : full(generation)
    }

    func full(_ generation: Generation) -> CacheError {
        state.withLock { $0.tables?.reach.pins ?? 0 } == 0
            ? .full(generation.budget) : .pinnedFull(generation.budget)
    }

    /// The process whose snapshot is the oldest.
    private func holder(in generation: Generation) throws -> Int32? {
        try generation.environment.readers().filter { $0.transaction != nil }.max {
            ($0.lag ?? 0) < ($1.lag ?? 0)
        }?
        .processIdentifier
    }
}
