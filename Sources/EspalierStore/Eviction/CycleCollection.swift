import EspalierLMDB
import EspalierRecords
import Synchronization

// Records on a cycle that is not flagged never lose their last reference, and would never be
// evicted. Writes and reads flag the cycles that they meet. A scan of all records finds the others:
// in the background, a slice at a time, or all at once for a caller. The scan only flags. The
// evictor judges a flagged cycle when `recency` lists it first.

/// The records of an operation at which cycles may have no flag.
struct CycleSuspects {
    /// Records through which a new reference may have closed a cycle.
    var closing: [Handle] = []
    /// Records that a removed reference led to. They may lie on a cycle, or lead to one.
    var splitting: [Handle] = []
    /// Whether the operation has added a reference to a record.
    var hasNewReferences = false
}

extension CommitTransaction {
    /// Notes that a record has a new reference, which may have closed a cycle through it. The
    /// operation ends with a search.
    func suspectCycle(at handle: Handle) { cycleSuspects.closing.append(handle) }

    /// Notes that a reference to a record was removed. A cycle may have split into several, and the
    /// record may lie on one of them or lead to one. The operation ends with a search.
    func suspectSplit(at handle: Handle) { cycleSuspects.splitting.append(handle) }

    /// The most records that the search looks at for one suspect.
    private static let suspectLimit = 512
    /// The most records that the searches of one kind look at for all suspects of an operation.
    private static let operationLimit = 4_096

    /// Flags the cycles that an operation has closed, and those into which it has split a larger
    /// one.
    ///
    /// A cycle through a record that `recency` lists as on a cycle needs no other flag, so the
    /// first search stops at such records. An operation without a new reference closes no cycle.
    /// Every cycle that a new reference closes leads through the record that has it: if the search
    /// does not get to its end, that record gets the flag unseen. The evictor takes the flag away
    /// where it is wrong. So the more records refer to each other, the more of them are flagged,
    /// and the shorter the searches are.
    ///
    /// After a split the flagged record may lie on one part only, so the second search does not
    /// stop at flags. The scan for cycles finds those that lie beyond its limit.
    func flagSuspects(in transaction: borrowing WriteTransaction) throws {
        let suspects = cycleSuspects
        cycleSuspects = CycleSuspects()
        guard !suspects.closing.isEmpty || !suspects.splitting.isEmpty else { return }
        let closing = suspects.hasNewReferences ? suspects.closing : []
        var closed = CycleFinder()
        var flagged: Set<Handle> = []
        for handle in closing {
            let limit = min(Self.suspectLimit, Self.operationLimit - closed.lookCount)
            let isComplete =
                try limit > 0
                && closed.search(from: handle, limit: limit) { record in
                    try flagged.contains(record)
                        || states.entry(record, in: transaction).isListedCycle
                        ? [] : records.children(of: record)
                }
            if !isComplete { flagged.insert(handle) }
        }
        var split = CycleFinder()
        for handle in suspects.splitting {
            let limit = Self.operationLimit - split.lookCount
            guard limit > 0 else { break }
            split.search(from: handle, limit: limit) { records.children(of: $0) }
        }
        flagged.formUnion(closed.found)
        // A search may have stopped at a flag that is wrong, in front of a closed cycle.
        if !flagged.isEmpty || !closing.isEmpty { knownCycles.noteNewCycle() }
        for handle in flagged.union(split.found).sorted() {
            // A write and a removed reference count as an access to all below.
            try states.flagCycle(at: handle, isAccess: true, in: transaction)
            try states.unblockCycle(at: handle, in: transaction)
        }
    }
}

/// A scan of all records for cycles without a flag, a slice at a time.
///
/// It misses a cycle that is closed among records it has passed; the next scan finds that cycle.
struct CycleScan {
    /// The number of records from which one slice starts.
    static let sliceCount = 256

    /// The record at which the next slice begins; nil at the end.
    private(set) var next: Handle?
    /// The records of the last slice that lie on cycles and are not flagged yet.
    private(set) var found: [Handle] = []
    /// The records of the last slice that lie on cycles and are blocked, if they may be so for no
    /// reason: a detachment may have split their cycle.
    private(set) var blocked: [Handle] = []

    init(from start: Handle = Handle(1)) { next = start }

