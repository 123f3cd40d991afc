import EspalierConfinement
import EspalierLMDB
import EspalierRecords

/// Compaction: packs all records into full blocks and full containers, some containers with each
/// commit. Then copies the contents into a new file, which holds nothing of deleted
/// records, and is encrypted with the newest key.
extension Committer {
    /// Trains a dictionary now, and packs all containers anew with it. With compression off,
    /// decompresses every record. Copies the result into a new generation.
    ///
    /// - Parameter mayExceed: Whether both files together may exceed the budget.
    func compact(_ generation: Generation, mayExceed: Bool) throws {
        try repack(generation)
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
                lostNames: move(
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
                    lostNames: move(to: nil, room: limit, newKey: newKey))
            } catch is GenerationHolder.DoesNotFit {}
        }
        throw room.full(try generations.current(), self)
    }

    /// Repairs the records whose names a copy has lost.
    private func repair(lostNames: Int) throws {
        if lostNames > 0 { try repair(try generations.current()) }
    }

    /// Trains a dictionary, and packs all containers anew.
    private func repack(_ generation: Generation) throws {
        let counters = try generation.environment.read { try $0.counters(generation.keyspaces) }
        if compression == .none {
            try commitMakingRoom([.retireDictionary], in: generation)
        } else if let trained = try training.trainNow(on: generation, counters) {
            try commitMakingRoom([.install(trained, isForAll: true)], in: generation)
        }
        for isLong in [false, true] {
            var next: Handle? = Handle(0)
            while let first = next {
                let slice = RepackedSlice(first: first, isLong: isLong)
                try commitMakingRoom([.repack(slice)], in: generation)
                next = slice.next
            }
        }
    }
}

/// Containers or long records that one commit packs anew, and where the next commit continues.
///
/// The committer's thread makes and reads it, and runs the commit. `@unchecked Sendable` because
/// operations are `Sendable`; `Confined` checks the thread.
final class RepackedSlice: @unchecked Sendable {
    /// Returns the number of containers of a slice, in a file of `capacity` pages. A commit copies
    /// them, and in a small cache nothing is to be evicted for that.
    static func count(capacity: Int) -> Int { min(48, max(8, capacity / 32)) }

    /// Returns the number of long records of a slice, which have 40 pages or so.
    static func longCount(capacity: Int) -> Int { min(8, max(1, capacity / 256)) }

    let first: Handle
    /// Whether the slice has the records that stand in chunks.
    let isLong: Bool
    private let confinedNext = Confined<Handle?>(nil)
    /// The first key of the next slice; nil at the end.
    var next: Handle? {
        get { confinedNext.value }
        set { confinedNext.value = newValue }
    }

    init(first: Handle, isLong: Bool = false) {
        self.first = first
        self.isLong = isLong
    }
}

extension CommitTransaction {
    /// Stores a dictionary that compresses new blocks from now on, unless it does not fit in its
    /// share of the budget beside the dictionaries that frames still use. Eviction then frees
    /// those, and makes room for a later training.
    ///
    /// - Parameter isForAll: Whether all frames are about to be compressed with it, so that the
    ///   other dictionaries go.
    func install(
        _ trained: TrainedDictionary, isForAll: Bool, in transaction: inout WriteTransaction
    ) throws {
        // Another process may have installed a newer dictionary.
        guard counters.trainedAt == trained.since else { return }
        counters.trainedAt = max(1, counters.bytesWritten)
        (counters.rawSinceTraining, counters.storedSinceTraining) = (0, 0)
        let allowance = TrainingPolicy.allowance(of: generation.budget)
        let kept =
            isForAll
            ? 0
            : dictionaries.entries.values.filter { $0.frameCount > 0 }
                .reduce(0) { $0 + $1.byteCount }
        // The budget was larger. The old dictionaries are deleted with the last frames that use
        // them.
        if kept > allowance { dictionaries.replaceCurrent(with: nil) }
        guard let dictionary = trained.dictionary, kept + dictionary.bytes.count <= allowance else {
            return
        }
        counters.trainedRatio = trained.ratio
        let number = max(counters.nextDictionary, FrameDecoder.noDictionary + 1)
        counters.nextDictionary = number + 1
        try put(dictionary, number, in: &transaction)
        let entry = DictionaryTable.Entry(
            fingerprint: RecordDictionary.fingerprint(of: dictionary.bytes),
            byteCount: dictionary.bytes.count)
        dictionaries.replaceCurrent(with: (number, entry))
    }

    private func put(
        _ dictionary: StoredDictionary, _ number: UInt64, in transaction: inout WriteTransaction
    ) throws {
        let slices = dictionary.slices(number: number, limit: records.valueLimit)
        for (index, slice) in slices.enumerated() {
            try transaction.put(keyspaces.dictionaries, ChunkKey(number, UInt32(index)), slice)
            records.addNewPages(for: slice.count)
        }
    }

