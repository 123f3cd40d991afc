import Dispatch
import EspalierRecords
import Synchronization

/// The rules of the write queue, as a value without threads, locks and clocks.
///
/// Writes take effect in the order of submission. A write never waits for room after it was
/// submitted. If the queue holds more bytes than its limit:
///
/// 1. A write is left out if a later one **overwrites all of it**: every node that it stores, as
///    the same types see it. Its ticket gets the result of the later write.
/// 2. Then the oldest writes that may be dropped are dropped, and their tickets fail.
///
/// A ticket therefore succeeds only if everything in its write was stored, or was overwritten by a
/// later write that was stored. The queue knows whether a write overwrites another once both are
/// flattened. Until then the pair is *undecided*, and the queue may hold twice its limit.
///
/// Every wait ends: each write is taken, left out or dropped, and `finished` passes a write when
/// that write, or the one that overwrites it, is finished.
struct WriteQueueRules {
    /// The writes that wait, in the order of submission.
    private(set) var waiting: [PendingWrite] = []
    private(set) var byteCount = 0
    /// The sequence number of the last write that was submitted.
    private(set) var submitted: UInt64 = 0
    /// Every write up to this number is finished: committed, failed or dropped.
    private(set) var finished: UInt64 = 0
    var isClosed = false
    let limit: Int

    /// The number of the oldest write that waits; the largest number if none does.
    var firstWaiting: UInt64 { waiting.first?.sequence ?? .max }

    /// The writes that were submitted and have no result yet.
    var unfinishedCount: Int { unfinished.count }

    private var bytes: [UInt64: Int] = [:]
    private var unfinished: Set<UInt64> = []
    /// The writes that were left out, by the number of the write that overwrites them. They finish
    /// with that write.
    private var overwritten: [UInt64: [PendingWrite]] = [:]
    /// The latest waiting write of each key. A write that may not be dropped empties this table: a
    /// flush must find everything before it done, so no pair may span it.
    private var latest: [CoalescingKey: UInt64] = [:]
    /// Waiting writes, each with the next one of the same key, which may overwrite it.
    private var successors: [UInt64: UInt64] = [:]
    /// The same pairs, by the later write.
    private var predecessors: [UInt64: UInt64] = [:]

    init(limit: Int) { self.limit = limit }

    /// What the driver of the rules has to do for a full queue.
    struct Overflow {
        /// Writes that were left out. The driver releases their models.
        var leftOut: [PendingWrite] = []
        /// Writes that were dropped. The driver makes their tickets fail.
        var dropped: [PendingWrite] = []
        /// Writes that have to be flattened before the queue can decide.
        var undecided: [PendingWrite] = []
    }

    mutating func nextSequence() -> UInt64 {
        submitted += 1
        return submitted
    }

    /// Adds a write.
    ///
    /// - Parameter known: The bytes that it holds, if that is known; otherwise `measure` says it.
    mutating func add(_ write: PendingWrite, byteCount known: Int = 0) -> Overflow {
        noteKey(of: write)
        waiting.append(write)
        unfinished.insert(write.sequence)
        let count = max(known, PendingWrite.assumedByteCount)
        bytes[write.sequence] = count
        byteCount += count
        return shrinkToLimit()
    }

    /// Notes how many bytes flattened writes hold.
    mutating func measure(_ flattened: [(write: PendingWrite, byteCount: Int)]) -> Overflow {
        for (write, count) in flattened {
            // A write may have left the queue meanwhile.
            guard let known = bytes[write.sequence] else { continue }
            bytes[write.sequence] = count
            byteCount += count - known
        }
        return shrinkToLimit()
    }

    private mutating func noteKey(of write: PendingWrite) {
        guard write.isDroppable else { return latest.removeAll() }
        guard let key = write.coalescingKey else { return }
        if let old = latest.updateValue(write.sequence, forKey: key) {
            successors[old] = write.sequence
            predecessors[write.sequence] = old
        }
    }