    /// Scans the records from `next` on, and what can be reached from them.
    ///
    /// The scan may wrongly find or miss a cycle that a commit opens or closes between two of its
    /// reads. The evictor judges each cycle before it evicts it, and the next scan finds a missed
    /// one.
    mutating func scanSlice(of generation: Generation) throws {
        guard let start = next else { return }
        var reads = try ShortReads(of: generation)
        var starts: [Handle] = []
        next = nil
        try reads.stored.forEachHandle(from: start) { handle in
            guard starts.count < Self.sliceCount else {
                next = handle
                return false
            }
            starts.append(handle)
            return true
        }
        var search = CycleFinder()
        for handle in starts {
            try search.search(from: handle, limit: EvictionPolicy.searchLimit) {
                try reads.children(of: $0)
            }
        }
        (found, blocked) = ([], [])
        for handle in search.found.sorted() {
            let state = try reads.state(of: handle)
            if state?.mayBeFlagged ?? true { found.append(handle) }
            if generation.hasDetached, state?.isBlockedCycle == true { blocked.append(handle) }
        }
    }
}

/// Reads that end soon, because a full cache can't use the pages again that are freed during a
/// read. Confined to one thread.
private struct ShortReads: ~Copyable {
    /// The most records that one read visits.
    private static let recordsOfRead = 256
    /// How long a read lasts. A busy machine may take long for few records, and a write waits for
    /// reads only so long.
    private static let lengthOfRead = Duration.milliseconds(2)

    private let generation: Generation
    private var transaction: ReadTransaction
    private(set) var stored: StoredRecords
    private var count = 0
    private var end = ContinuousClock.now + lengthOfRead

    init(of generation: Generation) throws {
        let transaction = try generation.environment.beginRead()
        stored = try StoredRecords(transaction.snapshot, generation)
        self.generation = generation
        self.transaction = transaction
    }

    mutating func children(of handle: Handle) throws -> [Handle] {
        try advance()
        return stored.children(of: handle)
    }

    /// Returns the state of a record; nil if it can't be read.
    mutating func state(of handle: Handle) throws -> StateEntry? {
        try advance()
        return try? transaction.state(generation.keyspaces, of: handle)
    }

    private mutating func advance() throws {
        count += 1
        let isLong = count.isMultiple(of: 16) && ContinuousClock.now >= end
        guard isLong || count == Self.recordsOfRead else { return }
        transaction = try generation.environment.beginRead()
        stored = try StoredRecords(transaction.snapshot, generation)
        count = 0
        end = .now + Self.lengthOfRead
    }
}

/// How far one slice of a scan got.
struct ScanProgress: Hashable, Sendable {
    let generation: String
    /// The handle at which the slice began.
    let start: UInt64
    /// The handle at which the next slice begins; 0 at the end of the records.
    let reached: UInt64
    /// How many records the slice found.
    let found: Int

    var isEnd: Bool { reached == 0 }
}

extension CommitTransaction {
    /// Stores how far the scan for cycles is. Begins a new scan when one is due.
    func advanceScan(by progress: ScanProgress?) {
        if let progress { counters.cycleScanHandle = progress.reached }
        let written = counters.bytesWritten &- counters.cyclesCollectedAt
        guard counters.cycleScanHandle == 0, written >= UInt64(generation.budget.bytes) else {
            return
        }
        counters.cyclesCollectedAt = counters.bytesWritten
        counters.cycleScanHandle = 1
    }
}

/// The records that were found on cycles, until a commit has flagged them, and the scan that finds
/// them in the background.
///
/// A scan begins each time as many bytes as the budget have been written, and is spread over the
/// next quarter of that. The stored counters say how far it is, so it continues after reopening:
///
///     progress        a commit takes how far the last slice got, and stores it
///     finish          the commit has succeeded; if it fails, the next one stores the same
///     continueScan    after a commit, the next slice starts if it is due
///     scanSlice       the thread scans it, and `flag` keeps what it found for the next commit
///
/// Threading: `flag` is safe from every thread; the rest is for the thread that commits.
final class CycleCollector: Sendable {
    /// A scan is spread over the budget's bytes divided by this number.
    private static let budgetShare = 4
    /// The most flags that one commit sets for a caller: no more than the ``PagePlan/touchLimit``
    /// of even the smallest cache.
    fileprivate static let flagsOfCommit = 12

    // immutable
    private let statistics: StatisticsRecorder
    private let thread = WorkerThreads(name: "espalier-cycles", limit: 1)

    // protected by `state`
    private struct State {
        /// Whether a slice is being scanned on the thread.
        var isScanning = false
        /// How far the last slice got, until a commit has stored it.
        var progress: ScanProgress?
        /// The generation that `found` and `bytesWritten` belong to.
        var generation = ""
        /// Records that the scan has found so far.
        var found = 0
        /// The value of the counter of bytes written when the last slice began.
        var bytesWritten: UInt64 = 0
    }
    private let state = Mutex(State())

    // protected by itself
    /// Records found on cycles, by generation, until a commit has flagged them.
    private let unflagged = Mutex<[String: Set<Handle>]>([:])

