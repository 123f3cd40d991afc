import EspalierLMDB
import EspalierRecords
import Synchronization

/// What reads and scans have logged for the next commit: accesses, cycles, damaged records, and
/// counts.
///
/// A commit takes some of each. If the commit fails, it puts them back. Only the entries of
/// generations that are not live any more are lost. If the live one is a copy, accesses are not.
/// Safe to use from every thread.
final class CommitLogs: Sendable {
    let accesses = AccessLog()
    let damage = DamageLog()
    let cycleCollector: CycleCollector
    let statistics: StatisticsRecorder
    // protected by itself
    private let protected = Mutex<Set<Handle>>([])

    init(_ statistics: StatisticsRecorder) {
        self.statistics = statistics
        cycleCollector = CycleCollector(statistics)
    }

    /// The entries that one commit has taken.
    struct Taken {
        let accesses: AccessLog.Touches
        let cycles: Set<Handle>
        let scan: ScanProgress?
        let damaged: [Handle]
        let statistics: LifetimeCounters
    }

    /// Takes at most `count` accesses, at most `cycles` cycles and at most `damaged` damaged
    /// records. `scanHandle` is where the scan for cycles goes on according to the stored counters.
    func take(
        atMost count: Int, cycles: Int, damaged: Int, in generation: Generation,
        transaction: UInt64, scanHandle: UInt64
    ) -> Taken {
        Taken(
            accesses: accesses.take(atMost: count, in: generation.lineageName),
            cycles: cycleCollector.unflagged(atMost: cycles, in: generation),
            scan: cycleCollector.progress(from: scanHandle, in: generation),
            damaged: damage.waiting(atMost: damaged, in: generation.name),
            statistics: statistics.drain(for: transaction, in: generation.name))
    }

    /// Lets the stored records that operations change or pin be evicted last, until
    /// ``endProtection()``. Otherwise the room for an operation could be made by evicting what it
    /// changes: the list to which it appends, or the record with which it merges.
    ///
    /// Not logged as accesses: to store them would take pages, and the operations access the
    /// records anyway.
    func protectTargets(of operations: [WriteOperation], in generation: Generation) {
        let targets = operations.flatMap(\.targets)
        guard !targets.isEmpty else { return }
        let handles = try? generation.environment.read { transaction in
            // A damaged part of the index hides the records that it lists, and no others.
            targets.compactMap { target in
                (try? transaction.handle(
                    generation.keyspaces, target.nameSpace, target.identifier.string)) ?? nil
            }
        }
        protected.withLock { $0.formUnion(handles ?? []) }
    }

    /// Ends the protection of all records, once the operations are committed or have failed.
    func endProtection() { protected.withLock { $0.removeAll() } }

    /// Returns the time at which a read has last touched a record; nil if no touch waits to be
    /// stored. For a protected record that is later than any touch.
    func touchTime(of handle: Handle, in generation: Generation) -> UInt64? {
        if protected.withLock({ $0.contains(handle) }) { return .max }
        return accesses.touchTime(of: handle, in: generation.lineageName)
    }

    /// Notes that a commit has stored the entries that it took, and that `lost` are those of its
    /// damaged records that it has made lost.
    func finish(_ taken: Taken, lost: Set<Handle>, in generation: Generation) {
        cycleCollector.removeFlagged(taken.cycles, in: generation)
        cycleCollector.finish(taken.scan)
        damage.finish(taken.damaged, lost: lost, in: generation.name)
    }

    /// Puts back the entries that a failed commit took.
    func putBack(_ taken: Taken, in generation: Generation) {
        accesses.putBack(taken.accesses, in: generation.lineageName)
        statistics.putBack(taken.statistics)
    }

    /// Puts off the commit that is due, because it has failed. Without that the writer would try
    /// again at once, for ever. No other function puts it off.
    func postpone() {
        accesses.postpone()
        damage.postpone()
    }

    /// When a commit is due even without a write; nil if the logs need none.
    var deadline: ContinuousClock.Instant? {
        guard let accesses = accesses.deadline, let damage = damage.deadline else {
            return accesses.deadline ?? damage.deadline
        }
        return min(accesses, damage)
    }

    /// Whether nothing waits that the last commit before closing would store.
    var isEmpty: Bool { accesses.deadline == nil && statistics.pending == LifetimeCounters() }
}
