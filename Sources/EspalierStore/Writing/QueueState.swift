import EspalierRecords

/// The queue of writes as a value: what enters, what gives way, what is next. No thread, no lock,
/// no clock.
///
/// Order of write is order of effect. Full, it lets later writes of an entry replace earlier ones,
/// then drops the oldest; it never makes a caller wait.
struct QueueState {
    private(set) var waiting: [PendingWrite] = []
    private var bytes: [UInt64: Int] = [:]
    private(set) var byteCount = 0
    /// The sequence number of the last write.
    private(set) var submitted: UInt64 = 0
    /// All up to this one are finished: committed, failed or dropped.
    private(set) var finished: UInt64 = 0
    var isClosed = false
    private var unfinished: Set<UInt64> = []
    /// Coalesced writes by the one that stands for them: they are finished when it is, so that
    /// nobody who waits for them gets ahead of it.
    private var standIns: [UInt64: [UInt64]] = [:]
    /// The latest waiting write of each entry. Emptied by a write that may not be dropped, past
    /// which nothing is moved: a flush has to find done what was submitted before it.
    private var latest: [CoalescingKey: UInt64] = [:]
    /// Waiting writes by the later one that makes them superfluous.
    private var superseded: [UInt64: UInt64] = [:]

    let limit: Int

    init(limit: Int) { self.limit = limit }

    /// What gave way to a write.
    struct Displaced {
        /// Each with the later write that makes it superfluous.
        var coalesced: [(old: PendingWrite, by: PendingWrite)] = []
        var dropped: [PendingWrite] = []
    }

    mutating func nextSequence() -> UInt64 {
        submitted += 1
        return submitted
    }

    mutating func add(_ write: PendingWrite) -> Displaced {
        note(write)
        waiting.append(write)
        unfinished.insert(write.sequence)
        bytes[write.sequence] = PendingWrite.assumedBytes
        byteCount += PendingWrite.assumedBytes
        return makeRoom()
    }

    /// A write turned out to hold `count` bytes.
    mutating func measure(_ write: PendingWrite, bytes count: Int) -> Displaced {
        guard let known = bytes[write.sequence] else { return Displaced() }
        bytes[write.sequence] = count
        byteCount += count - known
        return makeRoom()
    }

    private mutating func makeRoom() -> Displaced {
        var displaced = Displaced()
        guard byteCount > limit else { return displaced }
        coalesce(into: &displaced)
        // The newest one always stays: a single write over the limit is for the limit on trees to
        // refuse.
        while byteCount > limit, let oldest = waiting.dropLast().firstIndex(where: \.isDroppable) {
            let write = waiting.remove(at: oldest)
            release(write)
            finish([write])
            displaced.dropped.append(write)
        }
        return displaced
    }

    private mutating func note(_ write: PendingWrite) {
        guard write.isDroppable else { return latest.removeAll() }
        guard let key = write.coalescingKey else { return }
        if let old = latest.updateValue(write.sequence, forKey: key) {
            superseded[old] = write.sequence
        }
    }

    /// Costs what there is to coalesce, not the length of the queue: full, it comes here with every
    /// write.
    private mutating func coalesce(into displaced: inout Displaced) {
        for (sequence, later) in superseded.sorted(by: { $0.key < $1.key }) {
            guard let old = index(of: sequence), let new = index(of: later) else { continue }
            let (write, standIn) = (waiting[old], waiting[new])
            waiting.remove(at: old)
            release(write)
            displaced.coalesced.append((write, standIn))
            var stoodIn = standIns.removeValue(forKey: sequence) ?? []
            stoodIn.append(sequence)
            if let others = standIns[later] { stoodIn += others }
            standIns[later] = stoodIn
        }
    }

    /// The place of a waiting write, by binary search.
    private func index(of sequence: UInt64) -> Int? {
        var range = waiting.startIndex..<waiting.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if waiting[middle].sequence == sequence { return middle }
            range =
                waiting[middle].sequence < sequence
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    private mutating func release(_ write: PendingWrite) {
        byteCount -= bytes.removeValue(forKey: write.sequence) ?? 0
        superseded[write.sequence] = nil
        if let key = write.coalescingKey, latest[key] == write.sequence { latest[key] = nil }
    }

    /// The next writes to commit, oldest first.
    mutating func take(atMost count: Int) -> [PendingWrite] {
        let taken = Array(waiting.prefix(count))
        waiting.removeFirst(taken.count)
        for write in taken { release(write) }
        return taken
    }

    /// Takes `write` out if it is the next one, and all before it are finished.
    mutating func take(next write: PendingWrite) -> Bool {
        guard waiting.first === write, finished + 1 == write.sequence else { return false }
        waiting.removeFirst()
        release(write)
        return true
    }

    /// Puts back what was taken and not committed.
    mutating func putBack(_ writes: [PendingWrite], bytes sizes: [Int]) {
        waiting.insert(contentsOf: writes, at: 0)
        for (write, size) in zip(writes, sizes) {
            bytes[write.sequence] = size
            byteCount += size
        }
    }

    mutating func finish(_ writes: [PendingWrite]) {
        for write in writes {
            unfinished.remove(write.sequence)
            unfinished.subtract(standIns.removeValue(forKey: write.sequence) ?? [])
        }
        // Few are ever unfinished below the last one finished, so this walks what was just
        // finished.
        while finished < submitted, !unfinished.contains(finished + 1) { finished += 1 }
    }
}
