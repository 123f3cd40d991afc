import EspalierLMDB
import EspalierRecords
import Synchronization

/// The sweep under way, as the commits tell of it.
struct CycleScanProgress {
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
    func advanceCycleScan(_ commit: CommitTransaction) {
        let (reached, found) = state.withLock { state in
            defer { state.cycleScan.reached = nil }
            return (state.cycleScan.reached, state.cycleScan.found)
        }
        if let reached, commit.counters.cycleScanHandle != 0 {
            commit.counters.cycleScanHandle = reached
            if reached == 0 {
                state.withLock { $0.cycleScan.found = 0 }
                statistics.countCycleCollection(found: found)
            }
        }
        let written = commit.counters.bytesWritten &- commit.counters.cyclesCollectedAt
        if commit.counters.cycleScanHandle == 0, written >= UInt64(commit.generation.budget.bytes) {
            commit.counters.cyclesCollectedAt = commit.counters.bytesWritten
            commit.counters.cycleScanHandle = 1
        }
    }

    /// Starts the next slice when enough was written since the last one.
    func continueCycleScan(_ commit: CommitTransaction) {
        let counters = commit.counters
        guard counters.cycleScanHandle != 0 else { return }
        let generation = commit.generation
        let slices = max(1, Int(clamping: counters.nodes) / CycleScan.slice)
        let pace = UInt64(generation.budget.bytes / Self.share / slices)
        let isDue = state.withLock { state in
            guard !state.cycleScan.isRunning, state.cycleScan.reached == nil,
                state.cycleScan.bytes == 0 || counters.bytesWritten &- state.cycleScan.bytes >= pace
            else { return false }
            state.cycleScan.isRunning = true
            state.cycleScan.bytes = counters.bytesWritten
            return true
        }
        guard isDue else { return }
        let start = Handle(counters.cycleScanHandle)
        cycleCollector.run { [weak self] in self?.runSlice(from: start, in: generation) }
    }

    private func runSlice(from start: Handle, in generation: Generation) {
        var sweep = CycleScan(from: start)
        let isDone =
            (try? generation.environment.read { try sweep.run(in: $0, of: generation) }) != nil
        flag(sweep.found, in: generation)
        state.withLock { state in
            state.cycleScan.isRunning = false
            guard isDone else { return }
            state.cycleScan.reached = sweep.next?.rawValue ?? 0
            state.cycleScan.found += sweep.found.count
        }
    }

    /// All of it at once, at the caller's wish.
    func collectCycles(_ generation: Generation) throws {
        var sweep = CycleScan()
        var found = 0
        while sweep.next != nil {
            try generation.environment.read { try sweep.run(in: $0, of: generation) }
            found += sweep.found.count
            for start in stride(from: 0, to: sweep.found.count, by: Self.slice) {
                flag(
                    sweep.found[start..<min(start + Self.slice, sweep.found.count)], in: generation)
                try commit([], makingRoomIn: generation)
            }
        }
        let repair = try generation.environment.read { try NameRepair(in: $0, of: generation) }
        statistics.countCycleCollection(found: found)
        try commit(repair.isEmpty ? [] : [.mend(repair)], makingRoomIn: generation)
    }
}
