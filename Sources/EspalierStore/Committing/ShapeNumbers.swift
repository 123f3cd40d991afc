import EspalierLMDB
import EspalierRecords

/// Which number a shape has, and how many records use it: the writer's table.
///
/// A value: a transaction changes its copy, which takes the original's place when the commit has
/// succeeded.
struct ShapeNumbers {
    /// Past these, records carry their shape themselves: JSON keyed by version or name would make a
    /// shape an object.
    static let maximumShapes = 1_024
    static let maximumShapesOfType = 64

    private struct Entry {
        let shape: Shape
        var recordCount: UInt64
    }

    private var entries: [UInt64: Entry] = [:]
    private var numbers: [Shape: UInt64] = [:]
    private var countByType: [Identifier: Int] = [:]
    private var changed: Set<UInt64> = []
    /// Numbers found last, by the shapes themselves: a tree has few, and its records meet them by
    /// turns.
    private var recent: [(shape: Shape, number: UInt64)] = []
    /// Records counted that `entries` does not have yet, for the same reason.
    private var added: [(number: UInt64, count: UInt64)] = []
    private static let recentCount = 8

    init() {}

    init(loading transaction: borrowing WriteTransaction, _ keyspaces: Keyspaces) throws {
        var loaded: [(UInt64, StoredShape)] = []
        try transaction.forEach(in: keyspaces.shapes) { key, value in
            try ByteReader.reading(key) { key in
                let number = try key.integer(UInt64.self)
                // A damaged entry is left out: its records are misses, and no new record gets its
                // number.
                if let stored = try? ByteReader.reading(
                    value, { try StoredShape(reading: &$0, number: number) })
                {
                    loaded.append((number, stored))
                }
            }
            return true
        }
        for (number, stored) in loaded { insert(stored.shape, number, count: stored.recordCount) }
    }

    func shape(_ number: UInt64) -> Shape? { entries[number]?.shape }

    /// What a record of `shape` is written with. `next` is where new numbers come from.
    ///
    /// A shape whose entry would be longer than `limit`, a value of LMDB's, stands in its records,
    /// too.
    mutating func bind(_ shape: Shape, next: inout UInt64, limit: Int)
        -> RecordLayout.ShapeReference
    {
        if let number = number(of: shape) { return .number(number, shape) }
        guard StoredShape.longest(for: shape) <= limit, entries.count < Self.maximumShapes,
            shape.types.allSatisfy({
                countByType[Identifier($0), default: 0] < Self.maximumShapesOfType
            })
        else { return .own(shape) }
        let number = next
        next += 1
        insert(shape, number, count: 0)
        changed.insert(number)
        return .number(number, shape)
    }

    /// The number of a shape, if it has one.
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

    mutating func retain(_ number: UInt64) {
        guard number != 0 else { return }
        for index in added.indices where added[index].number == number {
            added[index].count += 1
            return
        }
        if added.count >= Self.recentCount { settle() }
        added.append((number, 1))
    }

    private mutating func settle() {
        for (number, count) in added {
            entries[number]?.recordCount += count
            changed.insert(number)
        }
        added.removeAll(keepingCapacity: true)
    }

    mutating func release(_ number: UInt64) {
        settle()
        guard number != 0, let count = entries[number]?.recordCount, count > 0 else { return }
        entries[number]?.recordCount = count - 1
        changed.insert(number)
    }

    /// Puts all counts right after damage.
    mutating func setUses(_ uses: [UInt64: UInt64]) {
        settle()
        for (number, entry) in entries where entry.recordCount != uses[number] ?? 0 {
            entries[number]?.recordCount = uses[number] ?? 0
            changed.insert(number)
        }
    }

    /// Writes the changes out and drops shapes without records. Returns what became of each changed
    /// number.
    mutating func flush(
        _ transaction: inout WriteTransaction, _ keyspaces: Keyspaces
    ) throws -> [(number: UInt64, shape: Shape?)] {
        settle()
        defer { changed.removeAll() }
        return try changed.sorted().compactMap { number in
            guard let entry = entries[number] else { return nil }
            guard entry.recordCount > 0 else {
                entries[number] = nil
                numbers[entry.shape] = nil
                recent.removeAll()
                for type in entry.shape.types { countByType[Identifier(type), default: 1] -= 1 }
                try transaction.delete(keyspaces.shapes, number)
                return (number, nil)
            }
            let stored = StoredShape(recordCount: entry.recordCount, shape: entry.shape)
            try transaction.put(keyspaces.shapes, number, stored.bytes(number: number))
            return (number, entry.shape)
        }
    }
}
