import EspalierLMDB
public import EspalierRecords

/// The options with which a cache is opened.
///
/// ```swift
/// let configuration = Configuration(budget: .mebibytes(200), compression: .zstd(level: 9))
/// let cache = try NormalizedCache(directory: path, configuration: configuration)
/// ```
///
/// All `NormalizedCache` objects of a process that open the same directory must use equal
/// configurations; otherwise opening throws ``CacheError/Code-swift.enum/alreadyOpen``.
public struct Configuration: Sendable, Hashable {
    /// The smallest budget that a cache accepts: 1 MiB.
    public static let smallestBudget = ByteCount.mebibytes(1)
    /// The largest budget that a cache accepts: 64 GiB.
    public static let largestBudget = ByteCount.gibibytes(64)

    static func isValid(_ budget: ByteCount) -> Bool {
        (smallestBudget...largestBudget).contains(budget)
    }

    /// The most bytes that the cache's directory may take, side files included. Default: 50 MiB.
    ///
    /// The value applies when the cache is created. Afterwards the budget stored in the cache
    /// applies, which only ``NormalizedCache/setBudget(_:mayExceed:)`` changes. It must lie between
    /// ``smallestBudget`` and ``largestBudget``.
    public var budget = ByteCount.mebibytes(50)
    /// What a loss of power may cost. Default: ``Durability/noMetaSync``, with which the last
    /// commit may be missing and the file is intact.
    public var durability = Durability.noMetaSync
    /// The largest depth, number of nodes and number of bytes of one tree.
    public var limits = TreeLimits()
    /// How many bytes of submitted writes may wait to be committed. Default: 64 MiB.
    ///
    /// A write counts as 1 KiB until it is flattened. When the queue is full, the oldest writes
    /// that wait in it fail with ``CacheError/Code-swift.enum/dropped``.
    public var queueLimit = ByteCount.mebibytes(64)
    /// How records written from now on are compressed. Default: zstd at level 3.
    public var compression = Compression.standard
    /// How long an operation waits for another process that writes to the cache, opens it or
    /// replaces its file. Default: 5 seconds.
    ///
    /// A process that is stopped in the middle of a write would otherwise stop all others. When the
    /// time is over, the writes that wait fail with ``CacheError/Code-swift.enum/busy``, opening
    /// throws the same error, and a read that needs the lock is a miss.
    public var writeDeadline = Duration.seconds(5)
    /// What happens if the cache can't be opened. Default: ``FailurePolicy/throw``.
    public var onFailure = FailurePolicy.throw
    /// Whether the cache is only read. Nothing in its directory changes except the lock file, in
    /// which it registers its open reads if that file can be written. Default: false.
    ///
    /// Such a cache can be on a medium or in a directory that can't be written, and may belong to
    /// the superuser, who may read everybody's. Opening it creates nothing and repairs nothing,
    /// reads count as no access, and writes fail with ``CacheError/Code-swift.enum/notWritable``.
    /// Where the lock file can't be written, other processes do not see the reads: no process may
    /// write to the cache meanwhile.
    public var isReadOnly = false
    /// The keys of the cache. Default: `nil`, the cache is not encrypted.
    ///
    /// Encryption multiplies the time of a read by 1.2 to 1.4 for a tree that this process has read
    /// or written lately, and by 2.4 to 3.9 for another one. It multiplies the time of a write by
    /// 2.3 to 3.6 for a new tree, and by 1.3 to 1.9 for a stored one.
    public var encryption: Encryption?
    /// The most bytes of memory for records that were read lately, decompressed and verified.
    /// Default: 6 MiB, which hold some 35,000 records of 110 bytes.
    ///
    /// Records are compressed together, about eight at a time. A read finds such a block in memory,
    /// or decompresses it. With 0, every read decompresses its blocks. All reads of the process
    /// share the blocks, and a write makes none of them invalid.
    public var blockCache: ByteCount
    /// The most bytes of memory for trees that reads have decoded lately. Default: 8 MiB, which
    /// hold some 50 trees of 600 nodes.
    ///
    /// A tree that is read again and has not changed comes from there, without being decoded. After
    /// a write, a read decodes what has changed. With 0, every read decodes its tree.
    public var memoryBudget: ByteCount
    /// The most reads that run at the same time in the form that suspends. Default: 8.
    ///
    /// Each runs on a thread of its own, which starts when it is needed, so a short read does not
    /// wait behind long ones until there are as many of them. Reads that block run on the caller's
    /// thread and do not count.
    public var readerThreads: Int
    /// The clock that dates writes. Default: the system's. Tests use another one.
    ///
    /// If it is set back, the cache goes on counting from the time that it has reached.
    public var clock: WallClock
    /// How old any record may be for a read that accepts fresh records only, unless its type or its
    /// write says otherwise. Default: nil, so that records do not expire.
    ///
    /// With an age here, each record gets a date of its own, which takes about 8 bytes.
    public var maxAge: Duration?

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - budget: The most bytes that the directory may take, from 1 MiB to 64 GiB.
    ///   - durability: What a loss of power may cost.
    ///   - limits: The largest depth, number of nodes and number of bytes of one tree.
    ///   - queueLimit: How many bytes of submitted writes may wait to be committed.
    ///   - compression: How new records are compressed.
    ///   - writeDeadline: How long an operation waits for another process that writes.
    ///   - onFailure: What happens if the cache can't be opened.
    ///   - isReadOnly: Whether the cache is only read.
    ///   - encryption: The keys of the cache, or `nil` if it is not encrypted.
    ///   - blockCache: The most memory for decompressed records.
    ///   - memoryBudget: The most memory for decoded trees.
    ///   - readerThreads: The most suspended reads that run at the same time, at least 1.
    ///   - clock: The clock that dates writes.
    ///   - maxAge: How old any record may be, unless its type or its write says otherwise.
    public init(
        budget: ByteCount = .mebibytes(50), durability: Durability = .noMetaSync,
        limits: TreeLimits = TreeLimits(), queueLimit: ByteCount = .mebibytes(64),
        compression: Compression = .standard, writeDeadline: Duration = .seconds(5),
        onFailure: FailurePolicy = .throw, isReadOnly: Bool = false,
        encryption: Encryption? = nil, blockCache: ByteCount = .mebibytes(6),
        memoryBudget: ByteCount = .mebibytes(8), readerThreads: Int = 8,
        clock: WallClock = .system, maxAge: Duration? = nil
    ) {
        self.budget = budget
        self.durability = durability
        self.limits = limits
        self.queueLimit = queueLimit
        self.compression = compression
        self.writeDeadline = writeDeadline
        self.onFailure = onFailure
        self.isReadOnly = isReadOnly
        self.encryption = encryption
        self.blockCache = blockCache
        self.memoryBudget = memoryBudget
        self.readerThreads = readerThreads
        self.clock = clock
        self.maxAge = maxAge
    }
}