    private mutating func shrinkToLimit() -> Overflow {
        var overflow = Overflow()
        guard byteCount > limit else { return overflow }
        leaveOutOverwritten(into: &overflow)
        // An undecided write may be left out once its pair is flattened. The newest write stays,
        // because the limit of trees already refuses a single write that is too large.
        let allowed = overflow.undecided.isEmpty ? limit : 2 * limit
        while byteCount > allowed, let oldest = waiting.dropLast().firstIndex(where: \.isDroppable)
        {
            let write = waiting.remove(at: oldest)
            release(write)
            overflow.dropped += (overwritten[write.sequence] ?? []) + [write]
            finish([write])
        }
        return overflow
    }

    /// Leaves out the writes that their successors overwrite. Lists the writes of undecided pairs
    /// that have to be flattened.
    ///
    /// The cost grows with the number of pairs, not with the length of the queue, because a full
    /// queue calls this at every submission.
    private mutating func leaveOutOverwritten(into overflow: inout Overflow) {
        for sequence in successors.keys.sorted() {
            guard let successor = successors[sequence], let old = index(of: sequence),
                let new = index(of: successor)
            else { continue }
            let (write, later) = (waiting[old], waiting[new])
            switch later.overwrites(write) {
            case nil:
                overflow.undecided += [write, later].filter { !$0.isFlattened }
            case false?:
                successors[sequence] = nil
                predecessors[successor] = nil
            case true?:
                waiting.remove(at: old)
                release(write)
                overflow.leftOut.append(write)
                let leftOut = (overwritten.removeValue(forKey: sequence) ?? []) + [write]
                overwritten[successor, default: []] += leftOut
            }
        }
    }

    /// Returns the place of a waiting write, by binary search.
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

    /// Forgets the bytes and the key of a write that leaves `waiting`.
    private mutating func release(_ write: PendingWrite) {
        byteCount -= bytes.removeValue(forKey: write.sequence) ?? 0
        // The previous write of the key and the next one become a pair.
        let previous = predecessors.removeValue(forKey: write.sequence)
        let next = successors.removeValue(forKey: write.sequence)
        if let previous { successors[previous] = next }
        if let next { predecessors[next] = previous }
        if let key = write.coalescingKey, latest[key] == write.sequence { latest[key] = nil }
    }

    /// Removes the next writes to commit, the oldest first.
    mutating func take(atMost count: Int) -> [PendingWrite] {
        let taken = Array(waiting.prefix(count))
        waiting.removeFirst(taken.count)
        for write in taken { release(write) }
        return taken
    }

    /// Removes `write` if it is the next one and all before it are finished. Returns whether it
    /// did.
    mutating func take(next write: PendingWrite) -> Bool {
        guard waiting.first === write, finished + 1 == write.sequence else { return false }
        waiting.removeFirst()
        release(write)
        return true
    }

    /// Puts back writes that were taken and not committed. Those that were flattened meanwhile
    /// count with their measured size.
    mutating func putBack(_ writes: some Collection<PendingWrite>) {
        waiting.insert(contentsOf: writes, at: 0)
        for write in writes {
            let size = write.byteCount
            bytes[write.sequence] = size
            byteCount += size
        }
    }

    /// Returns a write together with the writes that it overwrites, oldest first: they share its
    /// result.
    func sharingResult(of write: PendingWrite) -> [PendingWrite] {
        (overwritten[write.sequence] ?? []) + [write]
    }

    /// Notes that writes are finished, and with them the writes that they overwrite.
    mutating func finish(_ writes: [PendingWrite]) {
        for write in writes {
            unfinished.remove(write.sequence)
            unfinished.subtract(
                (overwritten.removeValue(forKey: write.sequence) ?? []).map(\.sequence))
        }
        // The loop passes each sequence number only once.
        while finished < submitted, !unfinished.contains(finished + 1) { finished += 1 }
    }
}

/// The queue of writes: `WriteQueueRules` under a lock, with the threads that wait for it.
final class WriteQueue: Sendable {
    // protected by `state`
    private struct State {
        var rules: WriteQueueRules
        var waiters: [(upTo: UInt64, body: @Sendable () -> Void)] = []
        /// Whether the writer is waiting for the next submission and has no other work.
        var isWriterWaiting = false
        /// The writes that wait for room before they are submitted, the oldest first.
        var admissions: [Admission] = []
        var lastAdmission: UInt64 = 0
        /// The bytes of the writes that were admitted and not yet submitted.
        var reserved = 0
        /// The last write that was admitted and then submitted.
        var lastAdmitted: UInt64 = 0

