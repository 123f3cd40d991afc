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

    /// Nothing is moved past a submission that may not be dropped: a flush has to find what was submitted before it done.
    private mutating func coalesce(into displaced: inout Displaced) {
        var latest: [CoalescingKey: Submission] = [:]
        for index in waiting.indices.reversed() {
            if !waiting[index].isDroppable { latest.removeAll() }
            guard let key = waiting[index].coalescingKey else { continue }
            if let later = latest[key] {
                let old = waiting.remove(at: index)
                release(old)
                displaced.coalesced.append((old, later))
                standIns[later.sequence, default: []] += [old.sequence] + (standIns.removeValue(forKey: old.sequence) ?? [])
            } else {
                latest[key] = waiting[index]
            }
        }
    }

    private mutating func release(_ submission: Submission) {
        byteCount -= bytes.removeValue(forKey: submission.sequence) ?? 0
    }

    /// The next submissions to commit, oldest first.
    mutating func take(atMost count: Int) -> [Submission] {
        let taken = Array(waiting.prefix(count))
        waiting.removeFirst(taken.count)
        for submission in taken { release(submission) }
        return taken
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
