import EspalierConfinement
package import EspalierLMDB
import EspalierModels
package import EspalierRecords
import Foundation

/// Reads trees from one snapshot of one generation, and collects what the reads found.
///
/// Confined to the thread of its transaction, and valid as long as that.
package final class SnapshotReader {
    let generation: Generation
    let snapshot: Snapshot
    private let limits: TreeLimits
    /// The most bytes to which a block of records may be decompressed.
    private let blockLimit: Int
    /// The open transaction that is read; nil for a snapshot of the last commit.
    private let commit: CommitTransaction?
    private let cancellation: ReadCancellation?
    /// Tells hits their age; nil if they have none, which saves a look-up.
    private var clock: WallClock?
    /// Where the result of the read is kept; nil if it is not.
    var memory: (tier: MemoryTier, key: MemoryTree.Key, commit: UInt64)?
    /// What memory had of it.
    private(set) var remains: MemoryTier.Remains?
    /// The records without optimistic changes; nil for reads that see these changes.
    private var confirmed: ConfirmedSource?
    /// Whether to note which nodes the reads have looked at.
    var notesNames = false
    /// The identifiers of these nodes.
    private(set) var names: Set<String> = []
    /// Whether to note the names of the records that have expired.
    var notesExpired = false
    /// The names of these records.
    private(set) var expired: [(nameSpace: NameSpace, identifier: String)] = []
    /// Records that are reachable from themselves.
    private(set) var onCycle: [Handle] = []
    /// Records that the reads found damaged.
    private(set) var unreadable: [Handle] = []
    /// The records that the hits touch: their entry records and, once a record was detached, the
    /// flagged records whose references they followed.
    private(set) var touched: [Handle] = []
    /// Whether a read looked for all missing fields.
    private(set) var hasMissingFields = false

    package init(
        generation: Generation, snapshot: Snapshot, limits: TreeLimits, blockLimit: Int? = nil,
        cancellation: ReadCancellation? = nil
    ) {
        self.generation = generation
        self.snapshot = snapshot
        self.limits = limits
        self.blockLimit = blockLimit ?? limits.maximumBytes
        self.cancellation = cancellation
        commit = nil
    }

    /// Makes a reader of what a transaction has written so far. It is valid until the transaction
    /// writes again.
    init(_ commit: CommitTransaction, _ snapshot: Snapshot, limits: TreeLimits) {
        generation = commit.generation
        self.snapshot = snapshot
        self.limits = limits
        blockLimit = limits.maximumBytes
        self.commit = commit
        cancellation = nil
    }

    /// Lets hits tell when they were written, and how long ago that was.
    func dated(by clock: WallClock) -> SnapshotReader {
        self.clock = clock
        return self
    }

    /// How the read judges ages; nil if they do not count.
    var ageRule: AgeRule?

    /// Reads the tree of the node `identifier`.
    package func node<Model: IdentifiedModel>(_ type: Model.Type, _ identifier: String) throws
        -> ReadOutcome<Model>
    {
        var model: Model?
        return try node(type, identifier, into: &model).with(model)
    }

    /// Reads the tree of the node `identifier` into `model`, which is nil after a miss.
    func node<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, into model: inout Model?
    ) throws -> ReadOutcome<Void> {
        guard let handle = try handle(.node, identifier) else {
            #if DEBUG
            PrefixCheck.check(identifier, of: type)
            #endif
            return .miss(missing(type))
        }
        let outcome = try read(identifier, at: handle, into: &model) { treeReader in
            try ModelStorage.decode(type, entry: handle, identifier: identifier, of: treeReader)
        }
        guard outcome.reason == .notFound else { return outcome }
        try verifyIndex(.node, identifier)
        return .miss(missing(type))
    }

    /// Reads what `key` names: its own entry, or else the node of that identifier.
    package func model<Model: IdentifiedModel>(_ type: Model.Type, forKey key: String) throws
        -> ReadOutcome<Model>
    {
        var model: Model?
        return try self.model(type, forKey: key, into: &model).with(model)
    }

    /// Reads what `key` names into `model`, which is nil after a miss.
    func model<Model: IdentifiedModel>(
        _ type: Model.Type, forKey key: String, into model: inout Model?
    ) throws -> ReadOutcome<Void> {
        guard let handle = try handle(.key, key) else { return try node(type, key, into: &model) }
        let outcome = try read(key, at: handle, into: &model) { treeReader in
            try treeReader.values(entry: handle, identifier: key, in: .key) {
                try ModelStorage.decode(type, from: &$0)
            }
        }
        // The index may have led to the record of another key.
        guard outcome.reason == .notFound else { return outcome }
        try verifyIndex(.key, key)
        return try node(type, key, into: &model)
    }

    /// Reads the elements of the collection under `key`.
    package func collection<Model: IdentifiedModel>(_ type: Model.Type, forKey key: String) throws
        -> ReadOutcome<[Model]>
    {
        var models: [Model]?
        return try collection(type, forKey: key, into: &models).with(models)
    }

    /// Reads the elements of the collection under `key` into `models`, which is nil after a miss.
    func collection<Model: IdentifiedModel>(
        _ type: Model.Type, forKey key: String, into models: inout [Model]?
    ) throws -> ReadOutcome<Void> {
        try collection(
            key, missing: missing(type), into: &models, countedBy: { $0.count }
        ) { treeReader, handle in
            var elements: [Model] = []
            let segments = try treeReader.children(entry: handle, identifier: key)
            for segment in segments {
                try treeReader.values(entry: segment, identifier: "", in: .segment) { decoder in
                    try decoder.decodeElements(numberedFrom: elements.count) {
                        elements.append(try ModelStorage.decode(type, from: &$0))
                    }
                }
            }
            return elements
        }
    }

    /// Reads those elements of the collection under `key` whose indexes are in a range. Elements
    /// whose own node was deleted do not count.
    func collection<Model: IdentifiedModel>(
        _ type: Model.Type, forKey key: String, in range: Range<Int>, into models: inout [Model]?
    ) throws -> ReadOutcome<Void> {
        try collection(key, missing: missing(type), into: &models) { treeReader, handle in
            var elements: [Model] = []
            _ = try forEachElement(in: range, ofCollection: key, at: handle, treeReader) {
                elements.append(try ModelStorage.decode(type, from: &$0))
            }
            return elements
        }
    }

    /// Reads the number of elements of the collection under `key`. Elements whose own node was
    /// deleted do not count.
    func collectionCount(forKey key: String, into count: inout Int?) throws -> ReadOutcome<Void> {
        try collection(key, missing: .notFound, into: &count) { treeReader, handle in
            try forEachElement(in: .max ..< .max, ofCollection: key, at: handle, treeReader) { _ in
            }
        }
    }

    private func collection<Value: Sendable>(
        _ key: String, missing: @autoclosure () -> MissReason, into value: inout Value?,
        countedBy count: (Value) -> Int = { _ in 1 },
        _ body: (TreeReader, Handle) throws -> Value
    ) throws -> ReadOutcome<Void> {
        guard let handle = try handle(.collection, key) else { return .miss(missing()) }
        let outcome = try read(key, at: handle, into: &value, countedBy: count) {
            try body($0, handle)
        }
        guard outcome.reason == .notFound else { return outcome }
        try verifyIndex(.collection, key)
        return .miss(missing())
    }

    /// Calls `body` with the elements of a collection whose indexes are in a range. Returns the
    /// number of elements in front of the end of the range.
    ///
    /// Segments in front of the range are not read, unless the cache has deleted nodes to which
    /// records still refer: then the elements there that were deleted do not count.
    private func forEachElement(
        in range: Range<Int>, ofCollection key: String, at handle: Handle,
        _ treeReader: TreeReader, _ body: (inout ValueDecoder) throws -> Void
    ) throws -> Int {
        let mayBeDeleted = try hasTombstones
        var index = 0
        for segment in try treeReader.segments(entry: handle, identifier: key)
        where index < range.upperBound {
            guard mayBeDeleted || index + segment.count > range.lowerBound else {
                index += segment.count
                continue
            }
            let first = index
            try treeReader.values(entry: segment.handle, identifier: "", in: .segment) { decoder in
                try decoder.decodeElements(numberedFrom: first) { element in
                    if mayBeDeleted, let target = try element.nextReference(),
                        try isTombstone(target)
                    {
                        return try element.skipValue()
                    }
                    defer { index += 1 }
                    guard range.contains(index) else { return try element.skipValue() }
                    try body(&element)
                }
            }
        }
        return index
    }

    private var hasTombstones: Bool {
        get throws {
            if let commit {
                return commit.counters.tombstones > 0 || commit.states.tombstoneChange > 0
            }
            return try snapshot.counters(generation.keyspaces).tombstones > 0
        }
    }

    private func isTombstone(_ handle: Handle) throws -> Bool {
        try state(of: handle).flags.contains(.tombstone)
    }

    private func state(of handle: Handle) throws -> StateEntry {
        if let commit { return try commit.states.entry(handle, in: snapshot) }
        return try snapshot.state(generation.keyspaces, of: handle) ?? .default
    }

    // MARK: - JSON

    /// Writes the tree of the node `identifier` as JSON.
    func json(
        of identifier: String, _ options: JSONTreeOptions, into json: inout [UInt8]?
    ) throws -> ReadOutcome<Void> {
        guard let handle = try handle(.node, identifier) else { return .miss(.notFound) }
        let outcome = try read(identifier, at: handle, into: &json) { treeReader in
            let writer = JSONTreeWriter(treeReader, options, limit: limits.maximumBytes)
            try treeReader.entry(handle, identifier: identifier) { try writer.write(root: &$0) }
            return writer.output
        }
        if outcome.reason == .notFound { try verifyIndex(.node, identifier) }
        return outcome
    }

    /// Writes those elements of the collection under `key` whose indexes are in a range, as JSON.
    func json(
        ofCollection key: String, in range: Range<Int>, _ options: JSONTreeOptions,
        into json: inout [UInt8]?
    ) throws -> ReadOutcome<Void> {
        try collection(key, missing: .notFound, into: &json) { treeReader, handle in
            let writer = JSONTreeWriter(treeReader, options, limit: limits.maximumBytes)
            try writer.writeArray { writeElement in
                _ = try forEachElement(
                    in: range, ofCollection: key, at: handle, treeReader, writeElement)
            }
            return writer.output
        }
    }

    /// Returns the positions of the elements that satisfy a condition. Positions count all stored
    /// elements, those too that a read leaves out.
    func positions<Model: IdentifiedModel>(
        _ type: Model.Type, inCollection key: String, where condition: (Model) -> Bool
    ) throws -> ReadOutcome<Set<Int>> {
        guard let handle = try handle(.collection, key) else { return .miss(missing(type)) }
        var found: Set<Int>?
        return try read(key, at: handle, into: &found) { treeReader in
            var positions: Set<Int> = []
            var next = 0
            for segment in try treeReader.children(entry: handle, identifier: key) {
                try treeReader.values(entry: segment, identifier: "", in: .segment) { decoder in
                    try decoder.decodeElements(numberedFrom: next) {
                        defer { next += 1 }
                        let element = try ModelStorage.decode(type, from: &$0)
                        if condition(element) { positions.insert(next) }
                    }
                }
            }
            return positions
        }.with(found)
    }

    /// Returns why an entry that does not exist is a miss. A type that can't be read can't be
    /// stored either, and that reason helps more than "not found".
    private func missing<Model>(_ type: Model.Type) -> MissReason {
        ModelStorage.isReadable(type) ? .notFound : .notStorable(type: "\(type)")
    }

    private func handle(_ nameSpace: NameSpace, _ identifier: String) throws -> Handle? {
        guard !identifier.isEmpty else { return nil }
        if let known = confirmed?.handle(RecordName(nameSpace, identifier)) { return known }
        do {
            if let commit {
                return try commit.index.match(nameSpace, identifier, in: snapshot)?.handle
            }
            return try snapshot.handle(generation.keyspaces, nameSpace, identifier)
        } catch is FormatError {
            throw damagedIndex(identifier)
        }
    }

    /// Throws the reason of a miss if the part of the index is damaged that has led to another
    /// record.
    private func verifyIndex(_ nameSpace: NameSpace, _ identifier: String) throws {
        do {
            try snapshot.verifyIndex(generation.keyspaces, nameSpace, identifier)
        } catch is FormatError {
            throw damagedIndex(identifier)
        }
    }

    private func damagedIndex(_ identifier: String) -> MissReason {
        generation.noteDamage()
        return .damaged(path: identifier, detail: "its part of the index is damaged")
    }

    /// Reads the tree of the node `identifier`, without the models that lack required fields.
    func partialNode<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, into read: inout PartialRead<Model>?
    ) throws -> ReadOutcome<Void> {
        var model: Model?
        let outcome = try node(type, identifier, into: &model)
        if let model {
            read = PartialRead(model: model)
            return outcome
        }
        guard let reason = outcome.reason, case .incomplete(let missing) = reason,
            let handle = try handle(.node, identifier)
        else { return outcome }
        let partial = try self.read(
            identifier, at: handle, missingFields: .leaveOut, into: &model
        ) { treeReader in
            try ModelStorage.decode(type, entry: handle, identifier: identifier, of: treeReader)
        }
        guard let model else { return .miss(reason) }
        read = PartialRead(model: model, missing: missing)
        return partial
    }

    /// Whether reads touch the records on cycles whose references they follow.
    private var notesFollowed: Bool { generation.hasDetached }

    private func treeReader(
        _ rule: MissingFieldRule, _ noting: NotingSource?, _ recorder: TreeRecorder? = nil
    ) throws -> TreeReader {
        TreeReader(
            source: try noting ?? source(), limits: limits, missingFields: rule,
            cancellation: cancellation, recorder: recorder, ages: ageRule,
            notesFollowed: notesFollowed)
    }

    /// Returns the records on cycles whose references a read has followed, besides `entry`.
    /// Eviction detaches such a record from its children, unless it counts as accessed.
    private func followedCycles(
        of treeReader: TreeReader, _ tree: RecordedTree?, below entry: Handle
    ) -> [Handle] {
        guard treeReader.notesFollowed else { return [] }
        // The read has not entered the records of subtrees that memory had.
        let reused = treeReader.recorder?.hasReused == true ? tree?.parents : nil
        return Set(treeReader.followed + (reused ?? [])).filter { handle in
            handle != entry && (try? state(of: handle).isListedCycle) == true
        }
    }

    /// Hides optimistic changes from the reads.
    func hideLayers() throws {
        let layers = try LayerTable(of: generation, snapshot)
        confirmed = layers.isEmpty ? nil : ConfirmedSource(try source(), layers)
    }

    private func source() throws -> any RecordSource {
        if let confirmed { return confirmed }
        let stored = try storedSource()
        return commit.map { TransactionSource($0, snapshot, stored) } ?? stored
    }

    private func storedSource() throws -> SnapshotSource {
        try SnapshotSource(snapshot, of: generation, limit: blockLimit)
    }

    /// Returns the reason of a read that ended because a record lacks a required field. The read
    /// goes over the tree again to find all missing fields.
    private func incomplete(
        _ entry: String, _ reason: MissReason, _ body: (TreeReader) throws -> Void
    ) throws -> MissReason {
        hasMissingFields = true
        let treeReader = try treeReader(.collect, nil)
        _ = treeReader.reason(forMissing: entry) { try body(treeReader) }
        let missing = treeReader.missingFields
        return missing.isEmpty ? reason : .incomplete(missing)
    }

    /// Reads the tree of a record into `value`, which is nil after a miss. `count` returns the
    /// number of models in the value.
    private func read<Value: Sendable>(
        _ entry: String, at handle: Handle, missingFields rule: MissingFieldRule = .stop,
        into value: inout Value?, countedBy count: (Value) -> Int = { _ in 1 },
        _ body: (TreeReader) throws -> Value
    ) throws -> ReadOutcome<Void> {
        let outcome = try read(entry, at: handle, missingFields: rule) {
            value = try body($0)
        } keeping: { tree, description in
            // A model that reads from the cache itself depends on more than its records.
            guard let memory, let value, !AppCodeScope.hasNestedRead else { return false }
            return memory.tier.insert(
                value, count(value), memory.key, tree, generation, description)
        }
        if case .miss = outcome { value = nil }
        return outcome
    }

    /// - Parameters:
    ///   - body: Decodes the tree. Called again if the read begins anew.
    ///   - keep: Keeps what was decoded in memory, for the next read. Returns whether it has.
    private func read(
        _ entry: String, at handle: Handle, missingFields rule: MissingFieldRule,
        _ body: (TreeReader) throws -> Void,
        keeping keep: (RecordedTree, MemoryTree.Description) -> Bool
    ) throws -> ReadOutcome<Void> {
        let noting = notesNames ? NotingSource(try storedSource()) : nil
        let recorder = memory.map { memory in
            let remains = memory.tier.remains(of: memory.key)
            self.remains = remains
            return memory.tier.makeRecorder(remains, generation, at: memory.commit)
        }
        var isKept = false
        defer {
            if !isKept, let memory, let older = recorder?.olderTree {
                memory.tier.remove(older, of: memory.key)
            }
        }
        var treeReader = try treeReader(rule, noting, recorder)
        var reason = treeReader.reason(forMissing: entry) { try body(treeReader) }
        if let recorder, recorder.hasReused, reason?.isLimit == true {
            // A reused subtree may count for more than a decoded one.
            treeReader = try self.treeReader(rule, noting)
            reason = treeReader.reason(forMissing: entry) { try body(treeReader) }
        }
        if let noting { names.formUnion(identifiers(of: noting.handles, treeReader)) }
        if notesExpired { expired = Set(treeReader.expired).compactMap(treeReader.name) }
        onCycle += treeReader.onCycle
        unreadable += treeReader.unreadable
        if !treeReader.unreadable.isEmpty { generation.noteDamage() }
        if case .dangling? = reason { generation.noteDamage() }
        if let reason {
            return .miss(treeReader.lacksField ? try incomplete(entry, reason, body) : reason)
        }
        // A damaged group of states makes no read a miss.
        let writtenAt = clock == nil ? nil : (try? state(of: handle))?.writtenAt?.date
        let tree = treeReader.recorder?.finish(treeReader)
        let cycles = followedCycles(of: treeReader, tree, below: handle)
        touched += [handle] + cycles
        if let memory, let tree {
            isKept = keep(
                tree,
                MemoryTree.Description(
                    handle: handle, cycles: cycles, knowsCycles: treeReader.notesFollowed,
                    isCut: treeReader.isCut, recordCount: treeReader.recordCount,
                    recordBytes: treeReader.byteCount, commit: memory.commit,
                    writtenAt: clock.map { _ in writtenAt }, ages: treeReader.ages))
        }
        let judged = ageRule?.judge(treeReader.ages) ?? (oldest: nil, isExpired: false)
        return .hit(
            Hit(
                value: (), isCut: treeReader.isCut, recordCount: treeReader.recordCount,
                writtenAt: writtenAt, age: writtenAt.flatMap { clock?.age(of: $0) },
                oldestAge: judged.oldest, isExpired: judged.isExpired))
    }
}

