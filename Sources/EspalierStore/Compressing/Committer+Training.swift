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
    /// Bytes written by the last commit, and how many have to be before the next training, after
    /// one that came to nothing.
    var bytesWritten: UInt64 = 0
    var notBefore: (generation: String, bytesWritten: UInt64)?

    mutating func postpone(in generation: String) {
        notBefore = (generation, bytesWritten + TrainingPolicy.leastSinceTraining)
    }
}

extension Committer {
    /// Begins to train when that is due: samples between commits, the rest in the background.
    func trainOn(_ commit: CommitTransaction) {
        let (generation, counters) = (commit.generation, commit.counters)
        let isDue = TrainingPolicy.isDue(counters, commit.dictionaries, budget: generation.budget)
        state.withLock { state in
            state.training.bytesWritten = counters.bytesWritten
            guard isDue, compression != .none, !state.training.isRunning,
                state.training.trained == nil
            else { return }
            if let notBefore = state.training.notBefore, notBefore.generation == generation.name,
                counters.bytesWritten < notBefore.bytesWritten
            {
                return
            }
            state.training.isRunning = true
            state.training.samples = (samples(of: generation, counters), generation, counters)
        }
    }

    private func samples(of generation: Generation, _ counters: Counters) -> RecordSamples {
        let allowance = TrainingPolicy.setAllowance(of: generation.budget)
        return RecordSamples(
            byteCount: DictionaryTraining.sampleBytes(allowance: allowance), seed: counters.stamp)
    }

    /// Takes some more samples, on the writer's thread: beside a commit a read would keep pages
    /// from being used again. Returns whether there is more to take.
    func sampleMore() -> Bool {
        guard let (taken, generation, counters) = state.withLock({ $0.training.samples.take() })
        else { return false }
        var samples = taken
        guard let isMore = try? samples.takeMore(of: generation) else {
            state.withLock { state in
                state.training.isRunning = false
                state.training.postpone(in: generation.name)
            }
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
                state.training.trained = trained.map { (generation.name, $0) }
                if trained == nil { state.training.postpone(in: generation.name) }
            }
            wakeWriter()
        }
        return false
    }

    /// Nil where there is no memory for it.
    private func train(
        _ samples: RecordSamples, _ generation: Generation, _ counters: Counters
    ) -> TrainedDictionaries? {
        guard case .zstd(let level) = compression else { return nil }
        let allowance = TrainingPolicy.setAllowance(of: generation.budget)
        let training = DictionaryTraining(
            level: level, allowance: allowance, rawBytes: counters.rawBytes)
        return training?.train(samples, since: counters.trainedAt)
    }

    /// Stores what was trained, in a commit of its own. Where that fails the next training has to
    /// wait.
    func installTrained() {
        guard let (name, trained) = state.withLock({ $0.training.trained.take() }) else { return }
        do {
            try generations.withCurrent { generation in
                guard generation.name == name else { return }
                try commit([.install(trained)], makingRoomIn: generation)
            }
        } catch {
            state.withLock { $0.training.postpone(in: name) }
        }
    }

    // MARK: Compacting

    /// Trains now, and writes every record anew that the newest dictionaries make shorter: some
    /// hundred in each commit.
    func compact(_ generation: Generation) throws {
        let counters = try generation.environment.read { try $0.counters(generation.keyspaces) }
        if compression == .none {
            try commit([.retireDictionaries], makingRoomIn: generation)
        } else {
            var samples = samples(of: generation, counters)
            while try samples.takeMore(of: generation) {}
            if let trained = train(samples, generation, counters) {
                try commit([.install(trained)], makingRoomIn: generation)
            }
        }
        var start: UInt64? = 0
        while let from = start {
            let slice = try generation.environment.read { transaction in
                try RecompressionSlice(
                    from: from, in: transaction, of: generation, compression: compression,
                    bytes: groupBytes)
            }
            if !slice.handles.isEmpty {
                try commit([.recompress(slice.handles)], makingRoomIn: generation)
            }
            start = slice.next
        }
    }
}

/// Some records that are not stored as the newest dictionaries would have it.
private struct RecompressionSlice {
    private static let size = 512
    /// How much longer than stored a record may become when it is decompressed, about.
    private static let expansion = 4

    private(set) var handles: [Handle] = []
    /// Where the next one begins; nil at the end.
    private(set) var next: UInt64?

    init(
        from start: UInt64, in transaction: borrowing ReadTransaction, of generation: Generation,
        compression: Compression, bytes limit: Int
    ) throws {
        var bytes = 0
        let keyspaces = generation.keyspaces
        let snapshot = transaction.snapshot
        let dictionaries = try DictionaryNumbers(loading: transaction, keyspaces)
        for handle in try RecordSamples.handles(
            from: start, count: Self.size, in: transaction, keyspaces)
        {
            // The highest there is only where damage has made it up.
            next = handle.rawValue == .max ? nil : handle.rawValue + 1
            // What is too damaged to tell is left to those who read it.
            guard let (layout, byteCount) = try? snapshot.layout(keyspaces, of: handle) else {
                continue
            }
            let shape = try? snapshot.storedShape(keyspaces, layout.shapeNumber)?.shape
            let current = (shape ?? .none).fingerprint
            let wanted =
                compression == .none
                ? 0 : dictionaries.current(for: current) ?? RecordLayout.noDictionary
            guard layout.dictionaryNumber != wanted else { continue }
            handles.append(handle)
            bytes += wanted == 0 ? byteCount * Self.expansion : byteCount
            if bytes >= limit { return }
        }
    }
}
