import EspalierLMDB
import EspalierRecords
import Synchronization

/// Decides when dictionaries are trained: first when there are enough records, again when much more
/// has been written, and again when new records compress worse than after the last training.
package enum TrainingPolicy {
    /// The bytes of records that the first training needs.
    static let minimumBytes: UInt64 = 48 << 10
    /// Dictionaries are trained again when this many times as much has been written as at the last
    /// training. `maximumBytes` limits this rule.
    static let growth: UInt64 = 8
    /// From this many bytes written on, more samples do not make better dictionaries.
    static let maximumBytes: UInt64 = 32 << 20
    /// The ratio at which to train again, in hundredths of the ratio after the last training.
    static let drift: UInt64 = 110

    /// The drift is measured over at least this many bytes, and at least the budget divided by
    /// `budgetShare`. If there are no current dictionaries, because training made none or they did
    /// not fit, four times that amount has to be written.
    static let minimumSinceTraining: UInt64 = 256 << 10
    static let budgetShare: UInt64 = 16

    static func isDue(
        _ counters: Counters, _ dictionaries: DictionaryTable, budget: ByteCount
    ) -> Bool {
        guard counters.rawBytes >= minimumBytes else { return false }
        guard counters.trainedAt > 0 else { return true }
        if counters.trainedAt < maximumBytes,
            counters.bytesWritten / growth >= counters.trainedAt
        {
            return true
        }
        // The budget was lowered, and the dictionaries exceed their share of it.
        let isOverAllowance = dictionaries.byteCount > allowance(of: budget)
        if dictionaries.hasCurrent, isOverAllowance { return true }
        let minimum = max(minimumSinceTraining, UInt64(budget.bytes) / budgetShare)
        if !dictionaries.hasCurrent, counters.rawSinceTraining >= 4 * minimum { return true }
        guard counters.rawSinceTraining >= minimum else { return false }
        let ratio = counters.storedSinceTraining * 1_000 / counters.rawSinceTraining
        return ratio * 100 > counters.trainedRatio * drift
    }

    /// Returns the bytes that all dictionaries may take: two hundredths of the budget.
    package static func allowance(of budget: ByteCount) -> Int { budget.bytes / 50 }

    /// Returns the most bytes of one set of dictionaries. Records still use the previous set, and a
    /// few the one before that.
    static func setAllowance(of budget: ByteCount) -> Int { allowance(of: budget) / 3 }
}

/// Trains dictionaries in the background when a commit makes a training due.
///
///     idle --> sampling --> training --> trained --> idle
///
/// *Sampling* reads slices of records between commits, on the writer's thread: a read during a
/// commit would keep pages from being reused. *Training* runs on a thread of its own. The committer
/// stores *trained* dictionaries in a commit. A training without a result postpones the next one.
/// Safe from every thread.
final class TrainingScheduler: Sendable {
    // immutable
    private let compression: Compression
    private let thread = WorkerThreads(name: "espalier-train", limit: 1)
    /// Wakes the writer, so that it stores trained dictionaries.
    private let wakeWriter: @Sendable () -> Void

    private struct Sampling {
        var samples: BlockSamples
        let generation: Generation
        let counters: Counters
    }

    // protected by `state`
    private struct State {
        /// Whether a training is under way, from the first sample on.
        var isRunning = false
        var sampling: Sampling?
        var trained: (generation: String, TrainedDictionary)?
        /// The counter of bytes written after the last commit, and its value before which no
        /// training begins.
        var bytesWritten: UInt64 = 0
        var notBefore: (generation: String, bytesWritten: UInt64)?

        mutating func postpone(in generation: String) {
            notBefore = (generation, bytesWritten + TrainingPolicy.minimumSinceTraining)
        }
    }
    private let state = Mutex(State())

    init(_ compression: Compression, wakeWriter: @escaping @Sendable () -> Void) {
        self.compression = compression
        self.wakeWriter = wakeWriter
    }

