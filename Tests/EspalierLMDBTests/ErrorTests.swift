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
        "A full disk is told as such, and an error of the disk as one",
        arguments: LMDBError.Operation.allCases)
    func diskFull(_ operation: LMDBError.Operation) {
        for number in [28, 27, 122] as [Int32] {
            #expect(LMDBError.Code(system: number, operation) == .diskFull)
        }
        #expect(LMDBError.Code(system: 5, operation) == .ioFailure)
        // LMDB returns EIO by itself when a full disk cuts a write short; `errno` is 0 then.
        #expect(LMDBCalls.code(5, operation, systemError: 5) == .ioFailure)
        #expect(
            LMDBCalls.code(5, operation, systemError: 0)
                == (operation.writesToDisk ? .diskFull : .ioFailure))
        #expect(LMDBError(.ioFailure, operation).message.contains("input/output error"))
    }
}
