import EspalierLMDB
public import EspalierRecords

/// The reason why a cache could not be opened or a write could not be committed.
///
/// ```swift
/// do {
///     try await cache.set(message).committed
/// } catch let error where error.code == .pinnedFull {
///     cache.unpin("Feed:old")
/// }
/// ```
///
/// Reads never throw: they miss, with a reason.
public struct CacheError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure, for programs to act on.
    public enum Code: Sendable, Hashable {
        /// The budget is outside 1 MiB ... 64 GiB.
        case badBudget
        /// The compression level is outside 1 ... 12.
        case badCompression
        /// The directory holds no cache, and the call does not create one.
        case noCache
        /// The path is a file, a symbolic link, or a directory that belongs to another user or has
        /// a file of another user.
        case badDirectory
        /// The directory, or a file in it, was removed or renamed while the cache was open. An
        /// empty cache takes its place as soon as the directory can be made. What was written
        /// during the last second before may be lost although its tickets have succeeded.
        case directoryGone
        /// The directory can't be written, or the cache was opened to read only. Check the
        /// directory's owner and mode, or open it with ``Configuration/isReadOnly``.
        case notWritable
        /// A newer version of the library wrote the cache. Update the library.
        case newerFormat
        /// The cache is encrypted with another key, it is encrypted and was opened without a key,
        /// or it is not encrypted and was opened with one. Nothing was changed. Open it with its
        /// key, or start anew: ``Encryption/whenKeyIsWrong``. Also thrown for an encrypted cache,
        /// and for every key, if the program was built without the trait `Encryption`.
        case wrongKey
        /// The cache is open in this process with another configuration.
        case alreadyOpen
        /// The cache was closed. Open it again.
        case closed
        /// The write does not fit in what the budget leaves free. Raise the budget.
        case full
        /// The write does not fit because a reader, of this or another process, keeps freed pages
        /// from being used again. Repeat the write when that read has ended.
        case pagesHeld
        /// Pinned records would take more than half the budget, or leave too little of it for the
        /// write. Unpin something, or raise the budget.
        case pinnedFull
        /// Pending optimistic changes would take more than an eighth of the budget. Confirm or roll
        /// back some of them first.
        case optimisticFull
        /// An optimistic change, or an operation of the outbox, with this identifier is pending
        /// already.
        case pendingChange
        /// Another call of ``Outbox/drain(retry:keysAtOnce:clock:judging:send:)`` sends the
        /// operations of the outbox.
        case draining
        /// The node to be evicted is pinned, or other records refer to it. Delete it instead.
        case referenced
        /// Another process has been writing or opening the cache for longer than
        /// ``Configuration/writeDeadline``, or reads did not end in time for the budget to be
        /// changed. Try again.
        case busy
        /// The cache's files are damaged. Opening the cache to write replaces it by an empty one.
        case damaged
        /// The disk is full.
        case diskFull
        /// The disk reported an input or output error. Check it; the write was dropped.
        case ioFailure
        /// One write takes more than its share of the budget, or than the limits of a tree.
        case treeTooLarge
        /// The model has no identifier and no key was given, or the identifier or key is empty.
        case noIdentifier
        /// The model could not be flattened.
        case notFlattened(FlattenError)
        /// The cache holds nothing under the identifier or key of the write.
        case notFound
        /// An index lies outside the collection.
        case outOfRange
        /// The sender of an edit expects another collection than the stored one.
        case outOfDate
        /// The queue of writes was full, and this write was the oldest that could be dropped.
        case dropped
        /// The closure of a transaction has thrown an error, so nothing of it is stored. The caller
        /// of the transaction gets that error; only statistics know this code.
        case rolledBack
        /// The write was not committed within the time given to
        /// ``WriteTicket/committed(timeout:)``. It goes on. No ticket ends with this code.
        case timedOut
        /// A read or an observer of misses waited for a write, which would wait for the read.
        case waitInsideRead
        /// LMDB or the file system failed; ``CacheError/cause`` says how.
        case storage
    }

    /// The kind of the failure.
    public let code: Code
    /// What went wrong and what to do. Contains no data of the caller's.
    public let message: String
    /// The error of LMDB or of the format that caused this one, if there is one.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}

// MARK: - Statistics

extension CacheError {
    /// Whether opening failed because of what the caller asked for, not because of the surroundings
    /// in which the program runs.
    var isCallersMistake: Bool {
        [.badBudget, .badCompression, .alreadyOpen, .noCache, .wrongKey, .waitInsideRead]
            .contains(code)
    }

