#if CommandLine
import EspalierFixtures
import EspalierInspection
import EspalierLMDB
import EspalierStore

/// Derives findings from facts alone, so that every rule can be tested without a file.
struct Diagnosis {
    private(set) var findings: [Finding] = []

    /// The number of commits that a snapshot may be behind: a read lasts microseconds.
    private static let longLag: UInt64 = 1_000
    private static let nearlyFull = 0.9
    /// The number of pages above the watermark that a commit in progress may use.
    private static let slack = 64
    private static let nearlyPinned = 0.8

    /// File systems that do not share locks and memory maps between the machines that mount them.
    private static let remoteTypes: Set<String> = [
        "9p", "afs", "afpfs", "ceph", "cifs", "davfs", "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs",
        "glusterfs",
        "lustre",
        "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "vboxsf", "virtiofs", "webdav",
    ]
    private static let memoryTypes: Set<String> = ["ramfs", "tmpfs"]

    /// - Parameter history: The activity of the cache over its life.
    init(of surroundings: Surroundings, _ condition: CacheCondition?, history: CacheHistory? = nil)
    {
        if surroundings.machinePage != 4_096 {
            add(
                .problem, "page", "This system has pages of \(surroundings.machinePage) bytes.",
                "LMDB 0.9 is known to fail on pages larger than 4 KiB: test before relying on it.")
        }
        if let disk = surroundings.disk { add(disk) }
        if let history { add(history) }
        guard let condition else { return }
        if let free = surroundings.disk?.freeBytes { add(free: free, condition) }
        // Eviction did not bring the cache below its watermark.
        if condition.pages.used > condition.usablePages + Self.slack {
            add(
                .warning, "budget",
                """
                \(condition.pages.used) pages are used, and the cache evicts above \
                \(condition.usablePages).
                """,
                """
                Pins or a reader keep it from evicting. Unpin records, or raise the budget with \
                espalier budget.
                """)
        }
        if condition.isWriterBlocked == true {
            add(
                .warning, "writer",
                "Another process has kept the lock of the writer for more than a second.",
                """
                That process is stopped, or its commit waits for the disk. While it holds the \
                lock, writes of other processes fail after writeDeadline, five seconds by \
                default. In that process, CacheStatistics.writerBlockedFor says how long the \
                commit has lasted.
                """)
        }
        add(readers: condition.readers, slots: condition.readerSlots)
        if !condition.leftGenerations.isEmpty {
            add(
                .warning, "generations",
                "\(condition.leftGenerations.count) left behind by an interrupted switch.",
                "The next switch removes them; until then they take space beyond the budget.")
        }
    }

    private mutating func add(
        _ severity: Finding.Severity, _ about: String, _ detail: String, _ advice: String
    ) {
        findings.append(
            Finding(severity: severity, about: about, detail: detail, advice: advice))
    }

    mutating func add(unopenable message: String) {
        add(.problem, "cache", message, "Reads miss until it can be opened.")
    }

    mutating func add(_ repair: RepairOutcome) {
        guard repair.problemsAfter > 0 else { return }
        add(
            .problem, "repair",
            "Left after the repair: \(counted(repair.problemsAfter, "problem")).",
            "espalier verify lists them. Reads of these records miss until they are written again.")
    }

    private mutating func add(_ disk: Surroundings.Disk) {
        if let mount = disk.mount {
            if Self.remoteTypes.contains(mount.type) {
                add(
                    .problem, "file system", "\(mount.type) is a network file system.",
                    """
                    It does not share locks and memory maps, which can damage the cache. Use a \
                    local disk.
                    """)
            }
            if Self.memoryTypes.contains(mount.type) {
                add(
                    .warning, "file system", "\(mount.type) is in memory.",
                    "The cache is lost after a restart.")
            }
            if mount.isReadOnly {
                add(
                    .problem, "file system", "It is mounted read-only.",
                    "Nothing can be stored until it is writable.")
            }
        }
        if let mode = disk.mode, mode & 0o077 != 0 {
            let digits = String(mode & 0o7777, radix: 8)
            add(
                .warning, "permissions",
                "Other users may open the directory: its mode is \(digits).",
                "chmod 700 keeps the cache private.")
        } else if let mode = disk.mode, let earlier = disk.earlierMode, earlier & 0o077 != 0 {
            let (before, after) = (String(earlier & 0o7777, radix: 8), String(mode, radix: 8))
            add(
                .warning, "permissions",
                "Other users could open the directory: its mode was \(before), it is now \(after).",
                "Nothing is left to do. A program that copies the cache may have set the mode.")
        }
    }

