package import EspalierLMDB
package import EspalierRecords

/// The `pins` keyspace as one transaction changes it, and what pinned records cost.
///
///     key = name, as in the index        value = handle (8 bytes)
///
/// A pin counts as a reference, but no record holds it. Eviction therefore never reaches a pinned
/// record, nor any record below it; what it would detach on a large cycle, it compares with the
/// records that pins keep. Confined to the thread that commits.
final class PinTable {
    // immutable
    private let keyspace: Keyspace
    let known: PinnedRecords

    // confined to the thread that commits
    private(set) var change: PinnedRecords.Change

    init(_ keyspaces: Keyspaces, _ known: PinnedRecords) {
        keyspace = keyspaces.pins
        self.known = known
        change = known.beginChange()
    }

    /// Whether neither a pin nor an optimistic change keeps a record.
    var isEmpty: Bool { change.pins == 0 && change.layerEntries == 0 }

    /// The cost of pinned records in bytes. It may include records that are not pinned any more.
    var cost: Int { change.cost }

    /// Whether `isPinned` knows which records are pinned.
    var isMeasured: Bool { known.isMeasured || change.isMeasurement }

    /// Whether `isPinned` may be true for records that are not pinned any more: a pin has gone
    /// since the last measurement, or a quarter of what is pinned was written again, perhaps with
    /// other references.
    var mayBeTooMany: Bool { change.released > change.cost / 4 }

    /// Returns whether a record is known to be pinned or below a pin.
    func isPinned(_ handle: Handle) -> Bool { known.cost(of: handle, with: change) != nil }

    /// Adds a pin. Returns false if the same pin is there. If the stored pin has another handle,
    /// calls `removeStale` to remove it first.
    func insert(
        _ key: [UInt8], _ handle: Handle, in transaction: inout WriteTransaction,
        replacing removeStale: (inout WriteTransaction) throws -> Void
    ) throws -> Bool {
        if let stored = try transaction.value(keyspace, key) {
            guard (try? Handle(stored: stored)) != handle else { return false }
            try removeStale(&transaction)
        }
        try transaction.put(keyspace, key, handle.storedBytes)
        change.pins += 1
        change.cost += PinCost.bytesOfPin
        return true
    }

    /// Removes a pin. Returns the value of its entry; nil if there was none.
    func remove(_ key: [UInt8], in transaction: inout WriteTransaction) throws -> [UInt8]? {
        guard change.pins > 0, let value = try transaction.value(keyspace, key) else { return nil }
        try transaction.delete(keyspace, key)
        change.pins -= 1
        change.noteRelease()
        change.cost = isEmpty ? 0 : max(0, change.cost - PinCost.bytesOfPin)
        return value
    }

    /// Notes how many entries the keyspace `layers` has. Optimistic changes keep records as pins
    /// do.
    func setLayerEntries(_ count: Int) {
        if count < change.layerEntries { change.noteRelease() }
        change.layerEntries = count
        if isEmpty { change.cost = 0 }
    }

    /// Returns whether a name is pinned and leads to `handle`. The key of a pin is a whole name.
    func names(
        _ handle: Handle, _ key: [UInt8], in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        guard change.pins > 0 else { return false }
        return try transaction.value(keyspace, key).flatMap { try? Handle(stored: $0) } == handle
    }

    /// Returns the keys of all pins by their handles.
    func names(in transaction: borrowing WriteTransaction) throws -> [Handle: [UInt8]] {
        var names: [Handle: [UInt8]] = [:]
        guard change.pins > 0 else { return names }
        try transaction.forEach(in: keyspace) { key, value in
            guard let handle = try? Handle(stored: value) else { return true }
            names[handle] = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
            return true
        }
        return names
    }

    /// Adds the cost of records and of everything below them. `record` reads a record.
    func add(_ handles: [Handle], record: (Handle) throws -> Record?) rethrows {
        var open = handles
        while let handle = open.popLast() {
            guard !isPinned(handle) else { continue }
            guard let record = try record(handle) else {
                // A write may fill a lost record again.
                change.costs[handle] = 0
                continue
            }
            setCost(of: record)
            open += record.children
        }
    }

    /// Sets the cost of a pinned record: its share of a page, and of a page of the index.
    func setCost(of record: Record) {
        let cost = PinCost.bytes(of: record)
        if let old = known.cost(of: record.handle, with: change) {
            change.released += old
            change.cost -= old
        }
        change.cost += cost
        change.costs[record.handle] = cost
    }

    /// Counts written bytes as bytes of pinned records, because it is not known which are pinned.
    func addUnmeasured(_ byteCount: Int) { change.cost += byteCount * 2 }

    /// Begins a measurement: forgets the costs of records, which `add` then counts again.
    func beginMeasurement() {
        change.costs = [:]
        change.cost = change.pins * PinCost.bytesOfPin
        change.isMeasurement = true
        change.released = 0
    }

