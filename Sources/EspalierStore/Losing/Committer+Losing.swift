import EspalierLMDB
import EspalierRecords

extension Committer {
    /// What a commit has looked at because reads could not make it out, and what of it is lost.
    struct Losses {
        var lookedAt: [Handle] = []
        var lost: Set<Handle> = []
    }

    /// Records that a read could not make out; the next commit looks at them again. Returns whether
    /// the writer has to be called.
    func noteUnreadable(_ handles: [Handle], in generation: Generation) -> Bool {
        damages.note(handles, in: generation.name)
    }

    /// When the writer has something to do though nobody writes.
    var deadline: ContinuousClock.Instant? {
        guard let touches = touches.deadline, let damages = damages.deadline else {
            return touches.deadline ?? damages.deadline
        }
        return min(touches, damages)
    }

    /// After the operations: what they have written anew is not damaged any more.
    func applyLosses(
        _ commit: CommitTransaction, atMost count: Int, in transaction: inout WriteTransaction
    ) throws -> Losses {
        let waiting = damages.waiting(atMost: count, in: commit.generation.name)
        guard !waiting.isEmpty else { return Losses() }
        return Losses(lookedAt: waiting, lost: try commit.lose(waiting, in: &transaction))
    }
}
