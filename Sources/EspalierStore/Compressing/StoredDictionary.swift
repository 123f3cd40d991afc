import EspalierLMDB
import EspalierRecords

/// A dictionary in the `dictionaries` keyspace, in slices under its number.
///
///     slice 0 = fingerprint of the shape it is for, or 0 (8 bytes), count of the dictionary's bytes (varint), bytes, check
///     slice k = bytes, check
///
/// The keys are number and slice; the checks are seeded with (number * 9E3779B97F4A7C15) xor k. It
/// is written once and never changed.
struct StoredDictionary: Sendable {
    /// The shape whose records it was trained on; 0 for all that have none of their own.
    let shape: UInt64
    let bytes: [UInt8]

    func slices(number: UInt64, limit: Int) -> [[UInt8]] {
        var slices: [[UInt8]] = []
        var rest = bytes[...]
        repeat {
            var writer = ByteWriter(capacity: limit)
            if slices.isEmpty {
                writer.append(integer: shape)
                writer.append(varint: UInt64(bytes.count))
            }
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

    /// Puts slices together again, in their order.
    struct Joining: ~Copyable {
        private let number: UInt64
        private var shape: UInt64 = 0
        private var byteCount = 0
        private var count = 0
        private var writer = ByteWriter()

        init(number: UInt64) { self.number = number }

        mutating func add(_ slice: inout ByteReader) throws(FormatError) {
            let end = try slice.verifiedEnd(seed: seed(number, count))
            if count == 0 {
                shape = try slice.integer(UInt64.self)
                byteCount = Int(clamping: try slice.varint())
            }
            guard slice.position <= end else { throw .truncated }
            slice.copy(slice.position..<end, into: &writer)
            count += 1
        }

        func finish() throws(FormatError) -> StoredDictionary {
            guard writer.count == byteCount else { throw .truncated }
            return StoredDictionary(shape: shape, bytes: writer.bytes)
        }
    }
}

extension ReadableTransaction where Self: ~Copyable {
    /// The dictionary of a number; nil if there is none. Damage throws a `FormatError`.
    func storedDictionary(_ keyspaces: Keyspaces, _ number: UInt64) throws -> StoredDictionary? {
        var joining = StoredDictionary.Joining(number: number)
        var isThere = false
        try forEach(in: keyspaces.dictionaries, from: ChunkKey(number, 0)) { key, value in
            guard try Self.dictionaryNumber(key) == number else { return false }
            try ByteReader.reading(value) { try joining.add(&$0) }
            isThere = true
            return true
        }
        return isThere ? try joining.finish() : nil
    }

    /// The numbers of what is there of dictionaries, whole or not. Keys that are none are left out.
    func dictionaryNumbers(_ keyspaces: Keyspaces) throws -> [UInt64] {
        var numbers: [UInt64] = []
        try forEach(in: keyspaces.dictionaries) { key, _ in
            if let number = try Self.dictionaryNumber(key), numbers.last != number {
                numbers.append(number)
            }
            return true
        }
        return numbers
    }

    static func dictionaryNumber(_ key: RawSpan) throws -> UInt64? {
        guard key.byteCount == 12 else { return nil }
        return try ByteReader.reading(key) { try $0.integer(UInt64.self) }
    }
}