    init(_ statistics: StatisticsRecorder) { self.statistics = statistics }

    /// Ends the thread after the slice that it is scanning.
    func close() { thread.close() }

    // MARK: Flags

    /// Adds records that were found to lie on cycles. The next commit flags them, and lists them
    /// again if they are blocked.
    func flag(_ handles: some Sequence<Handle>, in generation: Generation) {
        let handles = Set(handles)
        guard !handles.isEmpty else { return }
        unflagged.withLock { $0[generation.name, default: []].formUnion(handles) }
    }

    /// Returns at most `count` records for a commit to flag. They stay here until `removeFlagged`.
    func unflagged(atMost count: Int, in generation: Generation) -> Set<Handle> {
        Set(unflagged.withLock { $0[generation.name] ?? [] }.prefix(count))
    }

    /// Removes records that a commit has flagged, and those of generations that are not live any
    /// more.
    func removeFlagged(_ handles: Set<Handle>, in generation: Generation) {
        unflagged.withLock {
            $0 = [generation.name: ($0[generation.name] ?? []).subtracting(handles)]
        }
    }

    // MARK: The scan

    /// Returns how far the last slice got, if it began at the handle where the stored counters say
    /// that the scan goes on. It stays here until `finish`. Otherwise the slice is out of date, of
    /// another generation or of another process's scan, and is dropped.
    func progress(from scanHandle: UInt64, in generation: Generation) -> ScanProgress? {
        state.withLock { state in
            let isValid =
                state.progress.map { ($0.generation, $0.start) == (generation.name, scanHandle) }
            if isValid == false { state.progress = nil }
            return state.progress
        }
    }

    /// Notes that a commit has stored how far a slice got.
    func finish(_ progress: ScanProgress?) {
        guard let progress else { return }
        let found = state.withLock { state in
            state.progress = nil
            state.found += progress.found
            defer { if progress.isEnd { state.found = 0 } }
            return state.found
        }
        if progress.isEnd { statistics.countCycleCollection(found: found) }
    }

    /// Starts the next slice if enough was written since the last one. Called after a commit.
    func continueScan(_ commit: CommitTransaction) {
        let counters = commit.counters
        guard counters.cycleScanHandle != 0 else { return }
        let generation = commit.generation
        let slices = max(1, Int(clamping: counters.nodes) / CycleScan.sliceCount)
        let pace = UInt64(generation.budget.bytes / Self.budgetShare / slices)
        let isDue = state.withLock { state in
            if state.generation != generation.name {
                (state.generation, state.found, state.bytesWritten) = (generation.name, 0, 0)
            }
            guard !state.isScanning, state.progress == nil,
                state.bytesWritten == 0 || counters.bytesWritten &- state.bytesWritten >= pace
            else { return false }
            state.isScanning = true
            state.bytesWritten = counters.bytesWritten
            return true
        }
        guard isDue else { return }
        let start = Handle(counters.cycleScanHandle)
        let isRunning = thread.run { [weak self] in self?.scanSlice(from: start, in: generation) }
        if !isRunning { keep(nil) }
    }

    /// Whether a slice is being scanned on the thread.
    var isScanning: Bool { state.withLock { $0.isScanning } }

    private func scanSlice(from start: Handle, in generation: Generation) {
        var scan = CycleScan(from: start)
        let isDone = (try? scan.scanSlice(of: generation)) != nil
        flag(scan.found + scan.blocked, in: generation)
        keep(
            isDone
                ? ScanProgress(
                    generation: generation.name, start: start.rawValue,
                    reached: scan.next?.rawValue ?? 0, found: scan.found.count) : nil)
    }

    /// Ends a slice. Keeps how far it got for the next commit; nil if the slice has failed.
    func keep(_ progress: ScanProgress?) {
        state.withLock { state in
            state.isScanning = false
            state.progress = progress
        }
    }
}

extension Committer {
    /// Scans all records at once, flags the cycles found, and repairs the index, for a caller.
    func collectCycles(_ generation: Generation) throws {
        var scan = CycleScan()
        var found = 0
        while scan.next != nil {
            try scan.scanSlice(of: generation)
            found += scan.found.count
            let flagged = scan.found + scan.blocked
            let step = CycleCollector.flagsOfCommit
            for start in stride(from: 0, to: flagged.count, by: step) {
                let end = min(start + step, flagged.count)
                logs.cycleCollector.flag(flagged[start..<end], in: generation)
                try commitMakingRoom([], in: generation)
            }
        }
        let repair = try generation.environment.read { try IndexRepair(in: $0, of: generation) }
        logs.statistics.countCycleCollection(found: found)
        try commitMakingRoom(repair.isEmpty ? [] : [.repair(repair)], in: generation)
    }
}
