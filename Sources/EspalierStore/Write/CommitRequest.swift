import EspalierLMDB
import EspalierRecords

extension CommitTransaction {
    /// What one commit does.
    struct Request {
        var operations: [WriteOperation]
        /// How far it evicts.
        var goal = EvictionGoal.watermark
        /// The most steps of eviction.
        var evictionSteps = Int.max
        /// What the commit applies of the accesses and cycles that reads have logged.
        var logs = LogShare.planned
        /// Whether the commit clears damaged records away.
        var clearsDamage = true
        /// Whether the file must have pages for eviction beyond those in use.
        var reservesFile = true
        /// How long to wait for the lock of the writer; nil stands for the configured deadline.
        var lockDeadline: Duration?
        /// Whether the commit lists blocked records again before it evicts, except those that
        /// external references keep.
        var relistsBlocked = false
    }

    /// What a commit applies of the logs. Each access and each cycle may change a page of its own.
    enum LogShare: Equatable {
        /// As many accesses and cycles as the plan of the pages allows.
        case planned
        /// The oldest accesses, at most this many. A commit that makes room for a write applies
        /// none if it can: it looks up in the log whether a record that it would evict was
        /// accessed.
        case accesses(Int)
    }

    /// The changes of a successful commit that its committer publishes in memory.
    struct Outcome {
        let transaction: CommitTransaction
        let number: UInt64
        let evictor: Evictor
        let changedShapes: [(number: UInt64, shape: Shape?)]
        let droppedDictionaries: [UInt64]

        /// What has changed, for the trees in memory; nil if that can be anything.
        var historyEntry: CommitHistory.Entry? {
            transaction.contentChanges.entry(number, keys: transaction.changes.keys)
        }
    }
}
