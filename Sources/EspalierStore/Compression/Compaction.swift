import EspalierLMDB
import EspalierRecords

/// Compaction: rewrites every record that is not compressed as a new record would be, up to 512
/// with each commit. Then copies the contents into a new file, which holds nothing of deleted
/// records, and is encrypted with the newest key.
extension Committer {
    /// Trains dictionaries now, and rewrites every record that does not use them yet. With
    /// compression off, decompresses every record. Copies the result into a new generation.
    ///
    /// - Parameter mayExceed: Whether both files together may exceed the budget.
    func compact(_ generation: Generation, mayExceed: Bool) throws {
        try recompress(generation)
        try renewFile(mayExceed: mayExceed)
    }

    /// Copies the contents into a new generation.
    ///
    /// If the key stays the same, a copy is not worth a risk: the old file stays if both files do
    /// not fit in the budget. If the key changes, the contents are then copied through memory.
    private func renewFile(mayExceed: Bool) throws {
        let live = try generations.current()
        let newKey = live.encryption?.hasNewestKey == false ? generations.encryption : nil
        let room = ByteCount(live.budget.bytes * (mayExceed ? 2 : 1))
        do {
            try repair(
                lostNames: generations.move(
                    to: nil, room: room, throughMemory: newKey != nil, newKey: newKey))
        } catch is GenerationHolder.DoesNotFit {
            guard let newKey else { return }
            try evictToMove(newKey, room: room)
        } catch let error as LMDBError
            where newKey == nil && !mayExceed && error.code == .diskFull
        {
            // The old file stays.
        }
    }

    /// Evicts until the contents fit in a new generation, and copies them with another key.
    private func evictToMove(_ newKey: Encryption, room limit: ByteCount) throws {
        for share in [8, 7, 6, 5] {
            let live = try generations.current()
            let pages = Generation.mapSize(for: live.budget) / live.environment.pageSize
            try room.trim(to: pages * share / 10, .shrink, in: live, self)
            do {
                return try repair(
                    lostNames: generations.move(to: nil, room: limit, newKey: newKey))
            } catch is GenerationHolder.DoesNotFit {}
        }
        throw room.full(try generations.current(), self)
    }

    /// Repairs the records whose names a copy has lost.
    private func repair(lostNames: Int) throws {
        if lostNames > 0 { try repair(try generations.current()) }
    }

    private func recompress(_ generation: Generation) throws {
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

/// Records whose dictionary differs from the one that a new record of their shape would use.
private struct CompactionSlice {
    private static let recordCount = 512
    /// An estimate of how many times longer a record becomes when it is decompressed.
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
            // Only damage makes a record with the highest handle.
            next = handle.rawValue == .max ? nil : handle.rawValue + 1
            // A record whose header can't be read is left for the read that finds it.
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
    /// Stores dictionaries that compress new records from now on. Stores none of them if they do
    /// not fit in their share of the budget beside the dictionaries that records still use.
    /// Eviction then frees those, and makes room for a later training.
    func install(_ trained: TrainedDictionaries, in transaction: inout WriteTransaction) throws {
        // Another process may have installed newer dictionaries.
        guard counters.trainedAt == trained.since else { return }
        counters.trainedAt = max(1, counters.bytesWritten)
        (counters.rawSinceTraining, counters.storedSinceTraining) = (0, 0)
        let allowance = TrainingPolicy.allowance(of: generation.budget)
        let kept = dictionaries.entries.values.filter { $0.recordCount > 0 }
            .reduce(0) { $0 + $1.byteCount }
        // The budget was larger. The old dictionaries are deleted with the last records that use
        // them.
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

    /// Compresses a record again. Its content does not change, and it does not count as accessed.
    func recompress(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        guard let old = try readableRecord(handle, in: transaction),
            try !states.entry(handle, in: transaction).flags.contains(.pendingRemoval)
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
            content, payload, shape, compressed, at: RecordSlot(handle: handle, old: old),
            in: &transaction)
        dictionaries.release(old.dictionaryNumber)
        // The bytes rewritten here must not bring the next scan for cycles or the next training
        // forward.
        let more = counters.bytesWritten - written
        counters.cyclesCollectedAt += more
        if counters.trainedAt > 0 { counters.trainedAt += more }
    }
}
