public import EspalierRecords

/// How a cache is opened.
///
/// Example: `Configuration(budget: .mebibytes(50))`.
public struct Configuration: Sendable, Hashable {
    public static let smallestBudget = ByteCount.mebibytes(1)
    public static let largestBudget = ByteCount.gibibytes(64)

    static func isSound(_ budget: ByteCount) -> Bool {
        (smallestBudget...largestBudget).contains(budget)
    }

    /// The most that the cache's directory may take, side files included. Applies when the cache is
    /// created; afterwards the budget stored in the cache does, which only `setBudget` changes.
    /// From 1 MiB to 64 GiB; default 50 MiB.
    public var budget = ByteCount.mebibytes(50)
    /// What survives a loss of power. Default `.noMetaSync`: the last commit may be missing, the
    /// file is intact.
    public var durability = Durability.noMetaSync
    /// Depth, nodes and bytes of one tree.
    public var limits = TreeLimits()
    /// Bytes of submitted writes that may wait for the writer. Default 64 MiB; a write counts as 1
    /// KiB until it is flattened.
    public var queueLimit = ByteCount.mebibytes(64)
    /// How what is written from now on is compressed. Default zstd at level 3.
    public var compression = Compression.standard

    public init(
        budget: ByteCount = .mebibytes(50), durability: Durability = .noMetaSync,
        limits: TreeLimits = TreeLimits(), queueLimit: ByteCount = .mebibytes(64),
        compression: Compression = .standard
    ) {
        self.budget = budget
        self.durability = durability
        self.limits = limits
        self.queueLimit = queueLimit
        self.compression = compression
    }
}
