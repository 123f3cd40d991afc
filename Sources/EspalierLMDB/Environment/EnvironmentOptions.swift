extension Environment {
    /// How to open an environment.
    ///
    /// ```swift
    /// var options = Environment.Options(mapSize: 64 << 20)
    /// options.durability = .sync
    /// ```
    public struct Options: Sendable, Hashable {
        /// The size of the map in bytes, which is a hard limit on the file. It is rounded down to
        /// whole pages, and raised to the size that the file has already. All processes should use
        /// the same size.
        public var mapSize: Int
        /// The number of slots in the reader table. Only that of the process which opens the file
        /// first counts.
        public var maximumReaders = 510  // 12 processes with 40 readers each, in 32 KiB
        /// How long a commit waits for the disk.
        public var durability = Durability.noMetaSync
        /// Whether write transactions are refused, and nothing is created.
        public var isReadOnly = false
        /// How long an operation waits for a thread or a process that writes or opens the file. It
        /// then throws ``LMDBError/Code-swift.enum/busy``.
        public var lockDeadline = Duration.seconds(5)

        /// Makes options.
        ///
        /// - Parameters:
        ///   - mapSize: The size of the map in bytes.
        ///   - maximumReaders: The number of slots in the reader table.
        ///   - durability: How long a commit waits for the disk.
        ///   - isReadOnly: Whether write transactions are refused.
        ///   - lockDeadline: How long an operation waits for another writer.
        public init(
            mapSize: Int, maximumReaders: Int = 510, durability: Durability = .noMetaSync,
            isReadOnly: Bool = false, lockDeadline: Duration = .seconds(5)
        ) {
            self.mapSize = mapSize
            self.maximumReaders = maximumReaders
            self.durability = durability
            self.isReadOnly = isReadOnly
            self.lockDeadline = lockDeadline
        }
    }

    /// How long a commit waits for the disk. A process that is killed loses no commit, whatever the
    /// durability.
    ///
    /// Measured on ext4 with commits of 20 records: `sync` 543 microseconds, `noMetaSync` 364,
    /// `noSync` 62.
    public enum Durability: String, Sendable, CaseIterable, Codable {
        /// A power failure loses nothing.
        case sync
        /// A power failure can lose the last commit. The file stays intact.
        case noMetaSync
        /// A power failure can damage the file. The next open checks it.
        case noSync
    }

    /// Why a file may hold damage that its structure does not show.
    public enum Doubt: Sendable {
        /// The file had changed without LMDB, or its last pages may not have reached the disk.
        case changed
        /// The file was as LMDB had left it, but a process had ended without closing it. Most
        /// such processes were killed, which damages nothing.
        case unclosed
    }
}
