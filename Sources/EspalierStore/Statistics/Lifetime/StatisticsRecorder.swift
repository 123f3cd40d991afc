import EspalierRecords
import Synchronization

/// Counts what this process does until a commit stores it.
///
/// The committer takes what there is and adds it to what is stored; if the commit fails it puts it
/// back.
///
///     let delta = recorder.take(for: transaction.number)
///     lifetime += delta                       put, commit; on failure: recorder.putBack(delta)
///
/// Threading: safe from every thread. Reads have a lock of their own, held for some nanoseconds,
/// and a hit allocates nothing.
final class StatisticsRecorder: Sendable {
    private struct Reads {
        var hits: UInt64 = 0
        var misses = LifetimeCounters().misses
        var missesByType = MissCounts()
        /// In memory of its own, or the first read after a commit would have to move it.
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
        /// What was taken last, for which transaction: snapshots older than that don't see it yet.
        var taken: (transaction: UInt64, delta: LifetimeCounters)?
    }

    // protected by themselves; `rest` is taken before `reads`
    private let rest = Mutex(Rest())
    private let reads = Mutex(Reads())

    // MARK: Reading

    /// Counts a read that was a hit.
    func countHit(took: Duration?) {
        let nanoseconds = took?.wholeNanoseconds
        reads.withLock { reads in
            if let nanoseconds { reads.latency.record(nanoseconds: nanoseconds) }
            reads.hits &+= 1
        }
    }

    /// Counts a read that missed. `type` is the one asked for; `took` is nil for a read that was
    /// refused before it began.
    func countMiss(_ reason: MissReason, of type: String, took: Duration?) {
        let nanoseconds = took?.wholeNanoseconds
        reads.withLock { reads in
            if let nanoseconds { reads.latency.record(nanoseconds: nanoseconds) }
            reads.misses.add(to: reason.name)
            reads.missesByType.add(to: reason.name, of: type)
        }
    }

    // MARK: Writing

    /// Counts a commit that succeeded, from the beginning of its transaction.
    func countCommit(took: Duration) {
        count {
            $0.commits += 1
            $0.commitLatency.record(took)
        }
    }

    /// Counts a write that was given up.
    func countDropped(reason: String) { count { $0.droppedWrites.add(to: reason) } }

    /// Counts a switch to a new generation.
    func countReplaced(reason: String) { count { $0.generationsReplaced.add(to: reason) } }

    /// Counts a commit that ran out of pages and succeeded after eviction.
    func countMapFull() { count { $0.mapFullRecoveries += 1 } }

    /// Counts a sweep that has come to the end of the records. `found` were on cycles nobody had
    /// flagged.
    func countCycleCollection(found: Int) {
        count {
            $0.cycleCollections += 1
            $0.cycleRecordsFound = $0.cycleRecordsFound.addingClamped(UInt64(max(0, found)))
        }
    }

    /// Counts a run of the evictor whose transaction was committed. `ages` as
    /// `Timeline.ages(of:at:)` tells them.
    func countEviction(
        _ tally: EvictionCounts, for reason: Eviction.Reason, ages: ClosedRange<UInt64>?
    ) {
        count { $0.add(tally, for: reason, ages: ages) }
    }

    private func count(_ body: (inout LifetimeCounters) -> Void) {
        rest.withLock { body(&$0.counters) }
    }

    // MARK: Storing

    /// All that was counted since the last time, to be stored by the transaction of that number.
    func take(for transaction: UInt64) -> LifetimeCounters {
        rest.withLock { rest in
            var delta = rest.counters
            rest.counters = LifetimeCounters()
            let fresh = Reads()
            let taken = reads.withLock { reads in
                defer { reads = fresh }
                return reads
            }
            taken.add(to: &delta)
            rest.taken = (transaction, delta)
            return delta
        }
    }

    /// Takes back what was not stored after all.
    func putBack(_ delta: LifetimeCounters) {
        rest.withLock { rest in
            rest.taken = nil
            rest.counters += delta
        }
    }

    /// What is not stored yet.
    var pending: LifetimeCounters { pending(asOf: .max) }

    /// What is not stored yet as far as a snapshot of the transaction of that number sees it.
    func pending(asOf transaction: UInt64) -> LifetimeCounters {
        rest.withLock { rest in
            var counters = rest.counters
            if let taken = rest.taken, transaction < taken.transaction { counters += taken.delta }
            // A copy that shares memory would make the next read move it.
            let reads = reads.withLock { reads in
                Reads(
                    hits: reads.hits, misses: reads.misses, missesByType: reads.missesByType,
                    latency: reads.latency.separated())
            }
            reads.add(to: &counters)
            return counters
        }
    }
}
