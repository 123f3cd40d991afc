import EspalierLMDB
import EspalierRecords

/// Compaction: every record is written anew as new records are, some hundred with each commit.
///
/// Records get shorter, and what they took is free for what is written next. The number of pages in
/// use stays about the same, because records keep their places; the file does not shrink.
extension Committer {
    /// Trains dictionaries now, and rewrites every record that they make shorter. Without
    /// compression it decompresses every record.
    func compact(_ generation: Generation) throws {
        let counters = try generation.environment.read { try $0.counters(generation.keyspaces) }
        if compression == .none {
            try commitMakingRoom([.retireDictionaries], in: generation)
        } else if let trained = try training.trainNow(on: generation, counters) {
            try commitMakingRoom([.install(trained)], in: generation)
        }
        var start: UInt64? = 0
        while let first = start {
            let slice = try generation.environment.read { transaction in
                try CompactionSlice(
                    from: first, in: transaction, of: generation, compression: compression,
                    bytes: groupBytes)
            }
            if !slice.handles.isEmpty {
                try commitMakingRoom([.recompress(slice.handles)], in: generation)
            }
            start = slice.next
        }
    }
}

/// Some records that are not stored as the current dictionaries would have it.
private struct CompactionSlice {
    private static let recordCount = 512
    /// About how much longer than stored a record may become when it is decompressed.
    private static let expansion = 4

    private(set) var handles: [Handle] = []
    /// The first handle of the next slice; nil at the end.
    private(set) var next: UInt64?

    init(
        from start: UInt64, in transaction: borrowing ReadTransaction, of generation: Generation,
        compression: Compression, bytes limit: Int
    ) throws {
        var bytes = 0
        let keyspaces = generation.keyspaces
        let snapshot = transaction.snapshot
        let dictionaries = try DictionaryTable(loading: transaction, keyspaces)
        let records = try RecordSamples.handles(
            from: start, count: Self.recordCount, in: transaction, keyspaces)
        for handle in records {
            // The highest handle exists only where damage has made it up.
            next = handle.rawValue == .max ? nil : handle.rawValue + 1
            // A record that is too damaged to tell is left to those who read it.
            guard let (layout, byteCount) = try? snapshot.layout(keyspaces, of: handle) else {
                continue
            }
            let shape = try? snapshot.storedShape(keyspaces, layout.shapeNumber)?.shape
            let current = dictionaries.current(for: (shape ?? .none).fingerprint)
            let wanted = compression == .none ? 0 : current ?? RecordLayout.noDictionary
            guard layout.dictionaryNumber != wanted else { continue }
            handles.append(handle)
            bytes += wanted == 0 ? byteCount * Self.expansion : byteCount
            if bytes >= limit { return }
        }
    }
}

extension CommitTransaction {
    /// Stores dictionaries that compress new records from now on: all of them, or none where they
    /// do not fit their share of the budget beside those that records still need. Eviction makes
    /// room for the next ones.
    func install(_ trained: TrainedDictionaries, in transaction: inout WriteTransaction) throws {
        // Another process may have trained dictionaries on more records.
        guard counters.trainedAt == trained.since else { return }
        counters.trainedAt = max(1, counters.bytesWritten)
        (counters.rawSinceTraining, counters.storedSinceTraining) = (0, 0)
        let allowance = TrainingPolicy.allowance(of: generation.budget)
        let kept = dictionaries.entries.values.filter { $0.recordCount > 0 }
            .reduce(0) { $0 + $1.byteCount }
        // The budget was larger: these go with the records that need them.
        if kept > allowance { dictionaries.replaceCurrent(with: []) }
        let added = trained.dictionaries.reduce(0) { $0 + $1.bytes.count }
        guard kept + added <= allowance else { return }
        counters.trainedRatio = trained.ratio
        guard !trained.dictionaries.isEmpty else { return }
        var new: [(number: UInt64, entry: DictionaryTable.Entry)] = []
        for dictionary in trained.dictionaries {
            let number = max(counters.nextDictionary, RecordLayout.noDictionary + 1)
            counters.nextDictionary = number + 1
            let slices = dictionary.slices(number: number, limit: records.chunkLimit)
            for (index, slice) in slices.enumerated() {
                let key = ChunkKey(number, UInt32(index))
                try transaction.put(keyspaces.dictionaries, key, slice)
                records.addNewPages(for: slice.count)
            }
            let entry = DictionaryTable.Entry(
                shape: dictionary.shape,
                fingerprint: RecordDictionary.fingerprint(of: dictionary.bytes),
                byteCount: dictionary.bytes.count)
            new.append((number, entry))
        }
        dictionaries.replaceCurrent(with: new)
    }

    /// Compresses new records without a dictionary until the next training.
    func retireDictionaries() {
        dictionaries.replaceCurrent(with: [])
        (counters.trainedAt, counters.trainedRatio) = (0, 0)
    }

    /// Compresses a record anew. Nothing else of it changes, and it does not count as accessed.
    func recompress(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        guard let old = try readableRecord(handle, in: transaction),
            try !counts.entry(handle, in: transaction).flags.contains(.pendingRemoval)
        else { return }
        let content = RecordContent(
            nameSpace: old.nameSpace, identifier: old.identifier, shape: old.shape,
            children: old.children, values: old.values[...])
        let shape: RecordLayout.ShapeReference =
            if old.hasOwnShape {
                .own(old.shape)
            } else if old.shapeNumber == 0 {
                .none
            } else {
                .number(old.shapeNumber, old.shape)
            }
        let payload = content.payload
        let compressed = try compress(
            RecordLayout.payload(payload, shape: shape), of: old.shape, in: transaction)
        guard compressed?.dictionary.number ?? 0 != old.dictionaryNumber else { return }
        let written = counters.bytesWritten
        try store(
            content, payload, shape, compressed, at: RecordPlace(handle: handle, old: old),
            in: &transaction)
        dictionaries.release(old.dictionaryNumber)
        // The pace of scans for cycles and of training is that of writes.
        let more = counters.bytesWritten - written
        counters.cyclesCollectedAt += more
        if counters.trainedAt > 0 { counters.trainedAt += more }
    }
}
