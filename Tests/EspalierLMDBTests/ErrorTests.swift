import Testing

@testable import EspalierLMDB

@Suite("errors")
struct ErrorTests {
    static let codes: [LMDBError.Code] = [
        .mapFull, .readersFull, .readerSlotTaken, .transactionTooLarge, .pageFull, .diskFull,
        .keyEmpty, .keyTooLong,
        .valueTooLong, .outOfOrder, .notWritable, .permissionDenied, .notFound, .missingKeyspace,
        .badPath, .corrupted,
        .invalidFile, .versionMismatch,
        .mapResized, .panic, .alreadyOpen, .usedAfterFork, .closed, .transactionEnded,
        .transactionFailed, .busy,
        .outOfMemory, .ioFailure, .other(99),
    ]

    @Test("each code has a message of its own, with operation and place")
    func messages() {
        let messages = Self.codes.map { LMDBError($0, .put).message }
        #expect(Set(messages).count == messages.count)
        let error = LMDBError(.mapFull, .commit)
        #expect(error.description.hasPrefix("commit: the map is full"))
        #expect(error.location.contains("ErrorTests.swift:"))
        #expect(error == LMDBError(.mapFull, .commit))
        #expect(error != LMDBError(.mapFull, .put))
    }

    @Test(
        "a cut-short write counts as a full disk, a failing read does not",
        arguments: LMDBError.Operation.allCases)
    func diskFull(_ operation: LMDBError.Operation) {
        for number in [28, 27, 122] as [Int32] {
            #expect(LMDBError.Code(system: number, operation) == .diskFull)
        }
        #expect(
            LMDBError.Code(system: 5, operation)
                == (operation.writesToDisk ? .diskFull : .ioFailure))
    }
}
