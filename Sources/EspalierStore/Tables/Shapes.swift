package import EspalierLMDB
package import EspalierRecords

/// A shape in the `shapes` keyspace, under its number.
///
///     entry = record count (varint), shape description, check (8 bytes)
package struct StoredShape: Sendable {
    var recordCount: UInt64
    package let shape: Shape

    func bytes(number: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(varint: recordCount)
        writer.append(shape.description)
        writer.append(integer: writer.check(seed: number))
        return writer.bytes
    }

    /// Returns the most bytes that the entry of a shape takes.
    static func maximumByteCount(for shape: Shape) -> Int { shape.description.count + 10 + 8 }

    init(recordCount: UInt64, shape: Shape) {
        self.recordCount = recordCount
        self.shape = shape
    }

    init(reading reader: inout ByteReader, number: UInt64) throws(FormatError) {
        _ = try reader.verifiedEnd(seed: number)
        recordCount = try reader.varint()
        shape = try Shape.read(from: &reader)
    }
}

/// The `shapes` keyspace as the committer knows it: the number of each shape, and how many records
/// use it.
///
/// A value type: a transaction changes its copy, which replaces the committer's after the commit.
struct ShapeTable {
    /// The most shapes that get numbers. The records of further shapes contain their shape. Without
    /// a limit, JSON with versions or names as keys would make a shape for each object.
    static let maximumShapes = 1_024
    static let maximumShapesOfType = 64

    private struct Entry {
        let shape: Shape
        var recordCount: UInt64
    }

    private var entries: [UInt64: Entry] = [:]
    private var numbers: [Shape: UInt64] = [:]
    private var countByType: [Identifier: Int] = [:]
    /// The changed entries, with their stored counts; nil for new ones.
    private var changed: [UInt64: UInt64?] = [:]
    /// The numbers of damaged entries. No record with such a number can be read.
    private var damaged: Set<UInt64> = []
    /// The damaged entries to delete.
    private var discarded: Set<UInt64> = []
    /// The numbers that were looked up last, by the identity of the shape. A tree has few shapes,
    /// and its records alternate between them.
    private var recent: [(shape: Shape, number: UInt64)] = []
    /// Counts that are not yet added to `entries`, by number. This list is short for the same
    /// reason.
    private var added: [(number: UInt64, count: UInt64)] = []
    private static let recentCount = 8

    init() {}

    init(loading transaction: borrowing WriteTransaction, _ keyspaces: Keyspaces) throws {
        var loaded: [(UInt64, StoredShape)] = []
        var damaged: Set<UInt64> = []
        try transaction.forEach(in: keyspaces.shapes) { key, value in
            try ByteReader.reading(key) { key in
                let number = try key.integer(UInt64.self)
                // A damaged entry is left out. Its records are misses, and its number is not given
                // out again.
                let stored = try? ByteReader.reading(value) {
                    try StoredShape(reading: &$0, number: number)
                }
                if let stored { loaded.append((number, stored)) } else { damaged.insert(number) }
            }
            return true
        }
        self.damaged = damaged
        for (number, stored) in loaded { insert(stored.shape, number, count: stored.recordCount) }
    }

    func shape(_ number: UInt64) -> Shape? { entries[number]?.shape }

    /// Returns how a record of `shape` refers to the shape. Gives the shape a number if that is
    /// possible. `next` is the next free number, `limit` the most bytes of a value in LMDB.
    mutating func bind(
        _ shape: Shape, next: inout UInt64, limit: Int
    ) -> RecordLayout.ShapeReference {
        guard shape !== Shape.none else { return .none }
        if let number = number(of: shape) { return .number(number, shape) }
        guard StoredShape.maximumByteCount(for: shape) <= limit, entries.count < Self.maximumShapes,
            shape.types.allSatisfy({
                countByType[Identifier($0), default: 0] < Self.maximumShapesOfType
            })
        else { return .own(shape) }
        let number = next
        next += 1
        insert(shape, number, count: 0)
        changed[number] = .some(nil)
        return .number(number, shape)
    }

    /// Returns the number of a shape, if it has one.
    mutating func number(of shape: Shape) -> UInt64? {
        for entry in recent where entry.shape === shape { return entry.number }
        guard let number = numbers[shape] else { return nil }
        if recent.count >= Self.recentCount { recent.removeFirst() }
        recent.append((shape, number))
        return number
    }

    private mutating func insert(_ shape: Shape, _ number: UInt64, count: UInt64) {
        entries[number] = Entry(shape: shape, recordCount: count)
        numbers[shape] = number
        for type in shape.types { countByType[Identifier(type), default: 0] += 1 }
    }

    /// Adds one to the number of records that use a shape.
    mutating func retain(_ number: UInt64) {
        guard number != 0 else { return }
        for index in added.indices where added[index].number == number {
            added[index].count += 1
            return
        }
        if added.count >= Self.recentCount { applyAdded() }
        added.append((number, 1))
    }

    private mutating func applyAdded() {
        for (number, count) in added where count > 0 {
            setRecordCount(of: number) { $0 + count }
        }
        added.removeAll(keepingCapacity: true)
    }

    /// Subtracts one from the number of records that use a shape.
    mutating func release(_ number: UInt64) {
        guard number != 0 else { return }
        // A record that is written again keeps its shape in most cases.
        for index in added.indices where added[index].number == number && added[index].count > 0 {
            added[index].count -= 1
            return
        }
        setRecordCount(of: number) { $0 > 0 ? $0 - 1 : 0 }
    }

    private mutating func setRecordCount(of number: UInt64, _ count: (UInt64) -> UInt64) {
        guard let old = entries[number]?.recordCount, case let new = count(old), new != old
        else { return }
        if changed[number] == nil { changed[number] = old }
        entries[number]?.recordCount = new
    }

    /// Sets all counts, after damage made them wrong, and deletes damaged entries.
    mutating func setRecordCounts(_ counts: [UInt64: UInt64]) {
        applyAdded()
        discarded.formUnion(damaged)
        damaged = []
        for number in entries.keys { setRecordCount(of: number) { _ in counts[number] ?? 0 } }
    }

    /// Writes the changes and deletes shapes without records. Returns the shape of each changed
    /// number; nil for a deleted one.
    mutating func flush(
        _ transaction: inout WriteTransaction, _ keyspaces: Keyspaces
    ) throws -> [(number: UInt64, shape: Shape?)] {
        applyAdded()
        for number in discarded { try transaction.delete(keyspaces.shapes, number) }
        defer {
            changed.removeAll()
            discarded.removeAll()
        }
        return try changed.sorted { $0.key < $1.key }.compactMap { number, storedCount in
            guard let entry = entries[number] else { return nil }
            guard entry.recordCount > 0 else {
                entries[number] = nil
                numbers[entry.shape] = nil
                recent.removeAll()
                for type in entry.shape.types { countByType[Identifier(type), default: 1] -= 1 }
                try transaction.delete(keyspaces.shapes, number)
                return (number, nil)
            }
            guard entry.recordCount != storedCount else { return nil }
            let stored = StoredShape(recordCount: entry.recordCount, shape: entry.shape)
            try transaction.put(keyspaces.shapes, number, stored.bytes(number: number))
            return (number, entry.shape)
        }
    }
}

extension ReadableTransaction where Self: ~Copyable {
    /// Returns the shape of a number; nil if there is none. Damage throws a `FormatError`.
    package func storedShape(_ keyspaces: Keyspaces, _ number: UInt64) throws -> StoredShape? {
        try withValue(keyspaces.shapes, number) { span in
            try ByteReader.reading(span) { try StoredShape(reading: &$0, number: number) }
        }
    }
}
