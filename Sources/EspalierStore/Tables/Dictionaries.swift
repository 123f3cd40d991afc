import EspalierCompression
package import EspalierLMDB
import EspalierRecords

/// A dictionary in the `dictionaries` keyspace, cut into slices.
///
///     key     = number (8 bytes), slice (4 bytes)
///     slice 0 = byte count (varint), bytes, check
///     slice k = bytes, check
///
/// The checks are seeded with (number * 9E3779B97F4A7C15) xor k. A dictionary is written once and
/// never changed.
package struct StoredDictionary: Sendable {
    package let bytes: [UInt8]

    func slices(number: UInt64, limit: Int) -> [[UInt8]] {
        var slices: [[UInt8]] = []
        var rest = bytes[...]
        repeat {
            var writer = ByteWriter(capacity: limit)
            if slices.isEmpty { writer.append(varint: UInt64(bytes.count)) }
            let slice = rest.prefix(limit - writer.count - RecordLayout.checkSize)
            writer.append(slice)
            writer.append(integer: writer.check(seed: Self.seed(number, slices.count)))
            rest = rest.dropFirst(slice.count)
            slices.append(writer.bytes)
        } while !rest.isEmpty
        return slices
    }

    private static func seed(_ number: UInt64, _ slice: Int) -> UInt64 {
        RecordLayout.seed(handle: Handle(number), shape: UInt64(slice))
    }

    /// Joins slices that the caller adds in order.
    struct Joining: ~Copyable {
        private let number: UInt64
        private var byteCount = 0
        private var count = 0
        private var writer = ByteWriter()

        init(number: UInt64) { self.number = number }

        mutating func add(_ slice: inout ByteReader) throws(FormatError) {
            let end = try slice.verifiedEnd(seed: seed(number, count))
            if count == 0 { byteCount = Int(clamping: try slice.varint()) }
            guard slice.position <= end else { throw .truncated }
            slice.copy(slice.position..<end, into: &writer)
            count += 1
        }

        func finish() throws(FormatError) -> StoredDictionary {
            guard writer.count == byteCount else { throw .truncated }
            return StoredDictionary(bytes: writer.bytes)
        }
    }
}

/// A dictionary in memory, as reads use it.
package final class RecordDictionary: Sendable {
    /// A part of the seed of the checks of blocks that were compressed with it.
    package let fingerprint: UInt64
    let digested: CompressionDictionary
    var bytes: [UInt8] { digested.bytes }

    /// Returns nil for bytes that zstd refuses.
    package init?(_ bytes: [UInt8]) {
        guard let digested = CompressionDictionary(bytes) else { return nil }
        self.digested = digested
        fingerprint = Self.fingerprint(of: bytes)
    }

    /// Returns a hash that is never 0, because 0 stands for "no dictionary".
    static func fingerprint(of bytes: [UInt8]) -> UInt64 { max(1, XXHash64.hash(bytes)) }
}

