import EspalierLMDB
import EspalierRecords

extension CommitTransaction {
    /// A payload as it is to be stored; nil where it stays raw.
    func compress(
        _ payload: [UInt8], of shape: Shape, in transaction: borrowing WriteTransaction
    ) throws -> RecordLayout.CompressedPayload? {
        guard let compressor else { return nil }
        let current = dictionaries.current(for: shape.fingerprint).flatMap { number in
            dictionaries.entries[number].map { (number, $0.fingerprint) }
        }
        return try compressor.compress(payload, with: current) { number in
            let bytes = try dictionary(number, in: transaction)?.bytes
            // Damaged: the common one takes its place, and the next training makes another.
            if bytes == nil { dictionaries.retire(number) }
            return bytes
        }
    }

    /// Stores dictionaries, which new records are compressed with from here on: all of them, or
    /// none where they do not fit their share of the budget beside those that records still need.
    /// Eviction makes room for the next ones.
    func install(_ trained: TrainedDictionaries, in transaction: inout WriteTransaction) throws {
        // Somebody else, perhaps in another process, has trained on more.
        guard counters.trainedAt == trained.since else { return }
        counters.trainedAt = max(1, counters.bytesWritten)
        (counters.rawSinceTraining, counters.storedSinceTraining) = (0, 0)
        let allowance = TrainingPolicy.allowance(of: generation.budget)
        let kept = dictionaries.entries.values.filter { $0.recordCount > 0 }.reduce(0) {
            $0 + $1.byteCount
        }
        // Too many for a budget that was larger: they go with the records that need them.
        if kept > allowance { dictionaries.replaceCurrent(with: []) }
        let added = trained.dictionaries.reduce(0) { $0 + $1.bytes.count }
        guard kept + added <= allowance else { return }
        counters.trainedRatio = trained.ratio
        guard !trained.dictionaries.isEmpty else { return }
        var new: [(number: UInt64, entry: DictionaryNumbers.Entry)] = []
        for dictionary in trained.dictionaries {
            let number = max(counters.nextDictionary, RecordLayout.noDictionary + 1)
            counters.nextDictionary = number + 1
            for (index, slice) in dictionary.slices(number: number, limit: chunkLimit).enumerated()
            {
                try transaction.put(keyspaces.dictionaries, ChunkKey(number, UInt32(index)), slice)
                edits.note(newBytes: slice.count)
            }
            let entry = DictionaryNumbers.Entry(
                shape: dictionary.shape,
                fingerprint: RecordDictionary.fingerprint(of: dictionary.bytes),
                byteCount: dictionary.bytes.count)
            new.append((number, entry))
        }
        dictionaries.replaceCurrent(with: new)
    }

    /// New records get none from here on, until the next training.
    func retireDictionaries() {
        dictionaries.replaceCurrent(with: [])
        (counters.trainedAt, counters.trainedRatio) = (0, 0)
    }

    /// Writes a record anew as new ones are written, and nothing else of it: it counts as no
    /// access.
    func recompress(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        guard let old = try readableRecord(handle, in: transaction),
            try !counts.entry(handle, in: transaction).flags.contains(.pendingRemoval)
        else { return }
        let content = Content(
            nameSpace: old.nameSpace, identifier: old.identifier, shape: old.shape,
            children: old.children,
            values: old.values[...])
        let shape: RecordLayout.ShapeReference =
            old.hasOwnShape
            ? .own(old.shape) : old.shapeNumber == 0 ? .none : .number(old.shapeNumber, old.shape)
        let payload = content.payload
        let compressed = try compress(
            RecordLayout.payload(payload, shape: shape), of: old.shape, in: transaction)
        guard compressed?.dictionary.number ?? 0 != old.dictionaryNumber else { return }
        let written = counters.bytesWritten
        try store(content, payload, shape, compressed, at: handle, over: old, in: &transaction)
        dictionaries.release(old.dictionaryNumber)
        // The pace of sweeps and of training is that of writes.
        let more = counters.bytesWritten - written
        counters.cyclesCollectedAt += more
        if counters.trainedAt > 0 { counters.trainedAt += more }
    }
}