    /// Applies the changes of a committed transaction in memory.
    func publish() { known.apply(change) }
}

/// What pinned records take of the file, estimated for full pages of 4 KiB; larger pages waste
/// less.
///
/// Containers are pages, and frames are not divided between them, so a record costs its part of a
/// page and not its bytes alone: of records of 1,000 bytes that do not compress, a page holds two.
enum PinCost {
    /// The longest container, and the page of LMDB that it takes.
    private static let container = 4_080
    private static let page = 4_096
    /// The directory of a container without its entries, and an entry of it.
    private static let directory = 6
    private static let entry = 5
    /// A frame without its records: the dictionary, the table of shapes, counts and the check.
    private static let frame = 20
    /// The table's entry for a record in a block.
    private static let recordEntry = 4

    /// A pin itself: its entry in `pins`, and the state of its record (less than 20 bytes).
    static let bytesOfPin = 64

    /// Returns the share that a record has of a page of records, and of a page of the index.
    static func bytes(of record: Record) -> Int {
        let bytes = record.storedByteCount
        let records =
            record.isLong
            ? (bytes + container - 1) / container * page
            : bytesInContainer(record.rawByteCount, storedAs: bytes)
        guard record.nameSpace != .segment else { return records }
        return records + nameBytes(record.identifier.utf8.count)
    }

    /// Returns the part of a page that a record takes among others of its size.
    static func bytesInContainer(_ rawByteCount: Int, storedAs byteCount: Int) -> Int {
        let fitting = RecordBlock.byteLimit / max(1, rawByteCount)
        let records = min(max(fitting, 1), RecordBlock.recordLimit)
        let frameBytes = frame + records * (byteCount + recordEntry)
        let frames = max(1, (container - directory) / (frameBytes + entry))
        return page / (records * frames)
    }

    /// Returns what a name takes in the index. Most names are stored as short beginnings, and the
    /// pages of the index are about three quarters full.
    private static func nameBytes(_ count: Int) -> Int { 12 + count / 8 }
}

/// The pinned records that this process knows, and what they cost.
///
/// Setting a pin measures the cost of its records, and writing a pinned record updates it. Tables
/// that were just loaded, after opening or after a commit of another process, know only the stored
/// sum. Until the first measurement every write is added to that sum as if its records were pinned;
/// when the sum exceeds the limit, the pinned trees are walked. A record to which no pinned record
/// refers any more counts until the next measurement.
///
/// `@unchecked Sendable` because it is confined to the thread that commits.
final class PinnedRecords: @unchecked Sendable {
    /// The changes of a transaction. They are kept apart until the commit has succeeded.
    struct Change {
        var costs: [Handle: Int] = [:]
        var cost: Int
        var pins: Int
        var layerEntries: Int
        /// The cost of records that may have lost their pins since the last measurement.
        var released: Int
        /// Whether `costs` replace all known costs, and are not additions to them.
        var isMeasurement = false

        /// Notes that a pin has gone, of which it is not known what it has kept.
        mutating func noteRelease() { released = .max / 2 }
    }

    private var costs: [Handle: Int] = [:]
    private(set) var isMeasured: Bool
    private var cost: Int
    /// The number of pins.
    private(set) var pins: Int
    /// The number of entries of optimistic changes and outboxes.
    private(set) var layerEntries: Int
    private var released = 0

    init(
        loading transaction: borrowing WriteTransaction, _ keyspaces: Keyspaces, cost: UInt64
    ) throws {
        pins = try transaction.statistics(of: keyspaces.pins).entries
        layerEntries = try transaction.statistics(of: keyspaces.layers).entries
        self.cost = Int(clamping: cost)
        isMeasured = pins == 0 && layerEntries == 0
    }

    func beginChange() -> Change {
        Change(cost: cost, pins: pins, layerEntries: layerEntries, released: released)
    }

    func cost(of handle: Handle, with change: Change) -> Int? {
        change.costs[handle] ?? (change.isMeasurement ? nil : costs[handle])
    }

    func apply(_ change: Change) {
        cost = change.cost
        pins = change.pins
        layerEntries = change.layerEntries
        released = change.released
        if change.isMeasurement {
            costs = change.costs
            isMeasured = true
        } else if change.pins == 0 && change.layerEntries == 0 {
            costs = [:]
        } else {
            costs.merge(change.costs) { $1 }
        }
    }
}

/// What the last call of `CommitTransaction.checkPins` had seen.
struct PinCheck {
    /// The number of rewritten records of the commit.
    var rewritten = 0
    var bytesWritten: UInt64
}

extension CommitTransaction {
    /// The most that pinned records may cost.
    var pinLimit: Int { generation.budget.bytes / 2 }

