import EspalierLMDB

/// Decides what follows a failed commit. `Committer` asks it in two loops: `commitMakingRoom` for
/// *make room*, and `commit` for the rest.
///
/// A commit applies all of its operations or none, so each step below starts from the cache as it
/// was before the failed transaction.
///
///     failure                     first time                      again
///     ---------------------------------------------------------------------------------------
///     out of pages                make room, retry                the same, five times in each
///                                                                 generation; then fail: full
///     generation is stale         retry in the live one           fail: busy
///     budget deadlock             new generation, retry           fail: full
///     damage of file or metadata  new generation, retry           fail: damaged
///     disk full                   retry: the disk may be full     limit the map to the file,
///                                   for a moment only               retry: evicts; then fail
///     environment closed,         reopen it, retry                fail: LMDB's error
///       panicked, or resized
///     the files were removed,     fail, all together              fail, all together
///       and are replaced
///     another process has the     fail, with all writes           fail, with all writes
///       lock until the deadline     that wait                       that wait
///     anything else               fail                            fail
///
/// A write never fails because of the writes that are committed with it: where the table says
/// "fail", the committer commits the operations of a group one by one, each with attempts of its
/// own. If one of them finds the lock taken until the deadline, or the directory gone, those after
/// it fail with the same error.
///
/// *Stale*: another process has switched to another generation. *Budget deadlock*: a write that
/// fits an empty cache does not fit, although nothing can be evicted, nothing is pinned, there are
/// neither optimistic changes nor operations of outboxes, and no reader keeps pages. On a full
/// disk, which limits the map to the file, that is no reason to begin with an empty file.
enum CommitPolicy {
    /// Why a commit failed, as far as the next step depends on it.
    enum Failure: Equatable {
        /// The transaction would copy `needed` pages, which is more than it may; nil if LMDB ran
        /// out of pages, because LMDB does not say how many it needed.
        case outOfPages(needed: Int?)
        case staleGeneration
        case budgetDeadlock
        case damaged
        case environmentClosed
        case environmentPanicked
        case mapResized
        case lockTimeout
        case diskFull
        case directoryGone
        case other

        /// - Parameter isLimitedToFile: Whether the map is limited to the file, because the disk is
        ///   full.
        init(_ error: any Error, isLimitedToFile: Bool = false) {
            switch error {
            case let error as NoRoom: self = .outOfPages(needed: error.pages)
            case is StaleGeneration: self = .staleGeneration
            case is BudgetDeadlock: self = isLimitedToFile ? .other : .budgetDeadlock
            case is CorruptMetadata: self = .damaged
            case let error as LMDBError:
                switch error.code {
                case .mapFull: self = .outOfPages(needed: nil)
                case .closed: self = .environmentClosed
                case .panic: self = .environmentPanicked
                case .mapResized: self = .mapResized
                case .busy: self = .lockTimeout
                case .diskFull: self = .diskFull
                default: self = error.isDamage ? .damaged : .other
                }
            case let error as CacheError where error.code == .directoryGone: self = .directoryGone
            default: self = .other
            }
        }
    }

    /// The steps that were taken so far for one group of operations.
    struct Attempts: Equatable {
        let operationCount: Int
        /// How often room was made in this generation.
        var roomMade = 0
        /// Whether the commit was retried in another generation.
        var hasChangedGeneration = false
        /// Whether the environment of the generation was reopened.
        var hasReopened = false
        /// Whether the commit was retried on a disk that was full.
        var hasRetried = false
        /// Whether the map was limited to the file.
        var hasLimited = false

        init(operationCount: Int) { self.operationCount = operationCount }

        /// Notes that a step was taken. In another generation every step may be taken again, except
        /// for a second change of generation.
        mutating func add(_ step: Step) {
            switch step {
            case .makeRoom: roomMade += 1
            case .reopen: hasReopened = true
            case .retryOnce: hasRetried = true
            case .limitToFile: hasLimited = true
            case .retry, .newGeneration:
                (hasChangedGeneration, hasReopened, roomMade) = (true, false, 0)
                (hasRetried, hasLimited) = (false, false)
            case .oneByOne, .fail: break
            }
        }
    }

    enum Step: Equatable {
        /// Evict and wait until a transaction can copy `needed` pages, then try again. `needed` is
        /// nil if the number is not known.
        case makeRoom(needed: Int?)
        /// Try again in the generation that is live now.
        case retry
        /// Open the environment again, then try again.
        case reopen
        /// Try again, without eviction: a disk that is full for a moment costs no records.
        case retryOnce
        /// Use only the pages that the file has, then try again: what does not fit is evicted.
        case limitToFile
        /// Replace the generation by an empty one, then try again.
        case newGeneration(GenerationHolder.Replacement)
        /// Commit the operations one by one.
        case oneByOne
        /// Report the error to the caller.
        case fail
    }

    /// How often room is made for one group of operations in one generation. What the commit copies
    /// besides them may grow meanwhile: accesses, evictions, a dictionary.
    static let roomLimit = 5

    static func step(after failure: Failure, _ attempts: Attempts) -> Step {
        let fail = attempts.operationCount > 1 ? Step.oneByOne : .fail
        switch failure {
        case .outOfPages(let needed):
            return attempts.roomMade < roomLimit ? .makeRoom(needed: needed) : fail
        case .staleGeneration:
            return attempts.hasChangedGeneration ? fail : .retry
        case .budgetDeadlock:
            return attempts.hasChangedGeneration ? fail : .newGeneration(.budgetDeadlock)
        case .damaged:
            return attempts.hasChangedGeneration ? fail : .newGeneration(.damaged)
        case .environmentClosed, .environmentPanicked, .mapResized:
            return attempts.hasReopened ? fail : .reopen
        case .lockTimeout, .directoryGone:
            // One by one, each operation would wait for the lock again. After the loss of the
            // directory, later ones would be made in the new generation without those before.
            return .fail
        case .diskFull:
            guard attempts.hasRetried else { return .retryOnce }
            return attempts.hasLimited ? fail : .limitToFile
        case .other:
            return fail
        }
    }
}

/// Thrown when another process has switched to another generation. Nothing was written.
struct StaleGeneration: Error {}

/// Thrown when nothing can be evicted, and a write that fits an empty cache does not fit.
struct BudgetDeadlock: Error {}

/// Thrown when the counters can't be read, so the commit can't give out handles.
struct CorruptMetadata: Error {}
