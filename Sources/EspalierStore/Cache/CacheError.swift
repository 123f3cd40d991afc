import EspalierLMDB
public import EspalierRecords

/// Why the cache could not do what was asked: opening it, or committing a write. A read never
/// throws; it misses.
public struct CacheError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is, to be acted on.
    public enum Code: Sendable, Hashable {
        /// The budget is outside 1 MiB ... 64 GiB.
        case badBudget
        /// The compression level is outside 1 ... 12.
        case badCompression
        /// There is no cache in the directory, and it was not to be made.
        case noCache
        /// The path is a file, a symbolic link, or a directory of somebody else.
        case badDirectory
        /// The directory can't be written.
        case notWritable
        /// The cache was written by a newer version of the library.
        case newerFormat
        /// The cache is open in this process with another configuration.
        case alreadyOpen
        /// The cache was closed.
        case closed
        /// The write does not fit in what the budget leaves free.
        case full
        /// The write does not fit because a reader, of this or another process, keeps what was
        /// freed from being used again.
        case pagesHeld
        /// What is pinned would take more than half the budget, or what it leaves does not suffice
        /// for the write.
        case pinnedFull
        /// What is to be evicted is pinned, or others refer to it.
        case referenced
        /// Readers did not end in time for the budget to be changed.
        case busy
        /// The cache's files are damaged; opened to be written, it would be replaced by an empty
        /// one.
        case damaged
        /// The disk is full.
        case diskFull
        /// A single write over its share of the budget.
        case treeTooLarge
        /// The model has no identifier, and no key was given; or the identifier or key is empty.
        case noIdentifier
        /// The model could not be flattened.
        case notFlattened(FlattenError)
        /// There is nothing under the identifier or key to change.
        case notFound
        /// An index outside the collection.
        case outOfRange
        /// An edit of a collection whose sender expects another one than is stored.
        case outOfDate
        /// The queue of writes was full, and this was the oldest.
        case dropped
        /// A write was waited for inside a read, or by an observer of misses.
        case waitInsideRead
        /// LMDB or the file system failed.
        case storage
    }

    public let code: Code
    /// What went wrong and what to do.
    public let message: String
    /// What LMDB said, if it was LMDB.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}

extension CacheError {
    static let dropped = CacheError(
        .dropped,
        "The queue of writes was full and this was the oldest. Write less often or raise queueLimit."
    )

    static let closed = CacheError(.closed, "The cache is closed. Open it again.")

    /// Under what a failed write is counted, if it was the cache that had to give it up, and not
    /// the caller who got it wrong.
    var dropReason: String? {
        switch code {
        case .full: "full"
        case .pagesHeld: "pagesHeld"
        case .pinnedFull: "pinnedFull"
        case .treeTooLarge: "treeTooLarge"
        case .dropped: "queueFull"
        case .diskFull: "diskFull"
        case .damaged: "damaged"
        case .storage: "storage"
        default: nil
        }
    }

    /// Whatever was thrown below, as an error of the cache.
    init(_ error: any Error, budget: ByteCount? = nil) {
        switch error {
        case let error as CacheError: self = error
        case let error as FlattenError: self.init(flatten: error)
        case is Committer.BudgetDeadlock, is NoRoom: self = .full(budget ?? ByteCount(0))
        case is Committer.CorruptMetadata:
            self.init(
                .damaged, "The cache's own books are damaged. Empty it, or delete the directory.")
        case is Committer.StaleGeneration:
            self.init(
                .busy, "Other processes have changed the cache's file twice meanwhile. Try again.")
        case let error as LMDBError: self.init(lmdb: error, budget: budget)
        case let error as FormatError:
            self.init(
                .damaged, "The cache's own books are damaged. Empty it, or delete the directory.",
                cause: error)
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
        case .closed: self = .closed
        case .permissionDenied, .notWritable:
            self.init(
                .notWritable,
                "The directory or a file in it can't be written. Check its owner and mode.",
                cause: error)
        case .badPath:
            self.init(
                .badDirectory, "The path leads to something that is no directory of a cache.",
                cause: error)
        case .corrupted, .invalidFile, .versionMismatch, .missingKeyspace:
            self.init(
                .damaged,
                "The cache's files are damaged. Delete the directory, or open it to write, and store anew.",
                cause: error)
        default: self.init(.storage, "LMDB failed.", cause: error)
        }
    }

    static func badBudget(_ budget: ByteCount) -> CacheError {
        CacheError(.badBudget, "A budget of \(budget) is outside 1 MiB ... 64 GiB.")
    }

    static func badCompression(_ compression: Compression) -> CacheError {
        let levels = Compression.levels
        return CacheError(
            .badCompression,
            "\(compression) is outside the levels \(levels.lowerBound) ... \(levels.upperBound).")
    }

    static func pagesHeld(_ process: Int32?) -> CacheError {
        CacheError(
            .pagesHeld,
            """
            The write does not fit while \(process.map { "process \($0)" } ?? "a reader") reads an old state of the cache. \
            It was dropped; writes succeed again when that read ends.
            """)
    }

    static func pinnedFull(_ budget: ByteCount) -> CacheError {
        CacheError(
            .pinnedFull,
            "What is pinned leaves too little of the budget of \(budget). Unpin something.")
    }

    static let referenced = CacheError(
        .referenced,
        "Others refer to it, or it is pinned: without it their trees would be broken. Delete it instead."
    )

    static func full(_ budget: ByteCount) -> CacheError {
        CacheError(
            .full,
            "The write does not fit in the budget of \(budget), even alone. Raise it with setBudget."
        )
    }
}