    /// Takes the samples that a training under way lacks. The first dictionary is trained with the
    /// last of them, before this returns: a process that stores little and ends soon would
    /// otherwise never train. A later training that runs on the thread is left out.
    ///
    /// - Complexity: Less than a tenth of a second.
    func finishTraining() {
        while takeSamples() {}
        thread.close()
    }

    /// Ends the thread after the training under way.
    func close() { thread.close() }

    var isSampling: Bool { state.withLock { $0.sampling != nil } }

    /// Whether the samples of the first dictionary are to be taken.
    var isFirstDue: Bool { state.withLock { $0.sampling?.counters.trainedAt == 0 } }

    /// Begins a training if a commit has made it due.
    func continueAfter(_ commit: CommitTransaction) {
        let (generation, counters) = (commit.generation, commit.counters)
        let isDue = TrainingPolicy.isDue(
            counters, commit.dictionaries, budget: generation.budget)
        state.withLock { state in
            state.bytesWritten = counters.bytesWritten
            guard isDue, compression != .none, !state.isRunning, state.trained == nil else {
                return
            }
            if let notBefore = state.notBefore, notBefore.generation == generation.name,
                counters.bytesWritten < notBefore.bytesWritten
            {
                return
            }
            state.isRunning = true
            state.sampling = Sampling(
                samples: Self.samples(of: generation, counters), generation: generation,
                counters: counters)
        }
    }

    /// Takes a slice of samples. Starts the training after the last slice. Returns whether more
    /// slices are to be taken.
    func takeSamples() -> Bool {
        guard var sampling = state.withLock({ $0.sampling.take() }) else { return false }
        let generation = sampling.generation
        guard let isMore = try? sampling.samples.takeSlice(of: generation) else {
            state.withLock { state in
                state.isRunning = false
                state.postpone(in: generation.name)
            }
            return false
        }
        guard !isMore else {
            state.withLock { $0.sampling = sampling }
            return true
        }
        let finished = sampling
        guard finished.counters.trainedAt > 0 else {
            // Until there is a first dictionary, blocks are compressed badly: the next write waits
            // for it.
            finish(finished)
            return false
        }
        thread.run { [weak self] in
            guard let self else { return }
            finish(finished)
            wakeWriter()
        }
        return false
    }

    /// Trains on samples, and keeps the result until `takeTrained`.
    private func finish(_ sampling: Sampling) {
        let generation = sampling.generation
        let trained = train(sampling.samples, generation, sampling.counters)
        state.withLock { state in
            state.isRunning = false
            state.trained = trained.map { (generation.name, $0) }
            if trained == nil { state.postpone(in: generation.name) }
        }
    }

    /// Removes and returns the trained dictionaries, with the name of their generation.
    func takeTrained() -> (generation: String, TrainedDictionary)? {
        state.withLock { $0.trained.take() }
    }

    /// Postpones the next training, because dictionaries could not be stored.
    func postpone(in generation: String) { state.withLock { $0.postpone(in: generation) } }

    /// Trains dictionaries on the records of a generation, on the calling thread. Returns nil if
    /// compression is off or memory runs out.
    func trainNow(
        on generation: Generation, _ counters: Counters
    ) throws -> TrainedDictionary? {
        var samples = Self.samples(of: generation, counters)
        while try samples.takeSlice(of: generation) {}
        return train(samples, generation, counters)
    }

    private static func samples(
        of generation: Generation, _ counters: Counters
    ) -> BlockSamples {
        let allowance = TrainingPolicy.setAllowance(of: generation.budget)
        return BlockSamples(
            byteCount: DictionaryTraining.sampleBytes(
                allowance: allowance, rawBytes: counters.rawBytes), seed: counters.stamp)
    }

    private func train(
        _ samples: BlockSamples, _ generation: Generation, _ counters: Counters
    ) -> TrainedDictionary? {
        guard case .zstd(let level) = compression else { return nil }
        let allowance = TrainingPolicy.setAllowance(of: generation.budget)
        let training = DictionaryTraining(
            level: level, allowance: allowance, rawBytes: counters.rawBytes)
        return training?.train(samples, since: counters.trainedAt)
    }
}