/// The records of one snapshot of one generation, for one read.
///
/// Confined to the thread of the read.
package final class SnapshotSource: RecordSource {
    private let snapshot: Snapshot
    private let generation: Generation
    private let stored: StoredRecords
    /// The dates of the records that were looked up last: records of a tree stand together.
    private var times: StateRange<StateTimes>?

    /// - Parameter limit: The most bytes to which one frame may be decompressed.
    package init(
        _ snapshot: Snapshot, of generation: Generation, limit: Int = FrameDecoder.limit
    ) throws {
        self.snapshot = snapshot
        self.generation = generation
        stored = try StoredRecords(
            snapshot, generation, limit: min(limit, FrameDecoder.limit), keepsBlocks: true)
    }

    package func record(_ handle: Handle) throws -> RecordLookup {
        if let record = try find(handle) { return .found(record, owner: nil) }
        return try lookUp(handle)
    }

    /// Returns the bytes of a record that stands in a container; nil if it does not. A frame that
    /// can't be read does not matter to a record that stands in chunks or was deleted.
    @inline(__always)
    private func find(_ handle: Handle) throws -> ByteReader? {
        do {
            return try stored.lend(handle)
        } catch let error as FormatError {
            let flags = (try? snapshot.state(generation.keyspaces, of: handle))??.flags ?? []
            guard try !flags.isDisjoint(with: [.tombstone, .lost]) || stored.isLong(handle) else {
                throw error
            }
            return nil
        }
    }

    private func lookUp(_ handle: Handle) throws -> RecordLookup {
        let flags = try snapshot.state(generation.keyspaces, of: handle)?.flags ?? []
        if flags.contains(.lost) { return .lost }
        // A commit removes a deleted long record in steps: some of its chunks may be gone.
        if !flags.isDisjoint(with: [.tombstone, .pendingRemoval]) { return .tombstone }
        guard let buffer = try stored.longRecordBytes(handle) else { return .nothing }
        return .found(buffer.reader, owner: buffer)
    }

    package func shape(_ number: UInt64) throws -> Shape? { try stored.shape(number) }

    package func times(of handle: Handle) throws -> RecordTimes? {
        if times?.contains(handle) != true {
            times = try snapshot.stateRange(
                of: StateTimes.self, generation.keyspaces, around: handle)
        }
        // A damaged group makes no read a miss: its records have no dates then.
        return times?.group?[handle]
    }
}

