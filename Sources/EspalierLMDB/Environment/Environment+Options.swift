extension Environment {
    /// How an environment is opened.
    ///
    /// ```swift
    /// var options = Environment.Options(mapSize: 64 << 20)
    /// options.durability = .sync
    /// ```
    ///
    /// Threading: a value. Cost: none. Errors: none; a map size below what the file already uses is
    /// raised to that.
    public struct Options: Sendable, Hashable {
        /// A hard limit on the file, in bytes, rounded down to whole pages. The same in every
        /// process.
        public var mapSize: Int
        /// Slots of the reader table. Counts only for whoever opens first.
        public var maximumReaders = 126
        public var durability = Durability.noMetaSync
        public var isReadOnly = false

        public init(
            mapSize: Int, maximumReaders: Int = 126, durability: Durability = .noMetaSync,
            isReadOnly: Bool = false
        ) {
            self.mapSize = mapSize
            self.maximumReaders = maximumReaders
            self.durability = durability
            self.isReadOnly = isReadOnly
        }
    }

    /// What a commit waits for. Killing the process loses nothing in any of them.
    public enum Durability: String, Sendable, CaseIterable, Codable {
        /// Nothing is lost when the power fails.
        case sync
        /// The last commit may be lost when the power fails; the file stays intact.
        case noMetaSync
        /// The file may be damaged when the power fails: check it before opening it again.
        case noSync
    }
}