/// The list of dictionaries as the committer knows it: their numbers, which of them compresses new
/// blocks, and how many frames use each. The list is one value of `info`.
///
///     list  = count (varint), entries, check
///     entry = number, bytes of the dictionary, frames (varints), flags (byte: 1 current),
///             fingerprint of the dictionary (8 bytes)
///
/// A value type: a transaction changes its copy, which replaces the committer's after the commit.
package struct DictionaryTable {
    package struct Entry: Hashable, Sendable {
        package let fingerprint: UInt64
        package let byteCount: Int
        package var frameCount: UInt64 = 0
        /// Whether it compresses new blocks.
        package var isCurrent = true
    }

    static let key = [UInt8]("dictionaries".utf8)

    package private(set) var entries: [UInt64: Entry] = [:]
    /// The number of the current dictionary.
    private(set) var current: UInt64?
    private var hasChanged = false
    /// Whether the list was damaged, so that frames have to be counted anew.
    package private(set) var isDamaged = false

    init() {}

    package init(
        loading transaction: borrowing some ReadableTransaction & ~Copyable, _ keyspaces: Keyspaces
    ) throws {
        do {
            if let bytes = try transaction.value(keyspaces.info, Self.key) {
                try ByteReader.reading(bytes) { try read(&$0) }
            } else if try !transaction.dictionaryNumbers(keyspaces).isEmpty {
                // Dictionaries are stored without a list, so damage has removed the list.
                try recover(transaction, keyspaces)
            }
        } catch is FormatError {
            try recover(transaction, keyspaces)
        }
        current = entries.filter(\.value.isCurrent).map(\.key).max()
    }

    private mutating func read(_ reader: inout ByteReader) throws(FormatError) {
        _ = try reader.verifiedEnd(seed: 0)
        for _ in 0..<(try reader.count()) {
            let number = try reader.varint()
            let byteCount = Int(clamping: try reader.varint())
            let frameCount = try reader.varint()
            let isCurrent = try reader.byte() & 1 != 0
            entries[number] = Entry(
                fingerprint: try reader.integer(UInt64.self),
                byteCount: byteCount, frameCount: frameCount, isCurrent: isCurrent)
        }
    }

    /// Rebuilds the list from the stored dictionaries. They do not say which of them are current.
    private mutating func recover(
        _ transaction: borrowing some ReadableTransaction & ~Copyable, _ keyspaces: Keyspaces
    ) throws {
        (entries, isDamaged, hasChanged) = ([:], true, true)
        for number in try transaction.dictionaryNumbers(keyspaces) {
            let stored = try? transaction.storedDictionary(keyspaces, number)
            let fingerprint = stored.map { RecordDictionary.fingerprint(of: $0.bytes) }
            entries[number] = Entry(
                fingerprint: fingerprint ?? 0,
                byteCount: stored?.bytes.count ?? 0, isCurrent: false)
        }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(varint: UInt64(entries.count))
        for (number, entry) in entries.sorted(by: { $0.key < $1.key }) {
            writer.append(varint: number)
            writer.append(varint: UInt64(entry.byteCount))
            writer.append(varint: entry.frameCount)
            writer.append(entry.isCurrent ? 1 : 0)
            writer.append(integer: entry.fingerprint)
        }
        writer.append(integer: writer.check(seed: 0))
        return writer.bytes
    }

    /// Whether new blocks are compressed with a dictionary.
    var hasCurrent: Bool { current != nil }

    /// Bytes of all dictionaries.
    var byteCount: Int { entries.values.reduce(0) { $0 + $1.byteCount } }

    // MARK: Changes

    /// Makes a new dictionary the current one; none for nil.
    mutating func replaceCurrent(with new: (number: UInt64, entry: Entry)?) {
        for number in entries.keys { entries[number]?.isCurrent = false }
        current = new?.number
        if let new { entries[new.number] = new.entry }
        hasChanged = true
    }

    /// Stops compressing new blocks with a dictionary.
    mutating func retire(_ number: UInt64) {
        change(number) { $0.isCurrent = false }
        if current == number { current = nil }
    }

    /// Adds one to the number of frames that use a dictionary.
    mutating func retain(_ number: UInt64) { change(number) { $0.frameCount += 1 } }

    /// Subtracts one from the number of frames that use a dictionary.
    mutating func release(_ number: UInt64) {
        change(number) { if $0.frameCount > 0 { $0.frameCount -= 1 } }
    }

    private mutating func change(_ number: UInt64, _ body: (inout Entry) -> Void) {
        guard number > FrameDecoder.noDictionary, entries[number] != nil else { return }
        body(&entries[number]!)  // present, as checked above
        hasChanged = true
    }

    /// Sets all counts, after damage made them wrong.
    mutating func setFrameCounts(_ counts: [UInt64: UInt64]) {
        for (number, entry) in entries where entry.frameCount != counts[number] ?? 0 {
            entries[number]?.frameCount = counts[number] ?? 0
            hasChanged = true
        }
        isDamaged = false
    }

    /// Writes the list and deletes the dictionaries that no frame uses and that compress no new
    /// blocks. Returns the numbers of the deleted dictionaries.
    mutating func flush(
        _ transaction: inout WriteTransaction, _ keyspaces: Keyspaces
    ) throws -> [UInt64] {
        guard hasChanged else { return [] }
        hasChanged = false
        let unused = entries.filter { $0.value.frameCount == 0 && !$0.value.isCurrent }.map(\.key)
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

extension ReadableTransaction where Self: ~Copyable {
    /// Returns the dictionary of a number; nil if there is none. Damage throws a `FormatError`.
    package func storedDictionary(_ keyspaces: Keyspaces, _ number: UInt64) throws
        -> StoredDictionary?
    {
        var joining = StoredDictionary.Joining(number: number)
        var isFound = false
        try forEach(in: keyspaces.dictionaries, from: ChunkKey(number, 0)) { key, value in
            guard try Self.dictionaryNumber(key) == number else { return false }
            try ByteReader.reading(value) { try joining.add(&$0) }
            isFound = true
            return true
        }
        return isFound ? try joining.finish() : nil
    }

    /// Returns the numbers of all dictionaries that have at least one slice.
    package func dictionaryNumbers(_ keyspaces: Keyspaces) throws -> [UInt64] {
        var numbers: [UInt64] = []
        try forEachKey(in: keyspaces.dictionaries, from: ChunkKey(0, 0)) { key in
            if let number = try Self.dictionaryNumber(key), numbers.last != number {
                numbers.append(number)
            }
            return true
        }
        return numbers
    }

    /// Returns the number in a key of `dictionaries`; nil for a damaged key.
    static func dictionaryNumber(_ key: RawSpan) throws -> UInt64? {
        guard key.byteCount == 12 else { return nil }
        return try ByteReader.reading(key) { try $0.integer(UInt64.self) }
    }
}
