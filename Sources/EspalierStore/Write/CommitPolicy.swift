import EspalierLMDB
import EspalierRecords

/// Decides what follows a commit that failed. Nothing else decides it.
///
/// A commit changes all it is asked to or nothing, so each step below starts from the cache as it
/// was before the failed transaction.
///
///     failure                     first time                      again
///     ---------------------------------------------------------------------------------------
///     out of pages                make room, retry                the same, three times in all;
///                                                                 then fail: full
///     generation is stale         retry in the live one           fail: busy
///     budget deadlock             new generation, retry           fail: full
///     damage of file or metadata  new generation, retry           fail: damaged
///     environment closed,         reopen it, retry                fail: LMDB's error
///       panicked, or resized
///     anything else               fail                            fail
///
/// A write that is committed with others never fails for their sake: where the table says "fail",
/// the operations of a group are committed one by one, each with a history of its own.
///
/// *Stale*: another process has switched to another generation. *Budget deadlock*: nothing is left
/// to evict, nothing is pinned, no reader keeps pages, and a write that fits an empty cache still
/// does not fit.
enum CommitPolicy {
    /// Why a commit failed, as far as the next step depends on it.
    enum Failure: Equatable {
        /// The transaction would copy so many pages and may not, or LMDB ran out of pages on the
        /// way, after which nobody knows how many it needed.
        case outOfPages(needed: Int?)
        case staleGeneration
        case budgetDeadlock
        case damaged
        case environmentClosed
        case environmentPanicked
        case mapResized
        case other

        init(_ error: any Error) {
            switch error {
            case let error as NoRoom: self = .outOfPages(needed: error.pages)
            case is StaleGeneration: self = .staleGeneration
            case is BudgetDeadlock: self = .budgetDeadlock
            case is CorruptMetadata: self = .damaged
            case let error as LMDBError:
                switch error.code {
                case .mapFull: self = .outOfPages(needed: nil)
                case .closed: self = .environmentClosed
                case .panic: self = .environmentPanicked
                case .mapResized: self = .mapResized
                default: self = error.isDamage ? .damaged : .other
                }
            default: self = .other
            }
        }
    }

    /// What was tried for one group of operations so far.
    struct History: Equatable {
        let operationCount: Int
        /// How often room was made.
        var roomMade = 0
        /// Whether the commit was begun again in another generation.
        var hasChangedGeneration = false
        /// Whether the environment of the generation was reopened.
        var hasReopened = false

        init(operationCount: Int) { self.operationCount = operationCount }

        /// Notes that a step was taken. Another generation is a new beginning, but for itself.
        mutating func add(_ step: Step) {
            switch step {
            case .makeRoom: roomMade += 1
            case .reopen: hasReopened = true
            case .retry, .newGeneration:
                (hasChangedGeneration, hasReopened, roomMade) = (true, false, 0)
            case .oneByOne, .fail: break
            }
        }
    }

    enum Step: Equatable {
        /// Evict and wait until a transaction can copy more pages, then try again. `needed` is nil
        /// where it is not known how many.
        case makeRoom(needed: Int?)
        /// Try again in the generation that is live now.
        case retry
        /// Open the environment again, then try again.
        case reopen
        /// Replace the generation by an empty one, then try again.
        case newGeneration(GenerationHolder.Replacement)
        /// Commit the operations one by one.
        case oneByOne
        /// Tell the caller.
        case fail
    }

    /// How often room is made for one write.
    static let roomLimit = 3

    static func step(after failure: Failure, _ history: History) -> Step {
        let fail = history.operationCount > 1 ? Step.oneByOne : .fail
        switch failure {
        case .outOfPages(let needed):
            return history.roomMade < roomLimit ? .makeRoom(needed: needed) : fail
        case .staleGeneration:
            return history.hasChangedGeneration ? fail : .retry
        case .budgetDeadlock:
            return history.hasChangedGeneration ? fail : .newGeneration(.budgetDeadlock)
        case .damaged:
            return history.hasChangedGeneration ? fail : .newGeneration(.damaged)
        case .environmentClosed, .environmentPanicked, .mapResized:
            return history.hasReopened ? fail : .reopen
        case .other:
            return fail
        }
    }
}

/// The generation is not the live one any more: another process has switched. Nothing was written.
struct StaleGeneration: Error {}

/// Nothing is left to evict, and what there is leaves no room for a write that fits an empty cache.
struct BudgetDeadlock: Error {}

/// The counters can't be read, so that no handle can be given out.
struct CorruptMetadata: Error {}
