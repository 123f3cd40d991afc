import Testing

@testable import EspalierLMDB

@Suite("Errors")
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

    @Test("Each error has a message of its own, with operation and location")
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
        "EIO means a full disk for writes and a failing device for reads",
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
