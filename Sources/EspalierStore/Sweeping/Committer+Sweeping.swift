import EspalierLMDB
import EspalierRecords
import Synchronization

/// The sweep under way, as the commits tell of it.
struct SweepProgress {
    /// A slice is being looked through on another thread.
    var isRunning = false
    /// Where the last slice ended, not committed yet: nil for none, 0 for the end of the records.
    var reached: UInt64?
    var found = 0
    /// Bytes written when the last slice began.
    var bytes: UInt64 = 0
}

extension Committer {
    /// A sweep is spread over a quarter of a budget's worth of bytes written.
    private static let share = 4
    /// Flags set by one commit: no more than even the smallest cache's `PagePlan.touchLimit`.
    private static let slice = 12

    /// Notes in the counters how far the sweep is: it goes on where it was after reopening.
    func advanceSweep(_ session: CommitSession) {
        let (reached, found) = state.withLock { state in
            defer { state.sweeping.reached = nil }
            return (state.sweeping.reached, state.sweeping.found)
        }
        if let reached, session.counters.sweepHandle != 0 {
            session.counters.sweepHandle = reached
            if reached == 0 {
                state.withLock { $0.sweeping.found = 0 }
                statistics.countSweep(found: found)
            }
        }
        let written = session.counters.bytesWritten &- session.counters.sweptAt
        if session.counters.sweepHandle == 0, written >= UInt64(session.generation.budget.bytes) {
            session.counters.sweptAt = session.counters.bytesWritten
            session.counters.sweepHandle = 1
        }
    }

    /// Starts the next slice when enough was written since the last one.
    func sweepOn(_ session: CommitSession) {
        let counters = session.counters
        guard counters.sweepHandle != 0 else { return }
        let generation = session.generation
        let slices = max(1, Int(clamping: counters.nodes) / CycleSweep.slice)
        let pace = UInt64(generation.budget.bytes / Self.share / slices)
        let isDue = state.withLock { state in
            guard !state.sweeping.isRunning, state.sweeping.reached == nil,
                state.sweeping.bytes == 0 || counters.bytesWritten &- state.sweeping.bytes >= pace
            else { return false }
            state.sweeping.isRunning = true
            state.sweeping.bytes = counters.bytesWritten
            return true
        }
        guard isDue else { return }
        let start = Handle(counters.sweepHandle)
        sweeper.run { [weak self] in self?.runSlice(from: start, in: generation) }
    }

    private func runSlice(from start: Handle, in generation: Generation) {
        var sweep = CycleSweep(from: start)
        let isDone = (try? generation.environment.read { try sweep.run(in: $0, of: generation) }) != nil
        flag(sweep.found, in: generation)
        state.withLock { state in
            state.sweeping.isRunning = false
            guard isDone else { return }
            state.sweeping.reached = sweep.next?.rawValue ?? 0
            state.sweeping.found += sweep.found.count
        }
    }

    /// All of it at once, at the caller's wish.
    func sweep(_ generation: Generation) throws {
        var sweep = CycleSweep()
        var found = 0
        while sweep.next != nil {
            try generation.environment.read { try sweep.run(in: $0, of: generation) }
            found += sweep.found.count
            for start in stride(from: 0, to: sweep.found.count, by: Self.slice) {
                flag(sweep.found[start..<min(start + Self.slice, sweep.found.count)], in: generation)
                try commit([], makingRoomIn: generation)
            }
        }
        let repair = try generation.environment.read { try NameRepair(in: $0, of: generation) }
        statistics.countSweep(found: found)
        try commit(repair.isEmpty ? [] : [.mend(repair)], makingRoomIn: generation)
    }
}
