import EspalierFixtures
import EspalierLMDB
import EspalierStore

/// What is found wrong, from facts alone: every rule can be tried without a file.
struct Diagnosis {
    private(set) var findings: [Finding] = []

    /// Commits that a snapshot may be behind before it is worth a word: a read lasts microseconds.
    private static let longLag: UInt64 = 1_000
    private static let nearlyFull = 0.9
    /// Pages above the watermark that are no more than a commit on its way.
    private static let slack = 64
    private static let nearlyPinned = 0.8

    /// File systems whose locks and maps are not shared between the machines that mount them.
    private static let remoteTypes: Set<String> = [
        "9p", "afs", "afpfs", "ceph", "cifs", "davfs", "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs",
        "glusterfs",
        "lustre",
        "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "vboxsf", "virtiofs", "webdav",
    ]
    private static let memoryTypes: Set<String> = ["ramfs", "tmpfs"]

    /// `history` is what the cache has done over its life.
    init(of surroundings: Surroundings, _ condition: CacheCondition?, history: CacheHistory? = nil)
    {
        if surroundings.machinePage != 4_096 { add(machinePage: surroundings.machinePage) }
        if let disk = surroundings.disk { add(disk) }
        if let history { add(history) }
        guard let condition else { return }
        if let free = surroundings.disk?.freeBytes { add(free: free, condition) }
        add(condition.pages, usable: condition.usablePages)
        add(readers: condition.readers, slots: condition.readerSlots)
        if !condition.leftGenerations.isEmpty {
            findings.append(
                .warning(
                    "generations",
                    "\(condition.leftGenerations.count) left behind when a switch was cut short.",
                    "The next switch removes them; until then they take room beside the budget."))
        }
    }

    mutating func add(unopenable message: String) {
        findings.append(.problem("cache", message, "Reads miss until it can be opened."))
    }

    private mutating func add(machinePage: Int) {
        findings.append(
            .problem(
                "page", "This system has pages of \(machinePage) bytes.",
                "LMDB 0.9 is known to fail on pages larger than 4 KiB: try it before relying on it."
            ))
    }

    private mutating func add(_ disk: Surroundings.Disk) {
        if let mount = disk.mount {
            if Self.remoteTypes.contains(mount.type) {
                findings.append(
                    .problem(
                        "file system", "\(mount.type) is a network file system.",
                        "Locks and memory maps are not shared over it, and the cache can be damaged. Use a local disk."
                    )
                )
            }
            if Self.memoryTypes.contains(mount.type) {
                findings.append(
                    .warning(
                        "file system", "\(mount.type) is in memory.",
                        "The cache is gone after a restart."))
            }
            if mount.isReadOnly {
                findings.append(
                    .problem(
                        "file system", "It is mounted read-only.",
                        "Nothing can be stored until it is writable."))
            }
        }
        if let mode = disk.mode, mode & 0o077 != 0 {
            findings.append(
                .warning(
                    "permissions",
                    "Others may open the directory: its mode is \(String(mode & 0o7777, radix: 8)).",
                    "chmod 700 keeps what is cached private."))
        }
    }

    private mutating func add(free: Int, _ condition: CacheCondition) {
        let growth = condition.budget.bytes - condition.directoryBytes.bytes
        guard growth > free else { return }
        findings.append(
            .warning(
                "disk",
                "\(SizeArgument.formatted(free)) are free, and the cache may grow by \(SizeArgument.formatted(growth)).",
                "Free some space, or writes will fail before the budget is used."))
    }

    /// A full cache is nothing to complain about: it evicts. Unless it does not come down.
    private mutating func add(_ pages: PageUsage, usable: Int) {
        guard pages.used > usable + Self.slack else { return }
        findings.append(
            .warning(
                "budget", "\(pages.used) pages are used, and the cache evicts above \(usable).",
                "Something keeps it from evicting: pins, or a reader. Unpin something, or raise the budget: espalier budget."
            ))
    }

    private mutating func add(_ history: CacheHistory) {
        let limit = history.budget.bytes / 2
        if Double(history.pinnedBytes.bytes) > Self.nearlyPinned * Double(limit) {
            findings.append(
                .warning(
                    "pins",
                    """
                    Pinned records take up to \(SizeArgument.formatted(history.pinnedBytes.bytes)) of the \
                    \(SizeArgument.formatted(limit)) they may.
                    """,
                    "Writes to them fail beyond that. Unpin something, or raise the budget: espalier budget."
                ))
        }
        for (reason, count) in history.droppedWrites.sorted(by: { $0.key < $1.key }) {
            findings.append(
                .warning(
                    "writes",
                    "\(count) \(count == 1 ? "write was" : "writes were") dropped: \(reason).",
                    Self.advice(onDropped: reason)))
        }
        for (reason, count) in history.generationsReplaced.sorted(by: { $0.key < $1.key }) {
            findings.append(
                .warning(
                    "generations",
                    "Replaced by an empty one \(count == 1 ? "once" : "\(count) times"): \(reason).",
                    "What was stored before is fetched anew. If it goes on, look at the disk."))
        }
    }

    private static func advice(onDropped reason: String) -> String {
        switch reason {
        case "full":
            "They did not fit, even alone. Store less at once, or raise the budget: espalier budget."
        case "treeTooLarge":
            "A write takes an eighth of the budget at most. Store it in parts, or: espalier budget."
        case "pagesHeld": "A reader kept pages from being used again. See to it that reads end."
        case "pinnedFull":
            "What is pinned left too little room. Unpin something, or raise the budget: espalier budget."
        case "queueFull":
            "Writes came faster than they could be committed. Write less often, or raise queueLimit."
        case "diskFull": "Free some space."
        default: "espalier verify looks for damage."
        }
    }

    private mutating func add(readers: [Reader], slots: Int) {
        for reader in readers {
            guard let lag = reader.lag, lag > Self.longLag else { continue }
            findings.append(
                .warning(
                    "readers",
                    "Process \(reader.processIdentifier) reads a snapshot \(lag) commits old.",
                    "Pages that eviction frees can't be used again while it does. Let it finish, or end it."
                ))
        }
        guard Double(readers.count) > Self.nearlyFull * Double(slots) else { return }
        findings.append(
            .warning(
                "readers", "\(readers.count) of \(slots) slots of the reader table are taken.",
                "When all are, further reads miss. Close caches in processes that do not need them."
            ))
    }
}
