import EspalierLMDB
import EspalierRecords

/// Which dictionaries there are, which of them new records are compressed with, and how many
/// records use each: the writer's table, one value of `info`.
///
///     list  = count (varint), entries, check
///     entry = number, bytes of the dictionary, records (varints), flags (byte: 1 current), fingerprint of the shape, 0 for
///             all without a dictionary of their own (8 bytes), fingerprint of the dictionary (8 bytes)
///
/// A value: a transaction changes its copy, which takes the original's place when the commit has
/// succeeded.
struct DictionaryNumbers {
    struct Entry: Hashable, Sendable {
        let shape: UInt64
        let fingerprint: UInt64
        let byteCount: Int
        var recordCount: UInt64 = 0
        /// Whether new records get it.
        var isCurrent = true
    }

    static let key = [UInt8]("dictionaries".utf8)

    private(set) var entries: [UInt64: Entry] = [:]
    /// By the fingerprint of the shape.
    private var current: [UInt64: UInt64] = [:]
    private var hasChanged = false
    /// The list was damaged: what it counted has to be counted anew.
    private(set) var isDamaged = false

    init() {}

    init(
        loading transaction: borrowing some ReadableTransaction & ~Copyable, _ keyspaces: Keyspaces
    ) throws {
        do {
            if let bytes = try transaction.value(keyspaces.info, Self.key) {
                try ByteReader.reading(bytes) { try read(&$0) }
            } else {
                try recoverUnlisted(transaction, keyspaces)
            }
        } catch is FormatError {
            try recover(transaction, keyspaces)
        }
        for (number, entry) in entries where entry.isCurrent { current[entry.shape] = number }
    }

    private mutating func read(_ reader: inout ByteReader) throws(FormatError) {
        _ = try reader.verifiedEnd(seed: 0)
        for _ in 0..<(try reader.count()) {
            let number = try reader.varint()
            let byteCount = Int(clamping: try reader.varint())
            let recordCount = try reader.varint()
            let isCurrent = try reader.byte() & 1 != 0
            entries[number] = Entry(
                shape: try reader.integer(UInt64.self),
                fingerprint: try reader.integer(UInt64.self),
                byteCount: byteCount, recordCount: recordCount, isCurrent: isCurrent)
        }
    }

    /// Without a list there are no dictionaries, or the list is gone.
    private mutating func recoverUnlisted(
        _ transaction: borrowing some ReadableTransaction & ~Copyable, _ keyspaces: Keyspaces
    ) throws {
        var isEmpty = true
        try transaction.forEach(in: keyspaces.dictionaries) { _, _ in
            isEmpty = false
            return false
        }
        if !isEmpty { try recover(transaction, keyspaces) }
    }

    /// What the dictionaries say themselves; which are current is not known any more.
    private mutating func recover(
        _ transaction: borrowing some ReadableTransaction & ~Copyable, _ keyspaces: Keyspaces
    ) throws {
        (entries, isDamaged, hasChanged) = ([:], true, true)
        for number in try transaction.dictionaryNumbers(keyspaces) {
            let stored = try? transaction.storedDictionary(keyspaces, number)
            entries[number] = Entry(
                shape: stored?.shape ?? 0,
                fingerprint: stored.map { RecordDictionary.fingerprint(of: $0.bytes) } ?? 0,
                byteCount: stored?.bytes.count ?? 0, isCurrent: false)
        }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(varint: UInt64(entries.count))
        for (number, entry) in entries.sorted(by: { $0.key < $1.key }) {
            writer.append(varint: number)
            writer.append(varint: UInt64(entry.byteCount))
            writer.append(varint: entry.recordCount)
            writer.append(entry.isCurrent ? 1 : 0)
            writer.append(integer: entry.shape)
            writer.append(integer: entry.fingerprint)
        }
        writer.append(integer: writer.check(seed: 0))
        return writer.bytes
    }

    /// Whether new records get any.
    var hasCurrent: Bool { !current.isEmpty }

    /// Bytes of all dictionaries.
    var byteCount: Int { entries.values.reduce(0) { $0 + $1.byteCount } }

    /// What records of a shape are compressed with: the dictionary of the shape, or the one of all
    /// that have none; nil when nothing is trained yet.
    func current(for shape: UInt64) -> UInt64? { current[shape] ?? current[0] }

    // MARK: Changing

    /// Dictionaries take the place of those that were current.
    mutating func replaceCurrent(with new: [(number: UInt64, entry: Entry)]) {
        for number in entries.keys { entries[number]?.isCurrent = false }
        current = [:]
        for (number, entry) in new {
            entries[number] = entry
            current[entry.shape] = number
        }
        hasChanged = true
    }

    /// New records do not get the dictionary any more.
    mutating func retire(_ number: UInt64) {
        change(number) { $0.isCurrent = false }
        current = current.filter { $0.value != number }
    }

    mutating func retain(_ number: UInt64) { change(number) { $0.recordCount += 1 } }

    mutating func release(_ number: UInt64) {
        change(number) { if $0.recordCount > 0 { $0.recordCount -= 1 } }
    }

    private mutating func change(_ number: UInt64, _ body: (inout Entry) -> Void) {
        guard number > RecordLayout.noDictionary, entries[number] != nil else { return }
        body(&entries[number]!)  // looked up just before
        hasChanged = true
    }

    /// Puts all counts right after damage.
    mutating func setUses(_ uses: [UInt64: UInt64]) {
        for (number, entry) in entries where entry.recordCount != uses[number] ?? 0 {
            entries[number]?.recordCount = uses[number] ?? 0
            hasChanged = true
        }
        isDamaged = false
    }

    /// Writes the list out, and drops dictionaries that no record uses and no new one will. Returns
    /// their numbers.
    mutating func flush(_ transaction: inout WriteTransaction, _ keyspaces: Keyspaces) throws
        -> [UInt64]
    {
        guard hasChanged else { return [] }
        hasChanged = false
        let unused = entries.filter { $0.value.recordCount == 0 && !$0.value.isCurrent }.map(\.key)
        for number in unused {
            entries[number] = nil
            try Self.delete(number, &transaction, keyspaces)
        }
        try transaction.put(keyspaces.info, Self.key, bytes)
        return unused
    }

    private static func delete(
        _ number: UInt64, _ transaction: inout WriteTransaction, _ keyspaces: Keyspaces
    ) throws {
        var keys: [[UInt8]] = []
        try transaction.forEach(in: keyspaces.dictionaries, from: ChunkKey(number, 0)) { key, _ in
            guard try WriteTransaction.dictionaryNumber(key) == number else { return false }
            keys.append(try ByteReader.reading(key) { try $0.bytes(count: $0.end) })
            return true
        }
        for key in keys { try transaction.delete(keyspaces.dictionaries, key) }
    }
}