/// Notes which records a read looks at.
///
/// Confined to the thread of the read.
private final class NotingSource: RecordSource {
    private let stored: SnapshotSource
    private(set) var handles: Set<Handle> = []

    init(_ stored: SnapshotSource) { self.stored = stored }

    func record(_ handle: Handle) throws -> RecordLookup {
        handles.insert(handle)
        return try stored.record(handle)
    }

    func shape(_ number: UInt64) throws -> Shape? { try stored.shape(number) }

    func times(of handle: Handle) throws -> RecordTimes? { try stored.times(of: handle) }
}

/// The records of a transaction before its end: the states of records, the records themselves and
/// the new shapes are in its tables and not yet in the file.
///
/// Confined to the thread that commits.
private final class TransactionSource: RecordSource {
    private let commit: CommitTransaction
    private let snapshot: Snapshot
    /// Keeps the blocks in place that the transaction's own reader lends for a moment only.
    private let stored: SnapshotSource

    init(_ commit: CommitTransaction, _ snapshot: Snapshot, _ stored: SnapshotSource) {
        self.commit = commit
        self.snapshot = snapshot
        self.stored = stored
    }

    func record(_ handle: Handle) throws -> RecordLookup {
        let flags = try commit.states.entry(handle, in: snapshot).flags
        if flags.contains(.lost) { return .lost }
        if !flags.isDisjoint(with: [.tombstone, .pendingRemoval]) { return .tombstone }
        guard let record = try commit.records.find(handle) else { return .nothing }
        let buffer = record.owner ?? RecordBuffer(record.reader, 0..<record.reader.end)
        return .found(buffer.reader, owner: buffer)
    }

    func shape(_ number: UInt64) throws -> Shape? {
        try commit.shapes.shape(number) ?? stored.shape(number)
    }
}
