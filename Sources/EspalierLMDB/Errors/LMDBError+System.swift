#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension LMDBError.Code {
    init(system number: Int32, _ operation: LMDBError.Operation) {
        switch number {
        case ENOSPC, EDQUOT, EFBIG: self = .diskFull
        case EIO: self = operation.writesToDisk ? .diskFull : .ioFailure
        case EROFS: self = .notWritable
        case EACCES, EPERM: self = .permissionDenied
        case ENOENT: self = .notFound
        case ELOOP, ENOTDIR, EISDIR, ESPIPE, EMLINK: self = .badPath
        // What LMDB answers when the reader's own slot is locked by somebody else with its process
        // identifier.
        case EAGAIN where operation == .beginRead: self = .readerSlotTaken
        case ENOMEM: self = .outOfMemory
        default: self = .other(number)
        }
    }
}

extension LMDBError {
    static func system(_ operation: Operation, file: StaticString = #fileID, line: UInt = #line)
        -> LMDBError
    {
        LMDBError(Code(system: errno, operation), operation, file: file, line: line)
    }
}
