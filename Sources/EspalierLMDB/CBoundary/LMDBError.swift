#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An error of LMDB or of the file system below it.
///
/// ```swift
/// do {
///     try transaction.put(nodes, handle, bytes)
/// } catch where error.code == .mapFull {
///     // abort, evict, try again
/// }
/// ```
///
/// A missing key is never an error: lookups return `nil` or `false`. A programmer error traps.
/// Messages hold no keys, no values and no paths, so they may be logged anywhere.
///
/// - Complexity: Creating an error allocates nothing. ``description`` allocates a string.
public struct LMDBError: Error, Sendable, Equatable {
    /// The kind of failure. Base decisions on it.
    public let code: Code
    /// The operation that failed.
    public let operation: Operation
    private let file: StaticString
    private let line: UInt

    init(_ code: Code, _ operation: Operation, file: StaticString = #fileID, line: UInt = #line) {
        self.code = code
        self.operation = operation
        self.file = file
        self.line = line
    }

    /// Returns the error for the current `errno`.
    static func system(_ operation: Operation, file: StaticString = #fileID, line: UInt = #line)
        -> LMDBError
    {
        LMDBError(Code(system: errno, operation), operation, file: file, line: line)
    }

    /// The error of a check that finds a damaged file before LMDB opens it.
    static var damage: LMDBError { LMDBError(.corrupted, .prepareFiles) }

    /// The error of a write for which the disk has no room.
    package static var diskFull: LMDBError { LMDBError(.diskFull, .commit) }

    /// The place in this module that raised the error: `EspalierLMDB/GuardFile.swift:31`.
    public var location: String { "\(file):\(line)" }

    /// Returns whether code and operation are equal. The location does not count.
    public static func == (a: LMDBError, b: LMDBError) -> Bool {
        a.code == b.code && a.operation == b.operation
    }

    // MARK: Code

    /// The closed set of outcomes that a caller can act on.
    public enum Code: Sendable, Hashable {
        /// The map has no page left. The transaction is void and nothing has changed. Abort, remove
        /// entries in small transactions, try again.
        case mapFull
        /// Living readers hold all slots of the reader table.
        case readersFull
        /// A process with the same identifier in another container uses the same directory.
        case readerSlotTaken
        /// The disk or the quota is full. The transaction is void and nothing has changed.
        case diskFull
        /// The key has no bytes. The transaction is still good.
        case keyEmpty
        /// The key has more than ``Environment/maximumKeySize`` bytes. The transaction is still
        /// good.
        case keyTooLong
        /// The value has more than ``Environment/maximumValueSize`` bytes. The transaction is still
        /// good.
        case valueTooLong
        /// The key given to `append` does not follow the last key. The transaction is still good.
        case outOfOrder
        /// The transaction changed more pages than LMDB can track.
        case transactionTooLarge
        /// LMDB could not split a page. This is ITS#9806, a defect of releases before 0.9.30 where
        /// pages are larger than 4 KiB.
        case pageFull
        /// The environment or its file system is read-only.
        case notWritable
        /// The process may not use the directory or one of its files.
        case permissionDenied
        /// The directory or the file does not exist, or the guard file does not exist and should
        /// not be created.
        case notFound
        /// The file lacks a keyspace that a read-only `open` named.
        case missingKeyspace
        /// A symbolic link, a directory, a hard link or a device stands in the place of a plain
        /// file.
        case badPath
        /// The file is damaged. Replace it.
        case corrupted
        /// The file is not an LMDB file, or it was cut short. Replace it.
        case invalidFile
        /// An incompatible version of LMDB wrote the file. Replace it.
        case versionMismatch
        /// Another process opened the same file with a larger map. Call
        /// ``Environment/followMapSize(deadline:)``.
        case mapResized
        /// LMDB refuses all calls until the environment is closed and opened again.
        case panic
        /// The directory is already open in this process.
        case alreadyOpen
        /// The environment was opened before this process was forked.
        case usedAfterFork
        /// The environment was closed.
        case closed
        /// A snapshot, cursor or reader outlived its transaction.
        case transactionEnded
        /// An earlier call of this transaction failed, so it cannot be committed.
        case transactionFailed
        /// Another thread or process wrote, or held the guard's lock, for longer than the
        /// deadline, or open transactions delayed a resize beyond its deadline.
        case busy
        /// Memory or address space is exhausted.
        case outOfMemory
        /// The disk reported an input or output error.
        case ioFailure
        /// The process, or the system, has no file descriptors left.
        case tooManyFiles
        /// Any other `errno`. The number is for the log; do not decide on it.
        case other(Int32)

        /// Returns the code for an `errno`.
        init(system number: Int32, _ operation: Operation) {
            switch number {
            case ENOSPC, EDQUOT, EFBIG: self = .diskFull
            case EIO: self = .ioFailure
            case EMFILE, ENFILE: self = .tooManyFiles
            case EROFS: self = .notWritable
            case EACCES, EPERM: self = .permissionDenied
            case ENOENT: self = .notFound
            case ELOOP, ENOTDIR, EISDIR, ESPIPE, EMLINK: self = .badPath
            // LMDB returns this when another process with the same identifier has locked the byte
            // that stands for this process.
            case EAGAIN where operation == .beginRead: self = .readerSlotTaken
            case ENOMEM: self = .outOfMemory
            default: self = .other(number)
            }
        }
    }

    // MARK: Operation

    /// The operation during which an error occurred. The raw value is for messages.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// Opening, closing, syncing or resizing an environment.
        case open, close, sync, resize
        /// Opening or creating a keyspace.
        case openKeyspace = "open keyspace"
        /// Checking and preparing `data.mdb` and `lock.mdb` before LMDB opens them.
        case prepareFiles = "prepare files"
        /// Beginning a read transaction.
        case beginRead = "begin read"
        /// Beginning a write transaction.
        case beginWrite = "begin write"
        /// A call of a transaction.
        case get, put, append, delete, commit, statistics
        /// Opening or moving a cursor.
        case cursor = "move cursor"
        /// Listing the reader table.
        case listReaders = "list readers"
        /// Freeing the reader slots of dead processes.
        case clearReaders = "clear stale readers"
        /// Opening or creating the guard file.
        case openGuard = "open guard file"
        /// Acquiring the lock of the guard file.
        case lockGuard = "lock guard file"

        /// Whether LMDB's EIO can mean a full disk: LMDB returns it when a full disk cuts a write
        /// short.
        var writesToDisk: Bool {
            switch self {
            case .open, .sync, .openKeyspace, .prepareFiles, .put, .append, .delete, .commit,
                .openGuard:
                true
            default: false
            }
        }
    }
}