        /// Whether a write of so many bytes has room. One that is larger than the limit has room in
        /// an empty queue.
        func hasRoom(for byteCount: Int) -> Bool {
            let used = rules.byteCount + reserved
            return used == 0 || used + byteCount <= rules.limit
        }

        /// Whether a write that waits for room is let in: if there is room, or if nothing waits any
        /// more that was submitted before it began to wait. Without the second rule, it would wait
        /// for as long as other writes keep the queue full. Those that may be dropped are then
        /// dropped for it. If none may, the queue holds one such write beyond its limit.
        func admits(_ admission: Admission) -> Bool {
            if hasRoom(for: admission.byteCount) { return true }
            return reserved == 0 && rules.firstWaiting > max(admission.after, lastAdmitted)
        }
    }

    /// A write that waits for room.
    private struct Admission {
        let number: UInt64
        let byteCount: Int
        /// The last write that was submitted before this one began to wait.
        let after: UInt64
        let body: @Sendable (Bool) -> Void
    }
    private let state: Mutex<State>

    // atomic
    /// Whether the writer has other work than to commit writes.
    private let isWoken = Atomic<Bool>(false)
    /// When the writer's sleep ends by itself, as `DispatchTime.uptimeNanoseconds`; 0 while the
    /// writer does not sleep. A sleep is timed by that clock, which stops while the device sleeps.
    private let sleepEnd = Atomic<UInt64>(0)

    // immutable
    /// Signalled once for every submission, for every `wakeWriter` and at closing.
    private let work = DispatchSemaphore(value: 0)
    private let failures: WriteFailures

    /// The stack that a thread needs to flatten a model. It is nearly the flattening thread's
    /// stack, so that the permitted depth of a model does not depend on the submitting thread.
    static let requiredStack = WorkerThreads.stackSize / 4 * 3

    init(limit: ByteCount, _ failures: WriteFailures) {
        self.failures = failures
        state = Mutex(State(rules: WriteQueueRules(limit: limit.bytes)))
    }

    // MARK: Submission

    /// Adds a write without waiting. If the queue is full and has to know whether one write
    /// overwrites another, flattens their models on the calling thread. Returns nil when the queue
    /// is closed.
    ///
    /// - Parameter reserved: The bytes with which the write was admitted; 0 if it was not.
    func submit(
        coalescingKey: CoalescingKey?, isDroppable: Bool, reserved: Int = 0,
        _ flatten: @escaping @Sendable () throws -> WriteOperation
    ) -> PendingWrite? {
        let added = state.withLock { state -> (PendingWrite, WriteQueueRules.Overflow)? in
            state.reserved -= reserved
            guard !state.rules.isClosed else { return nil }
            let write = PendingWrite(
                sequence: state.rules.nextSequence(), coalescingKey: coalescingKey,
                isDroppable: isDroppable, isFlattenedByWriter: state.isWriterWaiting,
                flatten: flatten)
            state.isWriterWaiting = false
            if reserved > 0 { state.lastAdmitted = write.sequence }
            // The reserved room stays taken until `measure` counts the bytes of the write.
            return (write, state.rules.add(write, byteCount: reserved))
        }
        guard let (write, overflow) = added else { return nil }
        work.signal()
        handle(overflow)
        return write
    }

    /// Flattens a write ahead of the writer.
    func flatten(_ write: PendingWrite) {
        guard let byteCount = write.flatten() else { return }
        handle(state.withLock { $0.rules.measure([(write, byteCount)]) })
    }

    private func handle(_ overflow: WriteQueueRules.Overflow) {
        for write in overflow.leftOut { write.abandon() }
        for write in overflow.dropped {
            write.abandon()
            write.ticket.finish(.failure(.dropped))
            failures.add(.dropped)
        }
        if !overflow.dropped.isEmpty { runWaiters() }
        // If the stack is too small, the flattening thread flattens them later. Until then the
        // queue holds twice its limit at most.
        guard !overflow.undecided.isEmpty, StackSpace.isLeft(Self.requiredStack) else { return }
        let flattened = overflow.undecided.compactMap { write in
            write.flatten().map { (write: write, byteCount: $0) }
        }
        // A write that another thread flattens is measured by that thread.
        guard !flattened.isEmpty else { return }
        handle(state.withLock { $0.rules.measure(flattened) })
    }

