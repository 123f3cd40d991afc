import EspalierLMDB
import EspalierRecords

/// Checks one snapshot against the invariants of the design:
///
/// 1. every handle in any `children` list has a record, a tombstone or a lost stub;
/// 2. every reference count equals the number of children entries and pins naming the handle;
/// 3. `recency` holds exactly the handles with count 0 and the flagged ones, under the stamp in
///    `state`;
/// 4. `index` and `nodes` name each other one to one, tombstones, stubs and dying records apart;
/// 5. the bytes and records counted, and those of each shape and dictionary, equal those stored;
/// 6. a tombstone has a count above 0, and neither it nor a lost stub has a record.
///
/// Costs a walk of the whole cache and memory for a few words a record.
struct Verifier {
    let keyspaces: Keyspaces
    private let decompressor: RecordDecompressor
    var report = VerifyReport()
    private var found: [Handle: (nameSpace: NameSpace, identifier: Identifier)] = [:]
    private var references: [Handle: UInt64] = [:]
    private var states: [Handle: StateEntry] = [:]
    private var shapes: [UInt64: Shape] = [:]
    private var shapeUse: [UInt64: UInt64] = [:]
    /// Fingerprints by number.
    var dictionaries: [UInt64: UInt64] = [:]
    var dictionaryUse: [UInt64: UInt64] = [:]
    private var storedBytes: UInt64 = 0
    private var rawBytes: UInt64 = 0

    static func verify(_ transaction: borrowing ReadTransaction, _ generation: Generation) throws
        -> VerifyReport
    {
        var verifier = Verifier(
            keyspaces: generation.keyspaces,
            decompressor: RecordDecompressor(generation, transaction.snapshot))
        try verifier.readShapes(transaction)
        try verifier.readDictionaries(transaction)
        try verifier.readStates(transaction)
        try verifier.readRecords(transaction)
        try verifier.readPins(transaction)
        verifier.checkReferences()
        try verifier.checkRecency(transaction)
        try verifier.checkIndex(transaction)
        try verifier.checkCounters(transaction)
        try verifier.checkDictionaries(transaction)
        return verifier.report
    }

    private init(keyspaces: Keyspaces, decompressor: RecordDecompressor) {
        self.keyspaces = keyspaces
        self.decompressor = decompressor
    }

    // MARK: Reading

    private mutating func readShapes(_ transaction: borrowing ReadTransaction) throws {
        try transaction.forEach(in: keyspaces.shapes) { key, value in
            guard key.byteCount == 8 else {
                report.add(0, "a key of \(key.byteCount) bytes among the shapes")
                return true
            }
            let number = try ByteReader.reading(key) { try $0.integer(UInt64.self) }
            do {
                let stored = try ByteReader.reading(value) {
                    try StoredShape(reading: &$0, number: number)
                }
                shapes[number] = stored.shape
                shapeUse[number] = stored.recordCount
            } catch {
                report.add(0, "shape \(number): \(error)")
            }
            return true
        }
    }

    private mutating func readRecords(_ transaction: borrowing ReadTransaction) throws {
        var handles: [Handle] = []
        var chunks: [Handle: Int] = [:]
        try transaction.forEach(in: keyspaces.nodes) { key, value in
            storedBytes += UInt64(value.byteCount)
            guard key.byteCount == 8 || key.byteCount == 12 else {
                report.add(0, "a key of \(key.byteCount) bytes among the nodes")
                return true
            }
            try ByteReader.reading(key) { key in
                let handle = Handle(try key.integer(UInt64.self))
                if key.isAtEnd {
                    handles.append(handle)
                } else {
                    chunks[handle, default: 1] += 1
                }
            }
            return true
        }
        for handle in handles {
            try read(handle, chunkCount: chunks.removeValue(forKey: handle) ?? 1, transaction)
        }
        for handle in chunks.keys { report.add(4, "chunks of \(handle), which has no record") }
    }

