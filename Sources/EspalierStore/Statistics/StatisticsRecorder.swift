import EspalierConfinement
import EspalierRecords
import Synchronization

/// Counts what this process does, until a commit stores the counts.
///
/// The committer takes the counts and adds them to the stored ones. If the commit fails, it puts
/// them back.
///
///     let delta = recorder.drain(for: transaction.number, in: generation.name)
///     lifetime += delta  // store, commit; on failure: recorder.putBack(delta)
///
/// Safe from every thread. Reads have a lock of their own, which they hold for some nanoseconds; a
/// hit allocates nothing.
final class StatisticsRecorder: Sendable {
    private struct Reads {
        var isEmpty = true
        var hits: UInt64 = 0
        var misses = LifetimeCounters().misses
        var missesByType = MissCounts()
        /// In memory of its own; otherwise the first read after a commit would copy it.
        var latency = LatencyHistogram().separated()

        func add(to counters: inout LifetimeCounters) {
            counters.hits = counters.hits.addingClamped(hits)
            counters.misses.merge(misses)
            counters.missesByType.merge(missesByType)
            counters.readLatency.merge(latency)
        }
    }

    private struct Rest {
        var counters = LifetimeCounters()
        /// Those of the counts of the memory for trees that were taken.
        var takenMemory = MemoryCounts()
        /// The counts taken last, and the transaction that stores them: older snapshots of the same
        /// generation do not contain them. The next generation begins with them.
        var taken: (transaction: UInt64, generation: String, delta: LifetimeCounters)?
    }

    // protected by themselves; `rest` is locked before `reads`
    private let rest = Mutex(Rest())
    private let parts = (0..<8).map { _ in Part() }

    /// The counts of the memory for trees, since the cache was opened.
    let memory = MemoryCounter()

    /// A part of the counts of reads: threads rarely wait for each other.
    private final class Part: Sendable {
        let reads = Mutex(Reads())
        private let padding = CacheLinePadding()
    }

    /// The part of the calling thread.
    private var part: Part {
        parts[Int((UInt64(ThreadIdentity.current) &* 0x9E37_79B9_7F4A_7C15) >> 61)]
    }

    // MARK: - Reads

    /// Counts a read that was a hit.
    func countHit(took nanoseconds: UInt64?) {
        part.reads.withLock { reads in
            reads.isEmpty = false
            if let nanoseconds { reads.latency.record(nanoseconds: nanoseconds) }
            reads.hits &+= 1
        }
    }

    /// Counts a read that missed.
    ///
    /// - Parameters:
    ///   - type: The type that the read asked for.
    ///   - nanoseconds: Nil for a read that was refused before it began.
    func countMiss(_ reason: MissReason, of type: String, took nanoseconds: UInt64?) {
        part.reads.withLock { reads in
            reads.isEmpty = false
            if let nanoseconds { reads.latency.record(nanoseconds: nanoseconds) }
            reads.misses.add(to: reason.name)
            reads.missesByType.add(to: reason.name, of: type)
        }
    }

    // MARK: - Writes

    /// Counts a commit that succeeded, from the beginning of its transaction.
    func countCommit(took: Duration) {
        count {
            $0.commits += 1
            $0.commitLatency.record(took)
        }
    }

    /// Counts a write that the cache gave up.
    func countDropped(reason: String) { count { $0.droppedWrites.add(to: reason) } }

    /// Counts a write that failed because of what its caller asked for.
    func countRejected(reason: String) { count { $0.rejectedWrites.add(to: reason) } }

    /// Counts a switch to a new generation.
    func countReplaced(reason: String) { count { $0.generationsReplaced.add(to: reason) } }

    /// Counts a commit that ran out of pages and succeeded after eviction.
    func countMapFull() { count { $0.mapFullRecoveries += 1 } }

    /// Counts a collection of cycles that has reached the last record.
    ///
    /// - Parameter found: The records on cycles that no read or write had flagged.
    func countCycleCollection(found: Int) {
        count {
            $0.cycleCollections += 1
            $0.cycleRecordsFound = $0.cycleRecordsFound.addingClamped(UInt64(max(0, found)))
        }
    }

    private func count(_ body: (inout LifetimeCounters) -> Void) {
        rest.withLock { body(&$0.counters) }
    }

    // MARK: - Storing

    /// Returns and resets the counts since the last call, which the transaction of that number will
    /// store in a generation.
    func drain(for transaction: UInt64, in generation: String) -> LifetimeCounters {
        rest.withLock { rest in
            var delta = rest.counters
            rest.counters = LifetimeCounters()
            for part in parts {
                let taken = part.reads.withLock { reads -> Reads? in
                    guard !reads.isEmpty else { return nil }
                    defer { reads = Reads() }
                    return reads
                }
                taken?.add(to: &delta)
            }
            let memory = memory.counts
            delta.memory += memory - rest.takenMemory
            rest.takenMemory = memory
            rest.taken = (transaction, generation, delta)
            return delta
        }
    }

    /// Adds counts again that a transaction took and did not store.
    func putBack(_ delta: LifetimeCounters) {
        rest.withLock { rest in
            rest.taken = nil
            rest.counters += delta
        }
    }

    /// The counts that are not stored yet.
    var pending: LifetimeCounters { pending(asOf: .max, in: "") }

    /// Returns the counts that a snapshot of the transaction of that number in a generation does
    /// not contain.
    func pending(asOf transaction: UInt64, in generation: String) -> LifetimeCounters {
        rest.withLock { rest in
            var counters = rest.counters
            if let taken = rest.taken, taken.generation == generation,
                transaction < taken.transaction
            {
                counters += taken.delta
            }
            // A copy that shares memory would make the next read copy it.
            for part in parts {
                let reads = part.reads.withLock { reads in
                    Reads(
                        hits: reads.hits, misses: reads.misses, missesByType: reads.missesByType,
                        latency: reads.latency.separated())
                }
                reads.add(to: &counters)
            }
            counters.memory += memory.counts - rest.takenMemory
            return counters
        }
    }
}