    // MARK: Room

    /// Calls `body` once the queue has room for `byteCount` bytes, in the order of the calls, and
    /// keeps the room until `submit`. Calls it with false once the queue is closed. Returns the
    /// number with which `stopWaitingForRoom` takes the call back; nil if `body` was called now.
    ///
    /// Every wait ends: at the latest when all writes are taken that were submitted before the
    /// call, and each write that was admitted before.
    func whenRoom(
        for byteCount: Int, _ body: @escaping @Sendable (Bool) -> Void
    ) -> UInt64? {
        let (number, isOpen) = state.withLock { state -> (UInt64?, Bool) in
            guard !state.rules.isClosed else { return (nil, false) }
            guard !state.admissions.isEmpty || !state.hasRoom(for: byteCount) else {
                state.reserved += byteCount
                return (nil, true)
            }
            state.lastAdmission += 1
            state.admissions.append(
                Admission(
                    number: state.lastAdmission, byteCount: byteCount,
                    after: state.rules.submitted, body: body))
            return (state.lastAdmission, true)
        }
        if number == nil { body(isOpen) }
        return number
    }

    /// Takes back a call that waits for room of `byteCount` bytes, or gives back that room.
    func stopWaitingForRoom(_ number: UInt64, _ byteCount: Int) {
        state.withLock { state in
            if let index = state.admissions.firstIndex(where: { $0.number == number }) {
                state.admissions.remove(at: index)
            } else {
                state.reserved -= byteCount
            }
        }
        admit()
    }

    /// Lets in the writes for which there is room now. The writer calls it once it has put back
    /// what it does not commit.
    func admit() {
        let (admitted, isOpen) = state.withLock { state in
            let isOpen = !state.rules.isClosed
            var admitted: [@Sendable (Bool) -> Void] = []
            while let next = state.admissions.first, !isOpen || state.admits(next) {
                if isOpen { state.reserved += next.byteCount }
                admitted.append(state.admissions.removeFirst().body)
            }
            return (admitted, isOpen)
        }
        for body in admitted { body(isOpen) }
    }

    /// The number of writes that wait for room.
    var awaitingRoom: Int { state.withLock { $0.admissions.count } }

    /// The writes that are submitted and not finished, and the bytes of those that wait.
    var pending: (count: Int, byteCount: Int) {
        state.withLock { ($0.rules.unfinishedCount, $0.rules.byteCount) }
    }

    // MARK: The writer

    /// Blocks until a write waits, `deadline` has passed, or `wakeWriter` was called. Returns nil
    /// when the queue is closed and empty.
    func take(
        atMost count: Int, until deadline: ContinuousClock.Instant?
    ) -> [PendingWrite]? {
        var deadline = deadline
        while true {
            let (taken, isClosed) = state.withLock { state in
                let taken = state.rules.take(atMost: count)
                state.isWriterWaiting = taken.isEmpty
                return (taken, state.rules.isClosed)
            }
            if !taken.isEmpty { return taken }
            if isClosed { return nil }
            if isWoken.exchange(false, ordering: .acquiringAndReleasing) {
                if stopWaiting() { return [] }
                isWoken.store(true, ordering: .releasing)
                continue
            }
            guard let end = deadline else {
                sleepEnd.store(.max, ordering: .releasing)
                work.wait()
                sleepEnd.store(0, ordering: .releasing)
                continue
            }
            let rest = max(0, (end - .now) / .nanoseconds(1))
            if rest == 0 {
                if stopWaiting() { return [] }
                continue
            }
            let timeout = DispatchTime.now() + .nanoseconds(Int(rest))
            sleepEnd.store(timeout.uptimeNanoseconds, ordering: .releasing)
            let isTimedOut = work.wait(timeout: timeout) == .timedOut
            sleepEnd.store(0, ordering: .releasing)
            deadline = isTimedOut ? .now : end
        }
    }

    /// Ends the writer's wait. Returns false if a write was submitted meanwhile that relies on the
    /// writer to flatten it at once.
    private func stopWaiting() -> Bool {
        state.withLock { state in
            defer { state.isWriterWaiting = false }
            return state.isWriterWaiting
        }
    }