    private mutating func read(
        _ handle: Handle, chunkCount: Int, _ transaction: borrowing ReadTransaction
    ) throws {
        let dying = states[handle].flatMap { $0.flags.contains(.pendingRemoval) ? $0 : nil }
        // Of its bytes a part may be gone already.
        if dying?.released == StateEntry.allReleased {
            return _ = found.updateValue((.segment, Identifier("")), forKey: handle)
        }
        let record: Record
        do {
            let stored = try transaction.withValue(keyspaces.nodes, handle.rawValue) { span in
                try Chunks.count(span) ?? 1
            }
            if stored != chunkCount {
                report.add(5, "\(handle) has \(chunkCount) chunks and names \(stored ?? 0)")
            }
            guard
                let read = try transaction.record(
                    keyspaces, handle, by: decompressor, shapes: { shapes[$0] })
            else { return }
            record = read
            try record.checkValues()
        } catch let error as FormatError {
            return report.add(0, "record \(handle): \(error)")
        }
        found[handle] = (dying == nil ? record.nameSpace : .segment, Identifier(record.identifier))
        count(record)
        if Set(record.children).count != record.children.count {
            report.add(2, "\(handle) names a child twice")
        }
        let released = Int(clamping: dying?.released ?? 0)
        for child in record.children.dropFirst(released) { references[child, default: 0] += 1 }
        report.references += record.children.count
        if record.dictionaryNumber > RecordLayout.noDictionary {
            dictionaryUse[record.dictionaryNumber, default: 0] += 1
        }
        guard record.shapeNumber != 0 else { return }
        guard let use = shapeUse[record.shapeNumber], use > 0 else {
            return report.add(5, "shape \(record.shapeNumber) has more records than counted")
        }
        shapeUse[record.shapeNumber] = use - 1
    }

    private mutating func count(_ record: Record) {
        rawBytes += UInt64(record.rawByteCount)
        switch record.nameSpace {
        case .node: report.nodes += 1
        case .key: report.keys += 1
        case .collection: report.collections += 1
        case .segment: report.segments += 1
        }
    }

    private mutating func readPins(_ transaction: borrowing ReadTransaction) throws {
        try transaction.forEach(in: keyspaces.pins) { key, value in
            guard value.byteCount == 8 else {
                report.add(0, "a pin of \(value.byteCount) bytes")
                return true
            }
            references[try Handle(stored: value), default: 0] += 1
            report.pins += 1
            return true
        }
    }

    private mutating func readStates(_ transaction: borrowing ReadTransaction) throws {
        try transaction.forEach(in: keyspaces.state) { key, value in
            guard key.byteCount == 8 else {
                report.add(0, "a key of \(key.byteCount) bytes among the states")
                return true
            }
            let handle = try Handle(stored: key)
            do {
                let entry = try ByteReader.reading(value) {
                    try StateEntry(reading: &$0, for: handle)
                }
                states[handle] = entry
                if entry.isDefault { report.add(2, "\(handle) has a state that is the default") }
            } catch {
                report.add(0, "state of \(handle): \(error)")
            }
            return true
        }
    }

    // MARK: Checking

    private mutating func checkReferences() {
        for (handle, count) in references {
            let flags = states[handle]?.flags ?? []
            if found[handle] == nil, flags.isDisjoint(with: [.tombstone, .lost]) {
                report.add(1, "\(handle) is referred to \(count) times and is nothing")
            }
        }
        for (handle, entry) in states {
            let isTombstone = entry.flags.contains(.tombstone)
            if isTombstone { report.tombstones += 1 }
            if isTombstone, found[handle] != nil, !entry.flags.contains(.pendingRemoval) {
                report.add(6, "\(handle) is a tombstone and a record")
            }
            if entry.flags.contains(.lost), found[handle] != nil {
                report.add(6, "\(handle) is lost and a record")
            }
            if isTombstone, entry.referenceCount == 0 {
                report.add(6, "\(handle) is a tombstone nothing refers to")
            }
            if found[handle] == nil, entry.flags.isDisjoint(with: [.tombstone, .lost]) {
                report.add(2, "\(handle) has a state and no record")
            }
        }
        for handle in Set(found.keys).union(states.keys) {
            let counted = states[handle]?.referenceCount ?? 1
            let actual = references[handle] ?? 0
            if counted != actual {
                report.add(2, "\(handle) counts \(counted) references and has \(actual)")
            }
        }
    }

