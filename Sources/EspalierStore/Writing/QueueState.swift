import EspalierRecords

/// The queue of writes as a value: what enters, what gives way, what is next. No thread, no lock, no clock.
///
/// Order of submission is order of effect. Full, it lets later writes of an entry replace earlier ones, then drops the
/// oldest; it never makes a caller wait.
struct QueueState {
    private(set) var waiting: [Submission] = []
    private var bytes: [UInt64: Int] = [:]
    private(set) var byteCount = 0
    /// The sequence number of the last submission.
    private(set) var submitted: UInt64 = 0
    /// All up to this one are finished: committed, failed or dropped.
    private(set) var finished: UInt64 = 0
    var isClosed = false
    private var unfinished: Set<UInt64> = []
    /// Coalesced submissions by the one that stands for them: they are finished when it is, so that nobody who waits for
    /// them gets ahead of it.
    private var standIns: [UInt64: [UInt64]] = [:]
    /// The latest waiting write of each entry. Emptied by a submission that may not be dropped, past which nothing is moved:
    /// a flush has to find done what was submitted before it.
    private var latest: [CoalescingKey: UInt64] = [:]
    /// Waiting writes by the later one that makes them superfluous.
    private var superseded: [UInt64: UInt64] = [:]

    let limit: Int

    init(limit: Int) { self.limit = limit }

    /// What gave way to a submission.
    struct Displaced {
        /// Each with the later write that makes it superfluous.
        var coalesced: [(old: Submission, by: Submission)] = []
        var dropped: [Submission] = []
    }

    mutating func nextSequence() -> UInt64 {
        submitted += 1
        return submitted
    }

    mutating func add(_ submission: Submission) -> Displaced {
        note(submission)
        waiting.append(submission)
        unfinished.insert(submission.sequence)
        bytes[submission.sequence] = Submission.assumedBytes
        byteCount += Submission.assumedBytes
        return makeRoom()
    }

    /// A submission turned out to hold `count` bytes.
    mutating func measure(_ submission: Submission, bytes count: Int) -> Displaced {
        guard let known = bytes[submission.sequence] else { return Displaced() }
        bytes[submission.sequence] = count
        byteCount += count - known
        return makeRoom()
    }

    private mutating func makeRoom() -> Displaced {
        var displaced = Displaced()
        guard byteCount > limit else { return displaced }
        coalesce(into: &displaced)
        // The newest one always stays: a single write over the limit is for the limit on trees to refuse.
        while byteCount > limit, let oldest = waiting.dropLast().firstIndex(where: \.isDroppable) {
            let submission = waiting.remove(at: oldest)
            release(submission)
            finish([submission])
            displaced.dropped.append(submission)
        }
        return displaced
    }

    private mutating func note(_ submission: Submission) {
        guard submission.isDroppable else { return latest.removeAll() }
        guard let key = submission.coalescingKey else { return }
        if let old = latest.updateValue(submission.sequence, forKey: key) { superseded[old] = submission.sequence }
    }

    /// Costs what there is to coalesce, not the length of the queue: full, it comes here with every submission.
    private mutating func coalesce(into displaced: inout Displaced) {
        for (sequence, later) in superseded.sorted(by: { $0.key < $1.key }) {
            guard let old = index(of: sequence), let new = index(of: later) else { continue }
            let (submission, standIn) = (waiting[old], waiting[new])
            waiting.remove(at: old)
            release(submission)
            displaced.coalesced.append((submission, standIn))
            var stoodIn = standIns.removeValue(forKey: sequence) ?? []
            stoodIn.append(sequence)
            if let others = standIns[later] { stoodIn += others }
            standIns[later] = stoodIn
        }
    }

    /// The place of a waiting submission, by binary search.
    private func index(of sequence: UInt64) -> Int? {
        var range = waiting.startIndex..<waiting.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if waiting[middle].sequence == sequence { return middle }
            range = waiting[middle].sequence < sequence ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    private mutating func release(_ submission: Submission) {
        byteCount -= bytes.removeValue(forKey: submission.sequence) ?? 0
        superseded[submission.sequence] = nil
        if let key = submission.coalescingKey, latest[key] == submission.sequence { latest[key] = nil }
    }

    /// The next submissions to commit, oldest first.
    mutating func take(atMost count: Int) -> [Submission] {
        let taken = Array(waiting.prefix(count))
        waiting.removeFirst(taken.count)
        for submission in taken { release(submission) }
        return taken
    }

    /// Takes `submission` out if it is the next one, and all before it are finished.
    mutating func take(next submission: Submission) -> Bool {
        guard waiting.first === submission, finished + 1 == submission.sequence else { return false }
        waiting.removeFirst()
        release(submission)
        return true
    }

    /// Puts back what was taken and not committed.
    mutating func putBack(_ submissions: [Submission], bytes sizes: [Int]) {
        waiting.insert(contentsOf: submissions, at: 0)
        for (submission, size) in zip(submissions, sizes) {
            bytes[submission.sequence] = size
            byteCount += size
        }
    }

    mutating func finish(_ submissions: [Submission]) {
        for submission in submissions {
            unfinished.remove(submission.sequence)
            unfinished.subtract(standIns.removeValue(forKey: submission.sequence) ?? [])
        }
        // Few are ever unfinished below the last one finished, so this walks what was just finished.
        while finished < submitted, !unfinished.contains(finished + 1) { finished += 1 }
    }
}