    /// Removes `write` if it is the next one and all before it are finished. Returns whether it
    /// did.
    func take(next write: PendingWrite) -> Bool {
        state.withLock { state in
            guard state.rules.take(next: write) else { return false }
            // The submission has woken the writer, which finds no write and continues to wait.
            if write.isFlattenedByWriter { state.isWriterWaiting = true }
            return true
        }
    }

    /// Removes and returns writes that were submitted since `take` returned.
    func takeMore(atMost count: Int) -> [PendingWrite] {
        state.withLock { $0.rules.take(atMost: count) }
    }

    func putBack(_ writes: some Collection<PendingWrite>) {
        guard !writes.isEmpty else { return }
        state.withLock { $0.rules.putBack(writes) }
        work.signal()
    }

    /// Ends the tickets of a write and of the writes that it overwrites.
    func finish(_ write: PendingWrite, _ result: Result<Void, CacheError>) {
        // The write left the queue when it was taken, so no further write can share its result.
        for write in state.withLock({ $0.rules.sharingResult(of: write) }) {
            if case .failure(let error) = result { failures.add(error) }
            write.ticket.finish(result)
        }
        state.withLock { $0.rules.finish([write]) }
        runWaiters()
        admit()
    }

    /// Makes `take` return, so that the writer looks for other work.
    func wakeWriter() {
        isWoken.store(true, ordering: .releasing)
        work.signal()
    }

    /// Makes the writer look for other work at `deadline` or before. Does nothing if it sleeps no
    /// longer than that anyway: waking a thread takes 10 us.
    ///
    /// The caller has stored the deadline under a lock. The writer looks under that lock before
    /// each `take`, when `sleepEnd` is 0. So a call that finds the end of a sleep has stored its
    /// deadline before the writer looks again.
    func wakeWriter(by deadline: ContinuousClock.Instant) {
        let end = sleepEnd.load(ordering: .acquiring)
        let rest = (deadline - .now).wholeNanoseconds
        guard end == 0 || end > DispatchTime.now().uptimeNanoseconds.addingClamped(rest) else {
            return
        }
        wakeWriter()
    }

    /// Whether the writer sleeps. For tests.
    var isWriterAsleep: Bool { sleepEnd.load(ordering: .acquiring) != 0 }

    // MARK: Waiting

    /// Runs `body` once every write submitted so far is finished. If all are finished already,
    /// returns false and does not run it.
    func whenEarlierWritesEnd(_ body: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.rules.finished < state.rules.submitted else { return false }
            state.waiters.append((state.rules.submitted, body))
            return true
        }
    }

    /// Blocks until every write submitted so far is finished.
    func waitForEarlierWrites() throws(CacheError) {
        guard hasPendingWrites else { return }
        guard !AppCodeScope.isInside else { throw .waitInsideRead }
        let semaphore = DispatchSemaphore(value: 0)
        if whenEarlierWritesEnd({ semaphore.signal() }) { semaphore.wait() }
    }

    var hasPendingWrites: Bool { state.withLock { $0.rules.finished < $0.rules.submitted } }

    private func runWaiters() {
        let bodies = state.withLock { state -> [@Sendable () -> Void] in
            let finished = state.rules.finished
            let ready = state.waiters.filter { $0.upTo <= finished }
            guard !ready.isEmpty else { return [] }
            state.waiters.removeAll { $0.upTo <= finished }
            return ready.map(\.body)
        }
        for body in bodies { body() }
    }

    func close() {
        state.withLock { $0.rules.isClosed = true }
        admit()
        work.signal()
    }
}

/// Counts the writes that failed, and sends an event for each that the cache gave up.
final class WriteFailures: Sendable {
    private let statistics: StatisticsRecorder
    private let events: Broadcast<CacheEvent>

    init(_ statistics: StatisticsRecorder, _ events: Broadcast<CacheEvent>) {
        self.statistics = statistics
        self.events = events
    }

    func add(_ error: CacheError) {
        let (name, isGivenUp) = error.writeFailure
        guard isGivenUp else { return statistics.countRejected(reason: name) }
        statistics.countDropped(reason: name)
        events.send(.writeDropped(reason: name))
    }
}