    private mutating func checkRecency(_ transaction: borrowing ReadTransaction) throws {
        var listed: [Handle: UInt64] = [:]
        try transaction.forEach(in: keyspaces.recency) { key, _ in
            guard let pair = KeyPair(key) else {
                report.add(3, "an entry of \(key.byteCount) bytes")
                return true
            }
            if listed.updateValue(pair.first, forKey: Handle(pair.second)) != nil {
                report.add(3, "\(Handle(pair.second)) is listed twice")
            }
            return true
        }
        for (handle, entry) in states where entry.isInRecency {
            if listed.removeValue(forKey: handle) != entry.recencyStamp?.rawValue {
                report.add(3, "\(handle) is not listed under its stamp \(entry.stamp.rawValue)")
            }
        }
        for handle in listed.keys {
            report.add(3, "\(handle) is listed and neither a root nor flagged")
        }
    }

    private mutating func checkIndex(_ transaction: borrowing ReadTransaction) throws {
        var named: Set<Handle> = []
        try transaction.forEach(in: keyspaces.index) { key, value in
            guard value.byteCount == 8 else {
                report.add(0, "an index entry of \(value.byteCount) bytes")
                return true
            }
            let handle = try Handle(stored: value)
            if !named.insert(handle).inserted { report.add(4, "\(handle) has two index entries") }
            guard let record = found[handle] else {
                if states[handle]?.flags.contains(.lost) != true {
                    report.add(4, "the index names \(handle), which is no record")
                }
                return true
            }
            let expected = IndexKey.bytes(record.nameSpace, record.identifier.string)
            let isSame = try ByteReader.reading(key) { reader in
                try reader.bytes(count: reader.end) == expected
            }
            if !isSame { report.add(4, "the index names \(handle) under another identifier") }
            return true
        }
        for (handle, record) in found where record.nameSpace != .segment && !named.contains(handle)
        {
            report.add(4, "the index lacks \(handle)")
        }
    }

    private mutating func checkCounters(_ transaction: borrowing ReadTransaction) throws {
        let counters: Counters
        do {
            counters = try transaction.counters(keyspaces)
        } catch let error as FormatError {
            return report.add(0, "the counters: \(error)")
        }
        func check(_ what: String, _ counted: UInt64, _ actual: UInt64) {
            if counted != actual { report.add(5, "\(counted) \(what) counted, \(actual) stored") }
        }
        check("bytes", counters.recordBytes, storedBytes)
        check("raw bytes", counters.rawBytes, rawBytes)
        check("nodes", counters.nodes, UInt64(report.nodes))
        check("keys", counters.keys, UInt64(report.keys))
        check("collections", counters.collections, UInt64(report.collections))
        check("segments", counters.segments, UInt64(report.segments))
        check("tombstones", counters.tombstones, UInt64(report.tombstones))
        for (number, left) in shapeUse where left > 0 {
            report.add(5, "shape \(number) counts \(left) records too many")
        }
        if let last = found.keys.max(), last.rawValue >= counters.nextHandle {
            report.add(4, "\(last) was never given out")
        }
    }
}

extension NormalizedCache {
    /// Checks the whole cache: every record's check and every invariant, on one snapshot, after the
    /// writes submitted before. Blocks; costs a walk of the cache. Throws when the cache is closed.
    public func verify() throws(CacheError) -> VerifyReport {
        guard !isClosed else { throw .closed }
        try engine.queue.catchUp()
        do {
            return try engine.inspect { try Verifier.verify($0, $1) }
        } catch {
            throw CacheError(error)
        }
    }
}
