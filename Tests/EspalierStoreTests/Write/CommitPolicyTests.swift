import EspalierRecords
import Testing

@testable import EspalierLMDB
@testable import EspalierStore

@Suite("The policy of commits")
struct CommitPolicyTests {
    private typealias Failure = CommitPolicy.Failure
    private typealias Attempts = CommitPolicy.Attempts
    private typealias Step = CommitPolicy.Step

    private static let failures: [Failure] = [
        .outOfPages(needed: 12), .outOfPages(needed: nil), .staleGeneration, .budgetDeadlock,
        .damaged, .environmentClosed, .environmentPanicked, .mapResized, .lockTimeout, .diskFull,
        .directoryGone, .other,
    ]

    /// Attempts with every combination of steps.
    private static var allAttempts: [Attempts] {
        var allAttempts: [Attempts] = []
        for count in [1, 2, 64] {
            for roomMade in 0...CommitPolicy.roomLimit {
                for flags in 0..<16 {
                    var attempts = Attempts(operationCount: count)
                    attempts.roomMade = roomMade
                    attempts.hasChangedGeneration = flags & 1 != 0
                    attempts.hasReopened = flags & 2 != 0
                    attempts.hasLimited = flags & 4 != 0
                    attempts.hasRetried = flags & 8 != 0
                    allAttempts.append(attempts)
                }
            }
        }
        return allAttempts
    }

    /// The table in the comment of `CommitPolicy`.
    private static func expected(_ failure: Failure, _ attempts: Attempts) -> Step {
        let fail: Step = attempts.operationCount > 1 ? .oneByOne : .fail
        return switch failure {
        case .outOfPages(let needed):
            attempts.roomMade < 5 ? .makeRoom(needed: needed) : fail
        case .staleGeneration: attempts.hasChangedGeneration ? fail : .retry
        case .budgetDeadlock:
            attempts.hasChangedGeneration ? fail : .newGeneration(.budgetDeadlock)
        case .damaged: attempts.hasChangedGeneration ? fail : .newGeneration(.damaged)
        case .environmentClosed, .environmentPanicked, .mapResized:
            attempts.hasReopened ? fail : .reopen
        case .lockTimeout, .directoryGone: .fail
        case .diskFull:
            if !attempts.hasRetried {
                .retryOnce
            } else {
                attempts.hasLimited ? fail : .limitToFile
            }
        case .other: fail
        }
    }

    @Test("Every failure after every attempts leads to the step that the table says")
    func table() {
        var steps = 0
        for failure in Self.failures {
            for attempts in Self.allAttempts {
                #expect(
                    CommitPolicy.step(after: failure, attempts) == Self.expected(failure, attempts))
                steps += 1
            }
        }
        #expect(steps == 12 * 288)
    }

    @Test("A commit that fails again and again ends, whatever it fails for")
    func ends() {
        var known: [(attempts: Attempts, steps: Int)] = []
        /// Walks every sequence of failures. Returns the steps of the longest.
        func longest(from attempts: Attempts, _ depth: Int) -> Int {
            guard depth < 32 else {
                Issue.record("A commit is tried for ever")
                return 0
            }
            if let steps = known.first(where: { $0.attempts == attempts })?.steps { return steps }
            let steps = Self.failures.map { failure in
                let step = CommitPolicy.step(after: failure, attempts)
                guard step != .fail, step != .oneByOne else { return 1 }
                var attempts = attempts
                attempts.add(step)
                return 1 + longest(from: attempts, depth + 1)
            }.max()
            known.append((attempts, steps ?? 0))
            return steps ?? 0
        }
        for count in [1, 2] {
            let steps = longest(from: Attempts(operationCount: count), 0)
            // In each of two generations room is made five times, the environment is reopened
            // once, a full disk is tried again once and the map is limited once, between them the
            // generation changes, and the last step fails.
            #expect(steps == 2 * (CommitPolicy.roomLimit + 3) + 2)
        }
    }

    @Test("A write never fails for the sake of the writes that it is committed with")
    func groups() {
        // The lock of the writer and the directory are no matter of a single write: all of them
        // lack it.
        for failure in Self.failures where ![.lockTimeout, .directoryGone].contains(failure) {
            for attempts in Self.allAttempts where attempts.operationCount > 1 {
                #expect(CommitPolicy.step(after: failure, attempts) != .fail)
            }
        }
    }

    @Test("Errors are told apart by what follows them")
    func errors() {
        func failure(_ code: LMDBError.Code) -> Failure {
            Failure(LMDBError(code, .commit))
        }
        #expect(Failure(NoRoom(pages: 7)) == .outOfPages(needed: 7))
        #expect(Failure(StaleGeneration()) == .staleGeneration)
        #expect(Failure(BudgetDeadlock()) == .budgetDeadlock)
        #expect(Failure(CorruptMetadata()) == .damaged)
        #expect(Failure(CacheError.dropped) == .other)
        #expect(Failure(FormatError.truncated) == .other)
        #expect(failure(.mapFull) == .outOfPages(needed: nil))
        #expect(failure(.closed) == .environmentClosed)
        #expect(failure(.panic) == .environmentPanicked)
        #expect(failure(.mapResized) == .mapResized)
        #expect(failure(.busy) == .lockTimeout)
        #expect(failure(.diskFull) == .diskFull)
        for code: LMDBError.Code in [
            .corrupted, .invalidFile, .versionMismatch, .missingKeyspace, .pageFull,
        ] {
            #expect(failure(code) == .damaged)
        }
    }
}

@Suite("Making room")
struct RoomMakerTests {
    @Test("Room is waited for before it is taken from records")
    func steps() throws {
        for missing in [1, 10, 100] {
            for held in [0, 1, 10, 100, 1_000] {
                for recent in [0, 1, 10, 18, 100, 1_000] {
                    let free = FreePages(
                        neverAllocated: 0, reusable: 0, recent: recent, held: held)
                    let step = RoomMaker.step(missing: missing, free)
                    if held > 0 {
                        #expect(step == .waitForReader)
                    } else if recent >= min(missing + 8, FreePages.usefulRecent) {
                        #expect(step == .commitEmptyTransaction)
                    } else {
                        #expect(step == .evict)
                    }
                }
            }
        }
    }
}
