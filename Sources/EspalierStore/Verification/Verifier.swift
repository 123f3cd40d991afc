package import EspalierLMDB
import EspalierRecords

/// Checks one snapshot against the invariants of the design:
///
/// 1. Every handle in a list of children has a record, a tombstone or the state of a lost record.
/// 2. Every reference count equals the number of children and pins that name the handle.
/// 3. `recency` contains exactly the handles with the count 0 and the flagged ones, under the stamp
///    in `state`.
/// 4. Entries of `index` and records in `nodes` correspond one to one, except for tombstones, lost
///    records and records whose removal is pending.
/// 5. The counters of bytes and records, in total and for each shape and dictionary, equal the
///    stored ones.
/// 6. A tombstone has a count above 0, and neither a tombstone nor a lost record has bytes, unless
///    its removal is pending.
///
/// Costs a walk of the whole cache, and a few words of memory for each record.
package struct Verifier {
    private let keyspaces: Keyspaces
    private let stored: StoredRecords
    private var report = VerifyReport()
    private var found: [Handle: (nameSpace: NameSpace, identifier: Identifier)] = [:]
    private var references: [Handle: UInt64] = [:]
    private var states: [Handle: StateEntry] = [:]
    private var shapes: [UInt64: Shape] = [:]
    private var shapeUse: [UInt64: UInt64] = [:]
    /// The fingerprints of the dictionaries, by number.
    private var dictionaries: [UInt64: UInt64] = [:]
    private var dictionaryUse: [UInt64: UInt64] = [:]
    private var storedBytes: UInt64 = 0
    private var rawBytes: UInt64 = 0

    /// Returns the problems of one snapshot.
    package static func verify(_ snapshot: Snapshot, _ generation: Generation) throws
        -> VerifyReport
    {
        var verifier = Verifier(
            keyspaces: generation.keyspaces,
            stored: try StoredRecords(snapshot, generation))
        try verifier.readShapes(snapshot)
        try verifier.readDictionaries(snapshot)
        try verifier.readStates(snapshot)
        try verifier.readRecords(snapshot)
        try verifier.readPins(snapshot)
        try verifier.readLayers(snapshot)
        verifier.checkReferences()
        try verifier.checkRecency(snapshot)
        try verifier.checkIndex(snapshot)
        try verifier.checkCounters(snapshot)
        try verifier.checkDictionaries(snapshot)
        try verifier.checkChanges(snapshot)
        return verifier.report
    }

    private init(keyspaces: Keyspaces, stored: StoredRecords) {
        self.keyspaces = keyspaces
        self.stored = stored
    }

    // MARK: - Reading

    private mutating func readShapes(_ snapshot: Snapshot) throws {
        try snapshot.forEach(in: keyspaces.shapes) { key, value in
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

    private mutating func readRecords(_ snapshot: Snapshot) throws {
        try readContainers(snapshot)
        try readChunks(snapshot)
        var handles: [Handle] = []
        try stored.forEach { found in
            switch found {
            case .block(let block):
                if let last = handles.last, block.first <= last {
                    report.add(
                        0, "the records from \(block.first) on are out of order after \(last)")
                }
                handles += block.handles
            case .long(let handle): handles.append(handle)
            case .damaged(let first, let error):
                report.add(0, "the records from \(first): \(error)")
            }
            return true
        }
        for handle in handles { try read(handle, snapshot) }
    }

    /// Reads the containers, and counts their bytes and frames.
    private mutating func readContainers(_ snapshot: Snapshot) throws {
        try snapshot.forEach(in: keyspaces.nodes) { key, value in
            storedBytes += UInt64(value.byteCount)
            guard key.byteCount == 8 else {
                report.add(0, "a key of \(key.byteCount) bytes among the nodes")
                return true
            }
            let value = ByteReader(lent: value)
            guard let container = try? Container(reading: value, key: Handle(stored: key)) else {
                // The walk of the blocks reports it.
                return true
            }
            for entry in container.entries { count(frame: value.slice(entry.range)) }
            return true
        }
    }

    private mutating func readChunks(_ snapshot: Snapshot) throws {
        var chunks: [Handle: Int] = [:]
        try snapshot.forEach(in: keyspaces.long) { key, value in
            storedBytes += UInt64(value.byteCount)
            guard let key = ChunkKey(key) else {
                report.add(0, "a key of \(key.byteCount) bytes among the chunks")
                return true
            }
            chunks[Handle(key.number), default: 0] += 1
            return true
        }
        for (handle, count) in chunks {
            let first = ChunkKey(handle.rawValue, 0)
            let released = states[handle]?.released ?? 0
            guard
                let named = try snapshot.withValue(keyspaces.long, first, { try? Chunks.count($0) })
            else {
                report.add(4, "chunks of \(handle), which has no record")
                continue
            }
            if let named, named != count, released != StateEntry.allReleased {
                report.add(5, "\(handle) has \(count) chunks and names \(named)")
            }
            if let frame = try? snapshot.longFrame(keyspaces, handle) {
                ByteReader.reading(frame) { self.count(frame: $0) }
            }
        }
    }

    private mutating func count(frame: ByteReader) {
        var frame = frame
        if let number = try? frame.varint(), number > FrameDecoder.noDictionary {
            dictionaryUse[number, default: 0] += 1
        }
    }

    private mutating func read(_ handle: Handle, _ snapshot: Snapshot) throws {
        let pendingRemoval = states[handle].flatMap {
            $0.flags.contains(.pendingRemoval) ? $0 : nil
        }
        // Some of its bytes may be gone already.
        if pendingRemoval?.released == StateEntry.allReleased {
            return _ = found.updateValue((.segment, Identifier("")), forKey: handle)
        }
        let record: Record
        do {
            guard let read = try stored.record(handle) else { return }
            record = read
            try record.checkValues()
        } catch let error as FormatError {
            return report.add(0, "record \(handle): \(error)")
        }
        found[handle] = (
            pendingRemoval == nil ? record.nameSpace : .segment, Identifier(record.identifier)
        )
        count(record)
        if Set(record.children).count != record.children.count {
            report.add(2, "\(handle) names a child twice")
        }
        let released = Int(clamping: pendingRemoval?.released ?? 0)
        for child in record.children.dropFirst(released) { references[child, default: 0] += 1 }
        report.references += record.children.count
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

    private mutating func readPins(_ snapshot: Snapshot) throws {
        try snapshot.forEach(in: keyspaces.pins) { key, value in
            guard value.byteCount == 8 else {
                report.add(0, "a pin of \(value.byteCount) bytes")
                return true
            }
            references[try Handle(stored: value), default: 0] += 1
            report.pins += 1
            return true
        }
    }

    private mutating func readLayers(_ snapshot: Snapshot) throws {
        let layers = try LayerTable(keyspaces, snapshot, valueLimit: .max)
        if layers.isDamaged { report.add(0, "an optimistic change that can't be read") }
        for handle in layers.retainedHandles { references[handle, default: 0] += 1 }
        report.optimisticChanges = layers.layers.count
    }

    private mutating func readStates(_ snapshot: Snapshot) throws {
        try snapshot.forEachState(
            keyspaces,
            damaged: { key, error in
                guard let key else { return report.add(0, "a key among the states is no handle") }
                report.add(0, "states from \(key) on: \(error)")
            }
        ) { handle, state in
            states[handle] = state
            if state.isDefault { report.add(2, "\(handle) has a state that is the default") }
        }
        try snapshot.forEach(in: keyspaces.state) { _, value in
            if value.byteCount > StateGroup.byteLimit {
                report.add(2, "a group of states of \(value.byteCount) bytes")
            }
            return true
        }
    }

    // MARK: - Checking

    private mutating func checkReferences() {
        for (handle, count) in references {
            let flags = states[handle]?.flags ?? []
            if found[handle] == nil, flags.isDisjoint(with: [.tombstone, .lost]) {
                report.add(1, "\(handle) has \(count) references and no record")
            }
        }
        for (handle, entry) in states {
            let isTombstone = entry.flags.contains(.tombstone)
            if isTombstone { report.tombstones += 1 }
            if isTombstone, found[handle] != nil, !entry.flags.contains(.pendingRemoval) {
                report.add(6, "\(handle) is a tombstone and a record")
            }
            if entry.flags.contains(.lost), found[handle] != nil,
                !entry.flags.contains(.pendingRemoval)
            {
                report.add(6, "\(handle) is lost and a record")
            }
            if isTombstone, entry.referenceCount == 0 {
                report.add(6, "\(handle) is a tombstone without references")
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

    private mutating func checkRecency(_ snapshot: Snapshot) throws {
        var listed: [Handle: UInt64] = [:]
        try snapshot.forEachRecencyEntry(
            keyspaces,
            damaged: { key in
                report.add(3, "a group of `recency` with a key of \(key.count) bytes is damaged")
            }
        ) { entry in
            if listed.updateValue(entry.stamp.rawValue, forKey: entry.handle) != nil {
                report.add(3, "\(entry.handle) is listed twice")
            }
            return true
        }
        for (handle, entry) in states where entry.isInRecency {
            if listed.removeValue(forKey: handle) != entry.recencyStamp?.rawValue {
                report.add(3, "\(handle) is not listed under its stamp \(entry.stamp.rawValue)")
            }
        }
        for handle in listed.keys {
            report.add(3, "\(handle) is listed, and neither a root nor flagged")
        }
    }

    private mutating func checkIndex(_ snapshot: Snapshot) throws {
        var named: Set<Handle> = []
        try checkGroups(snapshot)
        try snapshot.forEachIndexEntry(keyspaces) { entry in
            let handle = entry.handle
            if !named.insert(handle).inserted { report.add(4, "\(handle) has two index entries") }
            guard let record = found[handle] else {
                if states[handle]?.flags.contains(.lost) != true {
                    report.add(4, "the index names \(handle), which is no record")
                } else if !entry.isWhole {
                    report.add(4, "the index holds a part of the name of \(handle), which is lost")
                }
                return true
            }
            let name = keyspaces.indexKey(record.nameSpace, record.identifier.string)
            if record.nameSpace == .segment || !entry.matches(name) {
                report.add(4, "the index names \(handle) under another identifier")
            }
            return true
        }
        for (handle, record) in found where record.nameSpace != .segment && !named.contains(handle)
        {
            report.add(4, "the index lacks \(handle)")
        }
    }

    /// Checks that every group of the index can be read, and that its entries ascend between its
    /// key and the key of the next group.
    private mutating func checkGroups(_ snapshot: Snapshot) throws {
        var last: (key: [UInt8], entries: IndexEntryList)?
        func checkLast(upTo key: [UInt8]?) {
            guard let last, !last.entries.isInOrder(from: last.key, to: key) else { return }
            report.add(4, "the names in a group of the index are not in order")
        }
        try snapshot.forEach(in: keyspaces.index) { key, value in
            let bytes = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
            checkLast(upTo: bytes)
            do {
                last = (bytes, try IndexGroup(lentKey: key, value: value).entries())
            } catch {
                report.add(0, "a group of the index: \(error)")
                last = nil
            }
            return true
        }
        checkLast(upTo: nil)
    }

    private mutating func checkCounters(_ snapshot: Snapshot) throws {
        let counters: Counters
        do {
            counters = try snapshot.counters(keyspaces)
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

    /// Checks that every entry of `changes` can be read, and belongs to a commit that was made.
    private mutating func checkChanges(_ snapshot: Snapshot) throws {
        let commits = (try? snapshot.counters(keyspaces).commits) ?? .max
        try snapshot.forEachChange(keyspaces, from: 0) { commit, entry in
            if entry == nil { report.add(0, "the changes of commit \(commit)") }
            if commit > commits { report.add(5, "changes of commit \(commit), which was not made") }
            return true
        }
    }

    // MARK: - Dictionaries

    /// Checks that every dictionary can be read and that zstd accepts it.
    private mutating func readDictionaries(_ snapshot: Snapshot) throws {
        try snapshot.forEach(in: keyspaces.dictionaries) { key, _ in
            if try Snapshot.dictionaryNumber(key) == nil {
                report.add(0, "a key of \(key.byteCount) bytes among the dictionaries")
            }
            return true
        }
        for number in try snapshot.dictionaryNumbers(keyspaces) {
            do {
                let stored = try snapshot.storedDictionary(keyspaces, number)
                guard let bytes = stored?.bytes, let dictionary = RecordDictionary(bytes) else {
                    report.add(0, "dictionary \(number): zstd refuses it")
                    continue
                }
                dictionaries[number] = dictionary.fingerprint
            } catch {
                report.add(0, "dictionary \(number): \(error)")
            }
        }
    }

    /// Checks that the list of dictionaries equals the stored ones and counts the records of each.
    private mutating func checkDictionaries(_ snapshot: Snapshot) throws {
        let listed = try DictionaryTable(loading: snapshot, keyspaces)
        guard !listed.isDamaged else { return report.add(0, "the list of dictionaries") }
        for (number, entry) in listed.entries {
            let used = dictionaryUse.removeValue(forKey: number) ?? 0
            if used != entry.frameCount {
                report.add(
                    5, "dictionary \(number) counts \(entry.frameCount) frames and has \(used)")
            }
            if dictionaries.removeValue(forKey: number) != entry.fingerprint {
                report.add(5, "dictionary \(number) is not the one listed")
            }
        }
        for number in dictionaryUse.keys {
            report.add(5, "dictionary \(number) has records and is not listed")
        }
        for number in dictionaries.keys { report.add(5, "dictionary \(number) is not listed") }
    }
}

extension NormalizedCache {
    /// Checks the whole cache: the check of every record, and all invariants of the design.
    ///
    /// ```swift
    /// let report = try cache.verify()
    /// print(report.isClean ? "intact" : "\(report.problemCount) problems")
    /// ```
    ///
    /// Checks one snapshot, which contains the writes submitted before. Blocks the calling thread.
    ///
    /// - Returns: The problems found and the number of records.
    /// - Throws: A ``CacheError``: `closed` when the cache is closed, `waitInsideRead` inside a
    ///   read, `storage` or `damaged` when the files can't be read.
    /// - Complexity: O(*n*) in the records of the cache.
    public func verify() throws(CacheError) -> VerifyReport {
        do {
            return try withTransaction(.latest) { try Verifier.verify($0.snapshot, $1) }
        } catch {
            throw CacheError(error)
        }
    }
}

/// The result of a check of the whole cache.
public struct VerifyReport: Sendable, Hashable, Codable {
    /// An invariant that does not hold.
    public struct Problem: Sendable, Hashable, Codable, CustomStringConvertible {
        /// The number of the invariant, 1 to 6; 0 for an entry that can't be read. A deep check
        /// also finds 7, a value that is not of the format, and 8, a tree that can't be walked.
        public let invariant: Int
        /// What is wrong.
        public let detail: String
        /// The identifier of the record, if a deep check found the problem.
        public var identifier: String?
        /// The place in the record, as misses name it: `Message:34.sender`.
        public var path: String?

        public var description: String {
            let place = path.map { " at \($0)" } ?? ""
            return invariant == 0
                ? "damage: \(detail)" : "invariant \(invariant)\(place): \(detail)"
        }
    }

    /// The first 1,000 problems.
    public package(set) var problems: [Problem] = []
    /// The number of all problems.
    public package(set) var problemCount = 0
    /// The number of nodes.
    public package(set) var nodes = 0
    /// The number of keys that have an entry of their own.
    public package(set) var keys = 0
    /// The number of collections.
    public package(set) var collections = 0
    /// The number of segments of collections.
    public package(set) var segments = 0
    /// The number of deleted records to which others still refer.
    public package(set) var tombstones = 0
    /// The number of references from records to records.
    public package(set) var references = 0
    /// The number of pinned nodes and collections.
    public package(set) var pins = 0
    /// The number of optimistic changes that are neither confirmed nor rolled back.
    public package(set) var optimisticChanges = 0
    /// The number of values that a deep check decoded; 0 without one.
    public package(set) var values = 0
    /// The number of entries whose trees a deep check walked; 0 without one.
    public package(set) var trees = 0
    /// The number of these entries whose trees can't be read; 0 without a deep check.
    public package(set) var unreadableTrees = 0

    /// Whether the check found no problem.
    public var isClean: Bool { problemCount == 0 }

    /// Adds a problem.
    package mutating func add(
        _ invariant: Int, _ detail: @autoclosure () -> String, identifier: String? = nil,
        path: String? = nil
    ) {
        problemCount += 1
        guard problems.count < 1_000 else { return }
        problems.append(
            Problem(invariant: invariant, detail: detail(), identifier: identifier, path: path))
    }
}