extension LMDBError: CustomStringConvertible {
    /// The operation, the message and the location: for logs.
    public var description: String { "\(operation.rawValue): \(message) [\(location)]" }

    /// A sentence that says why the operation failed and how to recover.
    public var message: String {
        switch code {
        case .mapFull:
            "the map is full; abort, remove entries in small transactions, then try again"
        case .readersFull:
            "no reader slot is free; end reads sooner, or create the environment with more readers"
        case .readerSlotTaken:
            "another container uses this directory with our process identifier; give each its own"
        case .diskFull:
            "the disk or quota is full; drop the write and free space before writing again"
        case .keyEmpty: "a key must have at least one byte"
        case .keyTooLong:
            "a key may have at most \(Environment.maximumKeySize) bytes; shorten or hash it"
        case .valueTooLong: "the value exceeds Environment.maximumValueSize; store it in chunks"
        case .outOfOrder: "the key does not follow the last key of the keyspace; use put instead"
        case .transactionTooLarge:
            "too many changes for one transaction; abort and write in smaller ones"
        case .pageFull: "a page could not be split; drop the write, and link LMDB 0.9.30 or later"
        case .notWritable: "opened read-only, or on a read-only file system; open it writable"
        case .permissionDenied:
            "permission denied; the directory and its files must belong to this user"
        case .notFound:
            "no such file or directory; create the directory, or open with creation allowed"
        case .missingKeyspace:
            "a keyspace is missing; open writable once to create it, or recreate the file"
        case .badPath:
            "not a plain file of its own (link, directory or device); remove it and open again"
        case .corrupted: "the file is damaged; replace it"
        case .invalidFile: "not an LMDB file, or cut short; replace it"
        case .versionMismatch: "written by an incompatible LMDB; replace it"
        case .mapResized:
            "another process uses a larger map; follow it, or open with the same size everywhere"
        case .panic: "an earlier write failed half-way; close the environment and open it again"
        case .alreadyOpen: "this directory is open in this process; share that environment"
        case .usedAfterFork: "opened before fork; open it anew in the child"
        case .closed: "the environment was closed; open it again"
        case .transactionEnded:
            "its transaction has ended; use snapshots and cursors inside the transaction only"
        case .transactionFailed:
            "an earlier call in this transaction failed; nothing was written, start a new one"
        case .busy:
            """
            another thread or process holds the lock, or has not ended its transaction; \
            try again later
            """
        case .outOfMemory: "out of memory or address space; use a smaller map"
        case .ioFailure: "the disk reported an input/output error"
        case .tooManyFiles: "no file descriptors are left; close files, or raise the limit"
        case .other(let number): "system error \(number)"
        }
    }
}
