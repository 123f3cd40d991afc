import EspalierLMDB
import EspalierRecords
import Foundation
import Synchronization

extension FreePages {
    /// The recently freed pages for which an empty commit is worth its time, even if they are not
    /// enough: the eviction that follows can then copy so many pages more.
    static let usefulRecent = 24

    /// Whether an eviction in the background needs the pages that the last commit freed, and an
    /// empty commit makes them usable, which it can't while a read holds pages.
    var isShort: Bool { held == 0 && recent >= 8 && allocatable < 64 }
}

/// How long a trim may go on.
struct TrimLimit {
    /// The transactions that one page may take: its records may be removed a few at a time, and
    /// their neighbours on other pages before them.
    private static let transactionsOfPage = 16
    /// The transactions in a row that may remove nothing, for example because they move records to
    /// a later time that reads have touched.
    private static let idleLimit = 64

    private(set) var transactions: Int
    private var idle = 0

    /// Makes the limit of a trim that has to free `excess` pages.
    init(excess: Int) { transactions = Self.idleLimit + excess * Self.transactionsOfPage }

    /// Returns whether another transaction may follow one that has made `progress`.
    mutating func allowsMore(after progress: EvictionProgress) -> Bool {
        transactions -= 1
        idle = progress.removals > 0 ? 0 : idle + 1
        return progress.steps > 0 && transactions > 0 && idle < Self.idleLimit
    }
}

/// Makes room for a transaction that needs more pages than are free.
///
/// A failed transaction changes nothing, so eviction must not wait until the map is full: writes
/// leave pages that only eviction may use (`PagePlan.reserve`), and small transactions make room
/// before a write is retried. The pages of the file are
///
///     used | recent: freed, usable two commits later | held: freed, an open read sees them | free
///
/// Confined to the thread that commits.
final class RoomMaker: Sendable {
    /// How long a write waits for a read that keeps pages from being used again.
    private static let readerPatience = Duration.milliseconds(250)
    /// The most transactions that make room for one write.
    private static let transactionLimit = 4_096
    /// The evictions in a row that may remove nothing.
    private static let idleLimit = 8
    /// How often in a row a trim may run out of pages, and how long after its beginning: short
    /// reads that follow one another can hold the pages each time.
    private static let trimFailures = 64
    private static let trimPatience = Duration.seconds(10)
    /// How many attempts may fail before `make` gives up, unless an open read explains the failure.
    private static let repetitionLimit = 3

    /// The read for which `waitForReader` waited in vain. Later calls do not wait for that read
    /// again.
    private let slowRead = Mutex("")

    /// The next step for a transaction that needs `missing` more pages than are free.
    enum Step: Equatable {
        /// Wait until the oldest read ends, which keeps pages from being reused.
        case waitForReader
        /// Commit an empty transaction, so that recently freed pages can be reused.
        case commitEmptyTransaction
        /// Evict until `missing` more pages are free.
        case evict
    }

    /// Decides the next step. Eviction comes last, because only it loses records, and because the
    /// pages that it frees can't be used either while a read sees them.
    static func step(missing: Int, _ free: FreePages) -> Step {
        if free.held > 0 { return .waitForReader }
        // An empty commit takes some pages itself, and frees them again.
        if free.recent >= min(missing + 8, FreePages.usefulRecent) {
            return .commitEmptyTransaction
        }
        return .evict
    }

    /// Returns the most pages that `make` can free.
    static func mostPages(of generation: Generation) throws -> Int {
        PagePlan(capacity: try generation.environment.read { try $0.pages().capacity }).mostPages
    }

