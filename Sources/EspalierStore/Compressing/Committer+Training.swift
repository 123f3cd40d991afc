import EspalierLMDB
import EspalierRecords
import Synchronization

/// Taking samples, which stops when the cache is closed.
struct Sampling {
    var isStopped = false
}

/// Training as the commits tell of it.
struct TrainingProgress {
    /// Samples are being taken or dictionaries made, on another thread.
    var isRunning = false
    /// What the next commit stores, and of which generation it is.
    var trained: (generation: String, TrainedDictionaries)?
}

extension Committer {
    /// Begins to train in the background when that is due. The thread of its own takes samples in short reads.
    func trainOn(_ session: CommitSession) {
        let generation = session.generation
        guard case .zstd(let level) = compression, TrainingPolicy.isDue(session.counters, budget: generation.budget)
        else { return }
        let isDue = state.withLock { state in
            guard !state.training.isRunning, state.training.trained == nil else { return false }
            state.training.isRunning = true
            return true
        }
        guard isDue else { return }
        let counters = session.counters
        trainer.run { [weak self] in
            guard let self else { return }
            let trained = try? train(generation, counters, level: level)
            state.withLock { state in
                state.training.isRunning = false
                state.training.trained = trained.map { (generation.name, $0) }
            }
            callAttention()
        }
    }

    /// No samples are taken from here on: whoever closes a cache may do with its file what they like.
    func stopTraining() { sampling.withLock { $0.isStopped = true } }

    private func train(
        _ generation: Generation, _ counters: Counters, level: Int
    ) throws -> TrainedDictionaries {
        let allowance = TrainingPolicy.setAllowance(of: generation.budget)
        var samples = RecordSamples(
            byteCount: DictionaryTraining.sampleBytes(allowance: allowance), seed: counters.stamp)
        // A slice at a time, so that stopping waits for one at most.
        while try sampling.withLock({ try !$0.isStopped && samples.takeMore(of: generation) }) {}
        let training = DictionaryTraining(level: level, allowance: allowance, rawBytes: counters.rawBytes)
        return training?.train(samples) ?? TrainedDictionaries(dictionaries: [], ratio: 1_000)
    }

    /// Stores what was trained, in a commit of its own. Without room for it, the next training is as far away as after this one.
    func installTrained() {
        guard let (name, trained) = state.withLock({ $0.training.trained.take() }) else { return }
        try? generations.withCurrent { generation in
            guard generation.name == name else { return }
            try commit([.install(trained)], makingRoomIn: generation)
        }
    }

    // MARK: Compacting

    /// Trains now, and writes every record anew that the newest dictionaries make shorter: some hundred in each commit.
    func compact(_ generation: Generation) throws {
        if case .zstd(let level) = compression {
            let counters = try generation.environment.read { try $0.counters(generation.keyspaces) }
            if counters.rawBytes > 0 {
                try commit([.install(train(generation, counters, level: level))], makingRoomIn: generation)
            }
        }
        var start: UInt64? = 0
        while let from = start {
            let slice = try generation.environment.read { transaction in
                try RecompressionSlice(from: from, in: transaction, of: generation, compression: compression)
            }
            if !slice.handles.isEmpty { try commit([.recompress(slice.handles)], makingRoomIn: generation) }
            start = slice.next
        }
    }
}

/// Some records that are not stored as the newest dictionaries would have it.
private struct RecompressionSlice {
    private static let size = 512

    private(set) var handles: [Handle] = []
    /// Where the next one begins; nil at the end.
    private(set) var next: UInt64?

    init(
        from start: UInt64, in transaction: borrowing ReadTransaction, of generation: Generation,
        compression: Compression
    ) throws {
        let keyspaces = generation.keyspaces
        let snapshot = transaction.snapshot
        let dictionaries = try DictionaryNumbers(loading: transaction, keyspaces)
        for handle in try RecordSamples.handles(from: start, count: Self.size, in: transaction, keyspaces) {
            next = handle.rawValue + 1
            // What is too damaged to tell is left to those who read it.
            guard let layout = try? snapshot.layout(keyspaces, of: handle) else { continue }
            let shape = try? snapshot.storedShape(keyspaces, layout.shapeNumber)?.shape
            let current = (shape ?? .none).fingerprint
            let wanted = compression == .none ? 0 : dictionaries.current(for: current) ?? RecordLayout.noDictionary
            if layout.dictionaryNumber != wanted { handles.append(handle) }
        }
    }
}
