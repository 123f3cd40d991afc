extension LMDBError {
    /// The closed set of outcomes a caller can act on.
    public enum Code: Sendable, Hashable {
        /// No page is left in the map. The transaction is void; nothing changed.
        case mapFull
        /// Every slot of the reader table belongs to a living reader.
        case readersFull
        /// Another process with the same identifier, in another container, uses the same directory.
        case readerSlotTaken
        /// The disk or the quota is full. The transaction is void; nothing changed.
        case diskFull
        case keyEmpty, keyTooLong, valueTooLong
        /// `append` was given a key that does not follow the last one. The transaction is still
        /// good.
        case outOfOrder
        /// The transaction changed more pages than LMDB can keep track of.
        case transactionTooLarge
        /// LMDB could not split a page: a defect of releases before 0.9.30 where pages are larger
        /// than 4 KiB.
        case pageFull
        /// The environment or the file is read-only.
        case notWritable
        case permissionDenied
        /// The directory, the file, or a guard that was not to be created does not exist.
        case notFound
        case missingKeyspace
        /// A symbolic link, a directory, a hard link or a device stands where a plain file should
        /// be.
        case badPath
        case corrupted, invalidFile, versionMismatch
        /// Another process opened the same file with a larger map.
        case mapResized
        /// LMDB refuses everything until the environment is closed and opened again.
        case panic
        case alreadyOpen, usedAfterFork, closed
        /// A snapshot or cursor outlived its transaction.
        case transactionEnded
        /// An earlier call of this transaction failed, so it cannot be committed.
        case transactionFailed
        /// The guard's lock was not free before the deadline, or transactions were still open that
        /// a new map has to wait for.
        case busy
        case outOfMemory, ioFailure
        /// Anything else; the number is an `errno` for the log and has no meaning to decide on.
        case other(Int32)
    }
}