    /// The name under which statistics count a failed write, and whether the cache gave the write
    /// up. Otherwise the write failed because of what its caller asked for.
    var writeFailure: (name: String, isGivenUp: Bool) {
        switch code {
        case .full: ("full", true)
        case .pagesHeld: ("pagesHeld", true)
        case .pinnedFull: ("pinnedFull", true)
        case .optimisticFull: ("optimisticFull", true)
        case .pendingChange: ("pendingChange", false)
        case .draining: ("draining", false)
        case .treeTooLarge: ("treeTooLarge", true)
        case .dropped: ("queueFull", true)
        case .diskFull: ("diskFull", true)
        case .ioFailure: ("ioFailure", true)
        case .damaged: ("damaged", true)
        case .storage: ("storage", true)
        case .busy: ("busy", true)
        case .directoryGone: ("directoryGone", true)
        case .badBudget: ("badBudget", false)
        case .badCompression: ("badCompression", false)
        case .badDirectory: ("badDirectory", false)
        case .alreadyOpen: ("alreadyOpen", false)
        case .closed: ("closed", false)
        case .timedOut: ("timedOut", false)
        case .newerFormat: ("newerFormat", false)
        case .noCache: ("noCache", false)
        case .noIdentifier: ("noIdentifier", false)
        case .notFlattened: ("notFlattened", false)
        case .notFound: ("notFound", false)
        case .notWritable: ("notWritable", false)
        case .outOfDate: ("outOfDate", false)
        case .outOfRange: ("outOfRange", false)
        case .referenced: ("referenced", false)
        case .rolledBack: ("rolledBack", false)
        case .waitInsideRead: ("waitInsideRead", false)
        case .wrongKey: ("wrongKey", false)
        }
    }
}

extension CacheError {
    /// Whether the other writes of a group fail for the same reason: each would wait for the lock
    /// again, or would be stored in the new directory although writes before it are lost.
    var failsAllThatWait: Bool { isLockTimeout || code == .directoryGone }

    /// Whether another process held the lock of the writer or of the guard until the deadline. The
    /// writes that wait would wait for the same lock.
    var isLockTimeout: Bool {
        guard let cause = cause as? LMDBError, cause.code == .busy else { return false }
        return cause.operation == .beginWrite || cause.operation == .lockGuard
    }
}

// MARK: - Errors of lower layers

extension CacheError {
    /// Creates the error of the cache that stands for `error`, which a lower layer threw.
    package init(_ error: any Error, budget: ByteCount? = nil) {
        switch error {
        case let error as CacheError: self = error
        case let error as FlattenError: self.init(flatten: error)
        case is BudgetDeadlock, is NoRoom: self = .full(budget ?? ByteCount(0))
        case is CorruptMetadata: self = .corruptMetadata()
        case is StaleGeneration:
            self.init(
                .busy,
                "Other processes have replaced the cache's file twice during the write. Try again.")
        case let error as LMDBError: self.init(lmdb: error, budget: budget)
        case let error as FormatError: self = .corruptMetadata(cause: error)
        default:
            self.init(.notFlattened(.modelFailed(type: "model", reason: "\(error)")), "\(error)")
        }
    }

    private init(flatten error: FlattenError) {
        switch error {
        case .treeTooLarge: self.init(.treeTooLarge, error.description)
        case .emptyIdentifier: self.init(.noIdentifier, error.description)
        default: self.init(.notFlattened(error), error.description)
        }
    }

    private init(lmdb error: LMDBError, budget: ByteCount?) {
        switch error.code {
        case .mapFull: self = .full(budget ?? ByteCount(0))
        case .diskFull:
            self.init(
                .diskFull, "The disk is full. Free some space; the write was dropped.", cause: error
            )
        case .ioFailure:
            self.init(
                .ioFailure,
                "The disk reported an input/output error. Check it; the write was dropped.",
                cause: error)
        case .closed: self = .closed
        case .usedAfterFork: self = .usedAfterFork
        case .busy:
            self.init(
                .busy,
                """
                Another process has been using the cache's files for longer than writeDeadline. \
                Nothing was written. Try again.
                """,
                cause: error)
        case .permissionDenied, .notWritable:
            self.init(
                .notWritable,
                "The directory or a file in it can't be written. Check its owner and mode.",
                cause: error)
        case .badPath:
            self.init(.badDirectory, "The path is not a directory of a cache.", cause: error)
        case .corrupted, .invalidFile, .versionMismatch, .missingKeyspace:
            self.init(
                .damaged,
                """
                The cache's files are damaged. Delete the directory, or open it to write, and \
                store anew.
                """,
                cause: error)
        case .tooManyFiles:
            self.init(
                .storage,
                """
                There are no file descriptors left. Close files and caches that are not needed, or \
                raise the limit of the process or of the system. An open cache needs seven file \
                descriptors.
                """,
                cause: error)
        default: self.init(.storage, "LMDB failed.", cause: error)
        }
    }
}

// MARK: - Messages

extension CacheError {
    static let dropped = CacheError(
        .dropped,
        """
        The queue of writes was full and this was the oldest. Write less often or raise queueLimit.
        """
    )

    static let closed = CacheError(.closed, "The cache is closed. Open it again.")

    static let timedOut = CacheError(
        .timedOut, "The write is not committed yet. It goes on; its ticket tells how it ends.")

    static let usedAfterFork = CacheError(
        .closed, "This process was forked after the cache was opened. Open it again in the child.")