    /// Writes the damaged dictionaries again that this process has in memory. The others compress
    /// no new blocks any more, and go with the frames that used them.
    func repairDictionaries(in transaction: inout WriteTransaction) throws {
        let known = generation.dictionaries.all
        for (number, entry) in dictionaries.entries {
            do {
                let stored = try transaction.storedDictionary(keyspaces, number)
                if let stored, RecordDictionary.fingerprint(of: stored.bytes) == entry.fingerprint {
                    continue
                }
            } catch is FormatError {}
            let index = Int(clamping: number)
            if index < known.count, let whole = known[index], whole.fingerprint == entry.fingerprint
            {
                try put(StoredDictionary(bytes: whole.bytes), number, in: &transaction)
            } else {
                dictionaries.retire(number)
            }
        }
    }

    /// Compresses new blocks without a dictionary until the next training.
    func retireDictionary() {
        dictionaries.replaceCurrent(with: nil)
        (counters.trainedAt, counters.trainedRatio) = (0, 0)
    }

    /// The most pages of the file.
    private var capacity: Int { generation.environment.mapSize / generation.environment.pageSize }

    /// Packs the records of a slice anew. They do not change, and do not count as accessed.
    func repack(_ slice: RepackedSlice, in transaction: inout WriteTransaction) throws {
        try applyPending(in: &transaction)
        guard !slice.isLong else { return try repackLong(slice, in: &transaction) }
        var writer = ContainerWriter(self)
        slice.next = try writer.repack(
            from: slice.first, count: RepackedSlice.count(capacity: capacity), in: &transaction)
        stored.forget()
    }

    /// Compresses long records as new ones. One that has become short moves into a container.
    private func repackLong(
        _ slice: RepackedSlice, in transaction: inout WriteTransaction
    ) throws {
        var handles: [Handle] = []
        let count = RepackedSlice.longCount(capacity: capacity)
        slice.next = nil
        let first = ChunkKey(slice.first.rawValue, 0)
        try transaction.forEachKey(in: keyspaces.long, from: first) { key in
            guard let key = ChunkKey(key), handles.last?.rawValue != key.number else { return true }
            guard handles.count < count else {
                slice.next = Handle(key.number)
                return false
            }
            handles.append(Handle(key.number))
            return true
        }
        for handle in handles {
            // Some chunks of a record that is pending removal may be gone.
            let flags = try states.entry(handle, in: transaction).flags
            guard !flags.contains(.pendingRemoval), let block = try? stored.longBlock(handle),
                block.isWhole, let record = try? block.blockRecord(at: 0)
            else { continue }
            withExtendedLifetime(block) { records.repackLong(record) }
        }
        try applyPending(in: &transaction)
    }

    // MARK: - Frames

    /// Replaces the content of `output` by the frame of a block, and counts it.
    func compress(
        _ block: borrowing ByteWriter, first: Handle, to output: inout ByteWriter,
        in transaction: borrowing WriteTransaction
    ) throws {
        let current = dictionaries.current.flatMap { number in
            dictionaries.entries[number].map { (number, $0.fingerprint) }
        }
        let compressed = try block.withBytes { bytes in
            try compressor?.compress(bytes, with: current) { number in
                let bytes = try dictionary(number, in: transaction)?.bytes
                // Until the next training there is no dictionary in place of a damaged one.
                if bytes == nil { dictionaries.retire(number) }
                return bytes
            }
        }
        let seed = RecordLayout.seed(handle: first, dictionary: compressed?.fingerprint ?? 0)
        output.removeAll()
        output.append(varint: compressed?.dictionary ?? 0)
        if let compressed { output.append(compressed.content) } else { output.append(block) }
        output.append(integer: block.check(seed: seed))
        dictionaries.retain(compressed?.dictionary ?? 0)
        if compressor != nil { counters.countWritten(raw: block.count, stored: output.count) }
    }

    /// Counts a frame that is removed.
    func releaseDictionary(ofFrame frame: ByteReader) {
        var frame = frame
        if let number = try? frame.varint() { dictionaries.release(number) }
    }

    /// Returns a dictionary as the transaction sees it; nil if there is none, if it is damaged, or
    /// if it is not the one that the list names.
    private func dictionary(
        _ number: UInt64, in transaction: borrowing WriteTransaction
    ) throws -> RecordDictionary? {
        do {
            guard let stored = try transaction.storedDictionary(keyspaces, number),
                let dictionary = RecordDictionary(stored.bytes),
                dictionary.fingerprint == dictionaries.entries[number]?.fingerprint
            else { return nil }
            return dictionary
        } catch is FormatError {
            return nil
        }
    }
}
