import EspalierLMDB
import EspalierRecords
import Synchronization

/// Decides when dictionaries are trained: as soon as there is enough to learn from, again when
/// there is much more, and again when what is written has become unlike what they were trained on.
package enum TrainingPolicy {
    /// Bytes of records before which nothing is learned.
    static let minimumBytes: UInt64 = 48 << 10
    /// Dictionaries are trained again when so many times as much has been written, ...
    static let growth: UInt64 = 8
    /// ... up to this much, from which more samples do not make better dictionaries.
    static let maximumBytes: UInt64 = 32 << 20
    /// How much worse than after training the ratio may become, in hundredths.
    static let drift: UInt64 = 115

    /// What is written must show the drift over so many bytes and over a share of the budget. Where
    /// there are no dictionaries, because nothing was to be learned or they had to go, four such
    /// amounts have to be written.
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
        // The budget was made smaller, and the dictionaries have to go.
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

    /// Returns the bytes of one set of dictionaries. Records still need the set before, and a few
    /// records the one before that.
    static func setAllowance(of budget: ByteCount) -> Int { allowance(of: budget) / 3 }
}

/// Trains dictionaries in the background when the commits make that due.
///
///     idle --> sampling --> training --> trained --> idle
///
/// *Sampling* reads a slice of records between two commits, on the writer's thread: beside a commit
/// a read would keep pages from being used again. *Training* runs on a thread of its own. The
/// committer stores what is *trained* in a commit. A training that comes to nothing postpones the
/// next one. Safe from every thread.
final class TrainingScheduler: Sendable {
    // immutable
    private let compression: Compression
    private let thread = WorkerThreads(name: "espalier-train", limit: 1)
    /// Has the writer look for trained dictionaries.
    private let wakeWriter: @Sendable () -> Void

    private struct Sampling {
        var samples: RecordSamples
        let generation: Generation
        let counters: Counters
    }

    // protected by `state`
    private struct State {
        /// Whether a training is under way, from the first sample on.
        var isRunning = false
        var sampling: Sampling?
        var trained: (generation: String, TrainedDictionaries)?
        /// Bytes written by the last commit, and how many have to be before the next training.
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

    /// Ends the thread after the training under way.
    func close() { thread.close() }

    var isSampling: Bool { state.withLock { $0.sampling != nil } }

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

    /// Takes a slice of samples, and starts the training after the last one. Returns whether there
    /// are more to take.
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
        thread.run { [weak self] in
            guard let self else { return }
            let trained = train(finished.samples, generation, finished.counters)
            state.withLock { state in
                state.isRunning = false
                state.trained = trained.map { (generation.name, $0) }
                if trained == nil { state.postpone(in: generation.name) }
            }
            wakeWriter()
        }
        return false
    }

    /// Returns the dictionaries that were trained and not taken yet, and the generation they are
    /// for.
    func takeTrained() -> (generation: String, TrainedDictionaries)? {
        state.withLock { $0.trained.take() }
    }

    /// Puts the next training off, because dictionaries could not be stored.
    func postpone(in generation: String) { state.withLock { $0.postpone(in: generation) } }

    /// Trains dictionaries on what a generation holds now, on the calling thread. Returns nil where
    /// there is no memory for it.
    func trainNow(
        on generation: Generation, _ counters: Counters
    ) throws -> TrainedDictionaries? {
        var samples = Self.samples(of: generation, counters)
        while try samples.takeSlice(of: generation) {}
        return train(samples, generation, counters)
    }

    private static func samples(
        of generation: Generation, _ counters: Counters
    ) -> RecordSamples {
        let allowance = TrainingPolicy.setAllowance(of: generation.budget)
        return RecordSamples(
            byteCount: DictionaryTraining.sampleBytes(allowance: allowance), seed: counters.stamp)
    }

    private func train(
        _ samples: RecordSamples, _ generation: Generation, _ counters: Counters
    ) -> TrainedDictionaries? {
        guard case .zstd(let level) = compression else { return nil }
        let allowance = TrainingPolicy.setAllowance(of: generation.budget)
        let training = DictionaryTraining(
            level: level, allowance: allowance, rawBytes: counters.rawBytes)
        return training?.train(samples, since: counters.trainedAt)
    }
}