    /// Pins the entry of an identifier or key.
    ///
    /// - Throws: `.notFound` if there is no such entry, `.pinnedFull` if pinned records would cost
    ///   more than half of the budget.
    func pin(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws {
        guard let handle = try index.handle(of: identifier, in: nameSpace, transaction),
            let record = try readableRecord(handle),
            record.isNamed(identifier, in: nameSpace)
        else {
            throw CacheError(.notFound, "There is nothing under this name to pin. Store it first.")
        }
        let isNew = try pins.insert(
            keyspaces.indexKey(nameSpace, identifier), handle, in: &transaction
        ) { transaction in
            // The record that was pinned was lost to damage.
            try unpin(nameSpace, identifier, in: &transaction)
        }
        guard isNew else { return }
        try states.retain(handle, in: transaction)
        try states.touch(handle, in: transaction)
        try pins.add([handle]) { try readableRecord($0) }
        try checkPinnedCost(limit: pinLimit, of: generation.budget, in: transaction)
    }

    /// Removes a pin, if there is one.
    func unpin(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws {
        let key = keyspaces.indexKey(nameSpace, identifier)
        guard let value = try pins.remove(key, in: &transaction) else { return }
        guard let handle = try? Handle(stored: value), counterTable.isGivenOut(handle) else {
            // The entry is damaged. The recount corrects the count of the record that was pinned.
            needsRecount = true
            return
        }
        // Nothing checks the handle of a pin, so it may be that of another record.
        if let record = try readableRecord(handle), !record.isNamed(identifier, in: nameSpace) {
            needsRecount = true
            return
        }
        try states.release(handle, in: transaction)
    }

    /// Updates the cost of pinned records by the records written since the last call.
    ///
    /// - Throws: `.pinnedFull` if pinned records cost more than half of the budget.
    func checkPins(in transaction: borrowing WriteTransaction) throws {
        let rewritten = records.rewritten[pinCheck.rewritten...]
        let bytes = Int(clamping: counters.bytesWritten - pinCheck.bytesWritten)
        pinCheck.rewritten = records.rewritten.count
        pinCheck.bytesWritten = counters.bytesWritten
        guard !pins.isEmpty, bytes > 0 else { return }
        if pins.isMeasured {
            for handle in rewritten where pins.isPinned(handle) {
                guard let record = try readableRecord(handle) else { continue }
                pins.setCost(of: record)
                try pins.add(record.children) { try readableRecord($0) }
            }
        } else {
            pins.addUnmeasured(bytes)
        }
        try checkPinnedCost(limit: pinLimit, of: generation.budget, in: transaction)
    }

    /// Checks that what can't be evicted fits a smaller budget.
    ///
    /// - Throws: `.pinnedFull` if pinned records cost more than half of `budget`, `.optimisticFull`
    ///   if optimistic changes and outboxes take more than an eighth of it.
    func checkPins(for budget: ByteCount, in transaction: borrowing WriteTransaction) throws {
        guard layers.byteCount <= Self.layerLimit(for: budget) else {
            throw CacheError.optimisticFull(budget)
        }
        try checkPinnedCost(limit: budget.bytes / 2, of: budget, in: transaction)
    }

    /// Compares the cost of pinned records with a limit. Measures a cost above the limit again
    /// first, because it may count records that are not pinned any more.
    func checkPinnedCost(
        limit: Int, of budget: ByteCount, in transaction: borrowing WriteTransaction
    ) throws {
        guard pins.cost > limit else { return }
        try measurePins(in: transaction)
        guard pins.cost <= limit else { throw CacheError.pinnedFull(budget) }
    }
}

extension CommitTransaction {
    /// Finds out which records are pinned or below a pin, and what they cost.
    ///
    /// - Complexity: Reads all of these records.
    func measurePins(in transaction: borrowing WriteTransaction) throws {
        pins.beginMeasurement()
        try pins.add(transaction.pinnedHandles(keyspaces) + layers.retainedHandles) {
            try readableRecord($0)
        }
    }
}

extension ReadableTransaction where Self: ~Copyable {
    /// Returns the handles that are pinned. A damaged entry is left out.
    func pinnedHandles(_ keyspaces: Keyspaces) throws -> [Handle] {
        var handles: [Handle] = []
        try forEach(in: keyspaces.pins) { _, value in
            if let handle = try? Handle(stored: value) { handles.append(handle) }
            return true
        }
        return handles
    }
}

extension Snapshot {
    /// Returns the records that pins and optimistic changes keep in the cache, without those below
    /// them.
    package func keptHandles(_ keyspaces: Keyspaces) throws -> [Handle] {
        try pinnedHandles(keyspaces)
            + LayerTable(keyspaces, self, valueLimit: .max).retainedHandles
    }
}