/// What happens if a cache can't be opened: its directory can't be made or written, belongs to
/// another user or has no room, or a newer version of the library has written it.
///
/// ```swift
/// let cache = try NormalizedCache(
///     directory: path, configuration: Configuration(onFailure: .missAlways))
/// if let failure = try cache.statistics().openingFailure { log("no cache: \(failure)") }
/// ```
///
/// An app runs without its cache, only more slowly. With ``missAlways`` it needs no second way
/// through its code for that.
public enum FailurePolicy: String, Sendable, Hashable, CaseIterable {
    /// Opening throws the ``CacheError``.
    case `throw`
    /// Opening returns a cache without files. Its reads miss with
    /// ``MissReason/unavailable(detail:)``, and its writes fail with the error, which
    /// ``CacheStatistics/openingFailure`` describes. It does not try to open the directory again:
    /// open another cache for that. Mistakes of the caller are thrown nevertheless: a wrong budget
    /// or level, another configuration than that of an open cache, a key that is not that of the
    /// cache, no cache where there must be one, and an opening that would wait for itself.
    case missAlways
}

/// A number of bytes.
///
/// ```swift
/// ByteCount.mebibytes(50).bytes == 52_428_800
/// ```
public struct ByteCount: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number of bytes.
    public let bytes: Int

    /// Creates a count of `bytes` bytes.
    public init(_ bytes: Int) { self.bytes = bytes }

    /// Returns `count` times 1,024 bytes.
    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(count << 10) }
    /// Returns `count` times 1,048,576 bytes.
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count << 20) }
    /// Returns `count` times 1,073,741,824 bytes.
    public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(count << 30) }

    public static func < (a: ByteCount, b: ByteCount) -> Bool { a.bytes < b.bytes }

    public var description: String { "\(bytes) bytes" }

    /// Reads a number of bytes that `encode(to:)` has written.
    public init(from decoder: any Decoder) throws {
        bytes = try decoder.singleValueContainer().decode(Int.self)
    }

    /// Writes the number of bytes, without a name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}

/// How new records are compressed.
///
/// ```swift
/// Configuration(compression: .zstd(level: 9))
/// ```
///
/// Records are compressed together, about eight at a time, to a third of their bytes. Records that
/// are already stored keep their compression, and stay readable with every setting, until they are
/// rewritten or ``NormalizedCache/compact(mayExceed:)`` runs.
public enum Compression: Sendable, Hashable {
    /// Stores records uncompressed: three times the bytes, and no time for compression.
    case none
    /// Compresses records by zstd, with a dictionary trained on the cache's own records. Levels
    /// reach from 1, the fastest, to 12, the smallest; 3 is the default.
    case zstd(level: Int)

    /// zstd at level 3.
    public static let standard = Compression.zstd(level: 3)
    /// zstd at level 1: compressing takes a quarter less time than with ``standard``, and records
    /// are a tenth larger.
    public static let fast = Compression.zstd(level: 1)

    /// The levels that ``zstd(level:)`` accepts.
    public static let levels = 1...12

    var isValid: Bool {
        guard case .zstd(let level) = self else { return true }
        return Self.levels.contains(level)
    }
}

/// What a loss of power may cost. A process that is killed loses no committed write, whichever case
/// is chosen.
public enum Durability: String, Sendable, CaseIterable, Codable {
    /// A loss of power costs no committed write.
    case sync
    /// A loss of power may cost the last commit; the file stays intact (0 of 3,400 simulated crash
    /// images were damaged). Commits take a third less time than with `sync`.
    case noMetaSync
    /// A loss of power may damage the file (59 % of the simulated crash images were damaged). For
    /// tests and benchmarks.
    case noSync

    var environment: Environment.Durability {
        switch self {
        case .sync: .sync
        case .noMetaSync: .noMetaSync
        case .noSync: .noSync
        }
    }
}