    /// Evicts, commits empty transactions and waits for reads until a transaction can copy `pages`
    /// pages.
    ///
    /// - Throws: The reason why that is impossible: `.full`, `.pinnedFull`, `.pagesHeld`, or
    ///   `BudgetDeadlock`.
    func make(pages: Int, in generation: Generation, _ committer: Committer) throws {
        let environment = generation.environment
        let plan = try PagePlan(capacity: environment.read { try $0.pages().capacity })
        let needed = pages + plan.reserve
        guard pages <= plan.mostPages else { throw full(generation, committer) }
        var evictionSteps = Int.max
        // How many accesses the next eviction applies.
        var accesses = 0
        var idle = 0
        var attempts = 0
        for _ in 0..<Self.transactionLimit {
            let free = try Self.freePages(of: generation)
            let missing = needed - free.allocatable
            guard missing > 0 else { return }
            if free.held > 0, try environment.clearStaleReaders() > 0 { continue }
            switch Self.step(missing: missing, free) {
            case .waitForReader: try waitForReader(in: generation)
            case .commitEmptyTransaction:
                try committer.commitEmptyTransaction(in: generation)
                evictionSteps = .max
            case .evict:
                do {
                    let used = try environment.read { try $0.pages().used }
                    let request = CommitTransaction.Request(
                        operations: [], goal: .pages(max(0, used - missing), .budget),
                        evictionSteps: evictionSteps, logs: .accesses(accesses))
                    let progress = try commitEviction(request, in: generation, committer)
                    if progress.steps > 0 {
                        // An eviction without removals has spared the records that it looked at,
                        // because reads accessed them. The next one stores as many accesses first:
                        // otherwise it would spare the same records again.
                        accesses = progress.removals > 0 ? 0 : max(accesses, progress.steps)
                        if evictionSteps < 1 << 20 { evictionSteps *= 4 }
                        idle = 0
                        continue
                    }
                    // Another process may have taken the pages.
                    idle += 1
                    if free.recent > 8 || !committer.isExhausted && idle < Self.idleLimit {
                        try committer.commitEmptyTransaction(in: generation)
                    } else {
                        attempts += 1
                        try repeatOrFail(attempts, in: generation, committer)
                    }
                } catch let error where Self.isOutOfPages(error) {
                    if accesses > 0 {
                        accesses /= 4
                    } else if evictionSteps > 1 {
                        // Fewer steps need fewer pages, down to one record at a time.
                        evictionSteps = evictionSteps == .max ? 16 : evictionSteps / 4
                    } else if free.recent > 8 {
                        try committer.commitEmptyTransaction(in: generation)
                        evictionSteps = .max
                    } else {
                        attempts += 1
                        try repeatOrFail(attempts, in: generation, committer)
                    }
                }
            }
        }
        throw full(generation, committer)
    }

    /// Commits a transaction that evicts. If nothing is left in the order of eviction, lists those
    /// blocked records again whose cycles can be evicted by now.
    private func commitEviction(
        _ request: CommitTransaction.Request, in generation: Generation, _ committer: Committer
    ) throws -> EvictionProgress {
        let progress = try committer.commitOnce(request, in: generation)
        guard progress.steps == 0, committer.isExhausted else { return progress }
        var request = request
        request.relistsBlocked = true
        return try committer.commitOnce(request, in: generation)
    }

    /// Evicts the least recently accessed records until no more than `pages` pages are in use, or
    /// until nothing more can be evicted. Gives up if others store as much as it evicts.
    ///
    /// - Throws: `pagesHeld` if a read stays open that keeps the pages which eviction needs;
    ///   ``full(_:_:)`` if there are too few of them otherwise.
    func trim(
        to pages: Int, _ reason: Eviction.Reason, in generation: Generation,
        _ committer: Committer
    ) throws {
        var limit: TrimLimit?
        var evictionSteps = Int.max
        // How many accesses the next eviction applies, as in `make`; 0 for those of the plan.
        var accesses = 0
        // The transactions in a row that have run out of pages.
        var failures = 0
        let deadline = ContinuousClock.now + Self.trimPatience
        while case let used = try generation.environment.read({ try $0.pages().used }),
            used > pages
        {
            limit = limit ?? TrimLimit(excess: used - pages)
            let free = try Self.freePages(of: generation)
            if free.isShort { try committer.commitEmptyTransaction(in: generation) }
            let request = CommitTransaction.Request(
                operations: [], goal: .pages(pages, reason), evictionSteps: evictionSteps,
                logs: accesses > 0 ? .accesses(accesses) : .planned)
            if let eviction = try evictIfPossible(request, in: generation, committer) {
                guard limit?.allowsMore(after: eviction) == true else { return }
                accesses = eviction.removals > 0 ? 0 : max(accesses, eviction.steps)
                if evictionSteps < 1 << 20 { evictionSteps *= 4 }
                failures = 0
            } else {
                failures += 1
                let mayWait = failures <= Self.trimFailures && ContinuousClock.now < deadline
                try waitForPages(mayWait: mayWait, in: generation, committer)
                if accesses > 0 {
                    accesses /= 4
                } else {
                    // Fewer steps need fewer pages, down to one record at a time.
                    evictionSteps = evictionSteps == .max ? 16 : max(1, evictionSteps / 4)
                }
            }
        }
    }

    /// Commits a transaction that evicts. Returns nil if there were too few pages for one step.
    private func evictIfPossible(
        _ request: CommitTransaction.Request, in generation: Generation, _ committer: Committer
    ) throws -> EvictionProgress? {
        do {
            let eviction = try commitEviction(request, in: generation, committer)
            return eviction.couldNotBegin ? nil : eviction
        } catch let error where Self.isOutOfPages(error) {
            return nil
        }
    }

