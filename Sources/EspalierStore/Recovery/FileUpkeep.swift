import EspalierLMDB
import EspalierRecords

/// When the writer takes care of the file while it is idle: it checks the structure in parts, and
/// repairs records once after the file was in doubt.
///
/// ```
///   the file had changed  repair, if the cache is small enough
///   a process had died    wait 10 s, then the same
///   last check + 1 h      256 pages, a pause of 250 ms, 256 pages, ... until all are checked
/// ```
///
/// 256 pages take up to 0.5 milliseconds, so a write waits no longer for a check than for another
/// write. A cache of 50 MiB is checked in 50 turns once an hour: 25 milliseconds, 0.001 % of the
/// time.
struct FileUpkeep {
    /// How many pages are checked in one turn: a mebibyte.
    static let pagesPerTurn = 256
    /// The time between two checks of the whole structure, by any process.
    static let interval = Duration.seconds(3_600)
    static let pause = Duration.milliseconds(250)
    /// How long an app has the writer for itself after it was killed: that seldom damages anything.
    static let calm = Duration.seconds(10)
    /// The most bytes in use that are repaired without being asked: writes wait meanwhile.
    /// `espalier doctor --repair` repairs larger caches.
    static let largestRepair = 16 << 20

    enum Duty { case repair, check }

    /// The name of the generation that the times apply to.
    private(set) var generation = ""
    private var mustRepair = false
    private var isChecking = false
    private(set) var deadline: ContinuousClock.Instant?

    /// What is due now.
    var duty: Duty? {
        guard let deadline, deadline <= .now else { return nil }
        return mustRepair ? .repair : .check
    }

    /// Begins to take care of a generation.
    ///
    /// - Parameters:
    ///   - age: The time since its structure was last checked.
    ///   - doubt: Why its records must be checked, if they must.
    mutating func follow(_ generation: String, age: Duration, _ doubt: Environment.Doubt?) {
        self.generation = generation
        mustRepair = doubt != nil
        isChecking = false
        deadline =
            switch doubt {
            case .changed: .now
            case .unclosed: .now + Self.calm
            case nil: .now + Self.wait(age)
            }
    }

    private static func wait(_ age: Duration) -> Duration { max(.seconds(1), interval - age) }

    mutating func finishRepair() {
        mustRepair = false
        deadline = .now + .seconds(1)
    }

    /// Returns whether to check some pages. A check that another process has completed meanwhile
    /// counts as one of this process.
    mutating func beginCheck(age: Duration) -> Bool {
        if !isChecking, age < Self.interval {
            deadline = .now + Self.wait(age)
            return false
        }
        isChecking = true
        return true
    }

    mutating func finishTurn(isComplete: Bool) {
        isChecking = !isComplete
        deadline = .now + (isComplete ? Self.interval : Self.pause)
    }

    /// Makes a check due, whatever the time of the last one.
    mutating func makeCheckDue() {
        isChecking = true
        deadline = .now
    }
}

extension Committer {
    /// Repairs what a verification finds: damaged records become lost, the index is completed, and
    /// references are counted anew. Does nothing to an intact cache. A record of a newer version
    /// stays, although it may be one whose version is damaged.
    ///
    /// - Throws: LMDB's `corrupted` if the structure is damaged, so that nothing can be repaired.
    /// - Complexity: Two walks of the cache if it is intact, otherwise four.
    func repair(_ generation: Generation) throws {
        try generation.environment.checkWholeStructure()
        // Blocks in memory would hide damage of the file.
        generation.blocks.removeAll()
        // A commit takes a part of the damaged records, so it may take several. After eight in a
        // row that have left as many, more of them would not help.
        var (fewest, attempts) = (Int.max, 0)
        while attempts < 8 {
            let found = try generation.environment.read { transaction in
                try Verifier.verify(transaction.snapshot, generation).isClean
                    ? nil
                    : (
                        try IndexRepair(in: transaction, of: generation),
                        try Self.damagedRecords(in: transaction, of: generation)
                    )
            }
            guard let (index, damaged) = found else { return }
            attempts = damaged.count < fewest ? 0 : attempts + 1
            fewest = min(fewest, damaged.count)
            _ = logs.damage.add(damaged, in: generation.name)
            try commitMakingRoom([.repair(index)], in: generation)
            if damaged.isEmpty { return }
        }
    }

    /// Returns the records that can't be read, and the handles that have no record although a
    /// record or a group of states names them. A commit leaves out tombstones and lost records.
    private static func damagedRecords(
        in transaction: borrowing ReadTransaction, of generation: Generation
    ) throws -> [Handle] {
        let (keyspaces, snapshot) = (generation.keyspaces, transaction.snapshot)
        let stored = try StoredRecords(snapshot, generation)
        var damaged: Set<Handle> = []
        var named: Set<Handle> = []
        var readable: Set<Handle> = []
        func read(_ handle: Handle) throws {
            do {
                let record = try stored.record(handle)
                try record?.checkValues()
                readable.insert(handle)
                named.formUnion(record?.children ?? [])
            } catch let error as FormatError {
                if !error.isNewer { damaged.insert(handle) }
            }
        }
        try stored.forEachHandle { handle in
            try read(handle)
            return true
        }
        try transaction.forEachState(keyspaces) { handle, _ in named.insert(handle) }
        for handle in named.subtracting(readable) {
            // A tombstone or a lost record needs no bytes.
            let flags = (try? snapshot.state(keyspaces, of: handle))??.flags ?? []
            guard flags.isDisjoint(with: [.tombstone, .lost, .pendingRemoval]) else { continue }
            try read(handle)
            if readable.remove(handle) != nil { damaged.insert(handle) }
        }
        return damaged.sorted()
    }
}

extension NormalizedCache {
    /// Repairs what ``verify()`` finds. Damaged records become lost; everything else stays.
    ///
    /// - Returns: A ticket that succeeds when the cache is repaired, or when it was intact.
    @discardableResult
    package func repair() -> WriteTicket {
        submit(isDroppable: false) { _ in .repairAll }
    }
}