    static let noCache = CacheError(.noCache, "There is no cache at this path.")

    /// - Parameter cause: The reason why the directory can't be made again, if it can't.
    static func directoryGone(cause: (any Error)?) -> CacheError {
        CacheError(
            .directoryGone,
            cause == nil
                ? """
                The cache's directory was removed or renamed while the cache was open. An empty \
                cache has taken its place; store anew.
                """
                : """
                The cache's directory was removed or renamed while the cache was open, and can't \
                be made again. Put it back, or close the cache and open another one.
                """,
            cause: cause)
    }

    /// - Parameter cause: Why the copy of the contents could not be written.
    static func contentsLost(cause: any Error) -> CacheError {
        CacheError(
            CacheError(cause).code,
            """
            The directory had no room for two files, and the new file could not be written after \
            the old one was deleted: the cache is empty. Store anew.
            """,
            cause: cause)
    }

    static let readOnly = CacheError(
        .notWritable, "The cache was opened to read only. Open it without isReadOnly to write.")

    static let noIdentifier = CacheError(
        .noIdentifier,
        """
        An identifier or key is missing or empty. Give the model an identifier, or store it under \
        a key.
        """
    )

    /// Names the type, because the compiler accepts a property of another name or type than
    /// `modelIdentifier: String?` without a warning and the model then has no identifier.
    static func noIdentifier<Model>(of type: Model.Type) -> CacheError {
        CacheError(
            .noIdentifier,
            """
            A model of type \(type) has no identifier. Give it a modelIdentifier of type String? \
            that is not empty, or store it under a key.
            """)
    }

    static func rolledBack(_ cause: any Error) -> CacheError {
        CacheError(
            .rolledBack, "The closure of the transaction has thrown an error. Nothing was stored.",
            cause: cause)
    }

    static func noModel(_ identifier: String) -> CacheError {
        CacheError(.notFound, "\(identifier) is not stored as this type. Store it first.")
    }

    static func unreadableCollection(_ reason: MissReason) -> CacheError {
        CacheError(.notFound, "The collection can't be read as this type: \(reason). Set it anew.")
    }

    static func optimisticFull(_ budget: ByteCount) -> CacheError {
        CacheError(
            .optimisticFull,
            """
            Optimistic changes would take more than an eighth of the budget of \(budget). Confirm \
            or roll back some of them first.
            """)
    }

    static let pendingChange = CacheError(
        .pendingChange,
        """
        An optimistic change with this identifier is pending. Confirm it or roll it back first, or \
        use another identifier.
        """)

    static let noChange = CacheError(
        .notFound,
        """
        No optimistic change with this identifier is pending. It was confirmed or rolled back \
        before, or it could not be applied.
        """)

    static let pendingOperation = CacheError(
        .pendingChange,
        """
        The outbox has an operation with this identifier already. Wait until it was sent, drop it, \
        or use another identifier.
        """)

    static let damagedFiles = CacheError(
        .damaged,
        """
        The cache's files are damaged. Open it to write, or delete the directory, and store anew.
        """)
    static let noOperation = CacheError(
        .notFound,
        """
        The outbox has no operation with this identifier. It was sent or dropped before, or it \
        could not be added.
        """)

    static let draining = CacheError(
        .draining,
        """
        Another call of drain sends the operations of this outbox, in this process or in another \
        one. One is enough: it also sends what is added meanwhile.
        """)

    static let referenced = CacheError(
        .referenced,
        """
        Other records refer to it, or it is pinned: evicting it would break their trees. Delete it \
        instead.
        """
    )

    static func badBudget(_ budget: ByteCount) -> CacheError {
        CacheError(.badBudget, "A budget of \(budget) is outside 1 MiB ... 64 GiB.")
    }

    static func badCompression(_ compression: Compression) -> CacheError {
        let levels = Compression.levels
        return CacheError(
            .badCompression,
            "\(compression) is outside the levels \(levels.lowerBound) ... \(levels.upperBound).")
    }

    static func corruptMetadata(cause: (any Error)? = nil) -> CacheError {
        CacheError(
            .damaged, "The cache's metadata is damaged. Empty the cache, or delete the directory.",
            cause: cause)
    }

    static func full(_ budget: ByteCount) -> CacheError {
        CacheError(
            .full,
            """
            The write does not fit in the budget of \(budget), even alone. Raise it with setBudget.
            """
        )
    }

    /// - Parameter process: The process whose read keeps the pages, if it is known.
    static func pagesHeld(_ process: Int32?) -> CacheError {
        CacheError(
            .pagesHeld,
            """
            The write does not fit while \(process.map { "process \($0)" } ?? "a reader") reads an \
            old state of the cache. It was dropped; writes succeed again when that read ends.
            """)
    }

    static func pinnedFull(_ budget: ByteCount) -> CacheError {
        CacheError(
            .pinnedFull,
            "Pinned records leave too little of the budget of \(budget). Unpin something.")
    }
}