    /// Waits until a read ends that holds pages, or commits an empty transaction, which makes the
    /// pages usable that were freed recently.
    ///
    /// - Throws: Why there are too few pages, unless `mayWait`.
    private func waitForPages(
        mayWait: Bool, in generation: Generation, _ committer: Committer
    ) throws {
        // Reads may have begun since the pages were counted. Those that they hold would be enough.
        let free = try Self.freePages(of: generation)
        if free.held > 0, try generation.environment.clearStaleReaders() > 0 { return }
        guard mayWait else {
            guard free.held > 0 else { throw full(generation, committer) }
            throw CacheError.pagesHeld(try readingProcess(in: generation))
        }
        if free.held > 0 {
            try waitForReader(in: generation)
        } else if free.recent > 8 {
            try committer.commitEmptyTransaction(in: generation)
        }
    }

    static func freePages(of generation: Generation) throws -> FreePages {
        let oldest = try generation.environment.oldestReader
        return try generation.environment.read { try $0.freePages(oldestReader: oldest) }
    }

    /// Returns how many pages to make free for operations whose transaction has run out of pages.
    ///
    /// The records of new nodes take new pages. Their names are spread over the index, so each name
    /// may copy a group of it.
    ///
    /// - Parameters:
    ///   - tried: The number of pages that was not enough.
    ///   - makingAll: Whether to return the most pages that `make` can free: those of an empty
    ///     cache.
    static func pages(
        for operations: [WriteOperation], moreThan tried: Int, makingAll: Bool,
        in generation: Generation
    ) throws -> Int {
        let free = try freePages(of: generation).allocatable
        return try generation.environment.read { snapshot in
            let most = PagePlan(capacity: try snapshot.pages().capacity).mostPages
            guard !makingAll else { return most }
            let names = operations.reduce(0) { $0 + $1.nodeCount }
            let bytes = operations.reduce(0) { $0 + $1.byteCount + $1.nodeCount * nameBytes }
            let index = try snapshot.statistics(of: generation.keyspaces.index)
            let needed = bytes / filledBytes + min(names, index.leafPages + index.overflowPages)
            return min(most, max(needed, tried * 2, free + free / 2, 64))
        }
    }

    /// An estimate of the bytes of an index entry and of what its record takes besides its values.
    private static let nameBytes = 24
    /// An estimate of the bytes of entries on a page.
    private static let filledBytes = 2_800

    static func isOutOfPages(_ error: any Error) -> Bool {
        if case .outOfPages = CommitPolicy.Failure(error) { true } else { false }
    }

    /// Waits for the oldest read to end. Most reads take milliseconds.
    private func waitForReader(in generation: Generation) throws {
        guard let oldest = try generation.environment.oldestReader else { return }
        let read = "\(generation.name) \(oldest)"
        let deadline = ContinuousClock.now + Self.readerPatience
        while slowRead.withLock({ $0 }) != read, ContinuousClock.now < deadline {
            Thread.sleep(forTimeInterval: 0.000_5)
            guard try generation.environment.oldestReader == oldest else { return }
        }
        slowRead.withLock { $0 = read }
        throw CacheError.pagesHeld(try readingProcess(in: generation))
    }

    /// Decides what follows a failed attempt. A read may have begun during the attempt and have
    /// held pages: waits for that read if it is open, and otherwise returns, so that `make` tries
    /// again.
    ///
    /// - Throws: The reason why no room can be made, if no read holds pages and more attempts than
    ///   ``repetitionLimit`` have failed.
    private func repeatOrFail(
        _ attempts: Int, in generation: Generation, _ committer: Committer
    ) throws {
        if try Self.freePages(of: generation).held > 0 {
            try waitForReader(in: generation)
        } else if attempts > Self.repetitionLimit {
            throw failure(generation, committer)
        }
    }

    /// Returns the process whose read is the oldest.
    private func readingProcess(in generation: Generation) throws -> Int32? {
        try generation.environment.readers().filter { $0.transaction != nil }
            .max { ($0.lag ?? 0) < ($1.lag ?? 0) }?.processIdentifier
    }

    /// Returns why no room can be made if nothing can be evicted and no read holds pages: pins,
    /// optimistic changes, or nothing that this process knows. Then a new generation has to begin.
    private func failure(_ generation: Generation, _ committer: Committer) -> any Error {
        if committer.pinCount > 0 { return CacheError.pinnedFull(generation.budget) }
        if committer.hasLayerEntries { return CacheError.full(generation.budget) }
        return committer.isExhausted ? BudgetDeadlock() : full(generation, committer)
    }

    func full(_ generation: Generation, _ committer: Committer) -> CacheError {
        committer.pinCount == 0 ? .full(generation.budget) : .pinnedFull(generation.budget)
    }
}
