import EspalierLMDB
import EspalierRecords
import Synchronization

/// Training as the commits tell of it.
struct TrainingProgress {
    /// From the first sample until dictionaries are made.
    var isRunning = false
    /// Samples so far, and what they are of; nil while none are being taken.
    var samples: (RecordSamples, generation: Generation, counters: Counters)?
    /// What the next commit stores, and of which generation it is.
    var trained: (generation: String, TrainedDictionaries)?
}

extension Committer {
    /// Begins to train when that is due: samples between commits, the rest in the background.
    func trainOn(_ session: CommitSession) {
        let generation = session.generation
        guard compression != .none, TrainingPolicy.isDue(session.counters, budget: generation.budget) else { return }
        state.withLock { state in
            guard !state.training.isRunning, state.training.trained == nil else { return }
            state.training.isRunning = true
            state.training.samples = (samples(of: generation, session.counters), generation, session.counters)
        }
    }

    private func samples(of generation: Generation, _ counters: Counters) -> RecordSamples {
        let allowance = TrainingPolicy.setAllowance(of: generation.budget)
        return RecordSamples(byteCount: DictionaryTraining.sampleBytes(allowance: allowance), seed: counters.stamp)
    }

    /// Takes some more samples, on the writer's thread: beside a commit a read would keep pages from being used again. Returns
    /// whether there is more to take.
    func sampleMore() -> Bool {
        guard let (taken, generation, counters) = state.withLock({ $0.training.samples.take() }) else { return false }
        var samples = taken
        guard let isMore = try? samples.takeMore(of: generation) else {
            state.withLock { $0.training.isRunning = false }
            return false
        }
        guard !isMore else {
            state.withLock { $0.training.samples = (samples, generation, counters) }
            return true
        }
        trainer.run { [weak self, samples] in
            guard let self else { return }
            let trained = train(samples, generation, counters)
            state.withLock { state in
                state.training.isRunning = false
                state.training.trained = (generation.name, trained)
            }
            callAttention()
        }
        return false
    }

    private func train(
        _ samples: RecordSamples, _ generation: Generation, _ counters: Counters
    ) -> TrainedDictionaries {
        guard case .zstd(let level) = compression,
            let training = DictionaryTraining(
                level: level, allowance: TrainingPolicy.setAllowance(of: generation.budget),
                rawBytes: counters.rawBytes)
        else { return TrainedDictionaries(dictionaries: [], ratio: 1_000) }
        return training.train(samples)
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
        let counters = try generation.environment.read { try $0.counters(generation.keyspaces) }
        if compression != .none, counters.rawBytes > 0 {
            var samples = samples(of: generation, counters)
            while try samples.takeMore(of: generation) {}
            try commit([.install(train(samples, generation, counters))], makingRoomIn: generation)
        } else if compression == .none {
            // What no record uses any more goes.
            try commit([.install(TrainedDictionaries(dictionaries: [], ratio: 1_000))], makingRoomIn: generation)
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