    private mutating func add(free: Int, _ condition: CacheCondition) {
        let growth = condition.budget.bytes - condition.directoryBytes.bytes
        guard growth > free else { return }
        add(
            .warning, "disk",
            """
            \(SizeArgument.formatted(free)) are free, and the cache may grow by \
            \(SizeArgument.formatted(growth)).
            """,
            "Free some space, or writes will fail before the budget is used up.")
    }

    private mutating func add(_ history: CacheHistory) {
        let limit = history.budget.bytes / 2
        if Double(history.pinnedBytes.bytes) > Self.nearlyPinned * Double(limit) {
            add(
                .warning, "pins",
                """
                Pinned records take up to \(SizeArgument.formatted(history.pinnedBytes.bytes)) \
                of the \(SizeArgument.formatted(limit)) allowed.
                """,
                """
                Writes to them fail beyond that. Unpin records, or raise the budget with \
                espalier budget.
                """)
        }
        for (reason, count) in history.droppedWrites.sorted(by: { $0.key < $1.key }) {
            add(
                .warning, "writes",
                "\(counted(count, "write was", "writes were")) dropped: \(reason).",
                Self.advice(onDropped: reason))
        }
        for (reason, count) in history.generationsReplaced.sorted(by: { $0.key < $1.key }) {
            add(
                .warning, "generations",
                "Replaced by an empty one \(count == 1 ? "once" : "\(count) times"): \(reason).",
                """
                Its records were lost and must be fetched again. If it happens again, check \
                the disk.
                """)
        }
    }

    private static func advice(onDropped reason: String) -> String {
        switch reason {
        case "full":
            """
            Each was too large even alone. Store less at once, or raise the budget with espalier \
            budget.
            """
        case "treeTooLarge":
            """
            A write may take an eighth of the budget. Store it in parts, or raise the budget with \
            espalier budget.
            """
        case "pagesHeld": "A reader kept pages from being reused. Make sure that reads end."
        case "pinnedFull":
            """
            Pinned records left too little space. Unpin some, or raise the budget with espalier \
            budget.
            """
        case "queueFull":
            """
            Writes came faster than they could be committed. Write less often, or raise \
            queueLimit.
            """
        case "diskFull": "Free some space."
        case "ioFailure": "Check the disk."
        default: "espalier verify looks for damage."
        }
    }

    private mutating func add(readers: [Reader], slots: Int) {
        for reader in readers {
            guard let lag = reader.lag, lag > Self.longLag else { continue }
            add(
                .warning, "readers",
                "Process \(reader.processIdentifier) reads a snapshot \(lag) commits old.",
                """
                It keeps the pages that eviction frees from being reused. Let it finish, or \
                end it.
                """)
        }
        guard Double(readers.count) > Self.nearlyFull * Double(slots) else { return }
        add(
            .warning, "readers",
            "\(readers.count) of \(slots) slots of the reader table are in use.",
            "When all are in use, further reads miss. Close caches that processes do not need.")
    }
}

/// A problem or a warning, and what to do about it.
struct Finding: Sendable, Equatable {
    enum Severity: String, Sendable {
        /// The cache works, but may fail later.
        case warning
        /// The cache does not work, or can lose records.
        case problem
    }

    let severity: Severity
    /// The subject, in a word or two.
    let about: String
    let detail: String
    let advice: String
}

/// The facts about the past and the pins of a cache that a diagnosis needs.
struct CacheHistory: Sendable {
    var budget = ByteCount(0)
    /// An upper bound of the bytes of pinned records.
    var pinnedBytes = ByteCount(0)
    var droppedWrites: [String: Int] = [:]
    var generationsReplaced: [String: Int] = [:]

    init() {}

    init(of cache: NormalizedCache) throws {
        let statistics = try cache.statistics()
        budget = statistics.budget
        droppedWrites = statistics.droppedWrites
        generationsReplaced = statistics.generationsReplaced
        pinnedBytes = try cache.inspect { try $0.pinnedBytes }
    }
}
#endif
