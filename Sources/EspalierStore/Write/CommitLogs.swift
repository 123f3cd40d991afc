import EspalierRecords

/// What reads and scans leave for the next commit: accesses, cycles, damaged records, and counts.
///
/// A commit takes some of each. If it fails, they come back; nothing is lost but what belongs to a
/// generation that is not live any more. Safe to use from every thread.
final class CommitLogs: Sendable {
    let accesses = AccessLog()
    let damage = DamageLog()
    let cycleCollector: CycleCollector
    let statistics: StatisticsRecorder

    init(_ statistics: StatisticsRecorder) {
        self.statistics = statistics
        cycleCollector = CycleCollector(statistics)
    }

    /// What one commit has taken.
    struct Taken {
        let accesses: AccessLog.Touches
        let cycles: Set<Handle>
        let damaged: [Handle]
        let statistics: LifetimeCounters
    }

    /// Takes at most `count` accesses and cycles, and at most `damaged` damaged records.
    func take(
        atMost count: Int, damaged: Int, in generation: Generation, transaction: UInt64
    ) -> Taken {
        Taken(
            accesses: accesses.take(atMost: count, in: generation.name),
            cycles: cycleCollector.unflagged(atMost: count, in: generation),
            damaged: damage.waiting(atMost: damaged, in: generation.name),
            statistics: statistics.drain(for: transaction))
    }

    /// Notes that a commit has stored what it took, and has lost the damaged records `lost`.
    func finish(_ taken: Taken, lost: Set<Handle>, in generation: Generation) {
        cycleCollector.removeFlagged(taken.cycles, in: generation)
        damage.finish(taken.damaged, lost: lost, in: generation.name)
    }

    /// Takes back what a commit took that has failed.
    func putBack(_ taken: Taken, in generation: Generation) {
        accesses.putBack(taken.accesses, in: generation.name)
        damage.postpone()
        statistics.putBack(taken.statistics)
    }

    /// When a commit is due though nobody writes; nil while nothing waits for one.
    var deadline: ContinuousClock.Instant? {
        guard let accesses = accesses.deadline, let damage = damage.deadline else {
            return accesses.deadline ?? damage.deadline
        }
        return min(accesses, damage)
    }

    /// Whether anything waits that a commit at closing stores.
    var isEmpty: Bool { accesses.deadline == nil && statistics.pending == LifetimeCounters() }
}
