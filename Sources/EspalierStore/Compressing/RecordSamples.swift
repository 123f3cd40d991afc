import EspalierLMDB
import EspalierRecords

/// Payloads of records from all over a cache, and more of the newest: what dictionaries are trained
/// on.
struct RecordSamples {
    /// Long payloads are learned from by their beginning.
    private static let longest = 8 << 10
    /// Records read in one transaction, so that none is long.
    private static let slice = 256

    /// By the fingerprint of the shape.
    private(set) var payloads: [UInt64: [[UInt8]]] = [:]
    private(set) var byteCount = 0
    private var count = 0
    private var seen: Set<Handle> = []
    private let limit: (count: Int, bytes: Int)
    private var random: UInt64
    /// What there is to draw from, once it is known.
    private var ends: (first: UInt64, last: UInt64)?
    private var slices = 0

    /// Up to so many bytes of payloads; `takeMore` takes them in.
    init(byteCount limit: Int, seed: UInt64) {
        self.limit = (8_192, limit)
        random = seed
    }

    private var isFull: Bool { count >= limit.count || byteCount >= limit.bytes }

    /// Takes in a slice in one short read. Returns whether there may be more.
    mutating func takeMore(of generation: Generation) throws -> Bool {
        guard let ends = try ends ?? Self.ends(of: generation) else { return false }
        self.ends = ends
        defer { slices += 1 }
        guard ends.last - ends.first >= UInt64(limit.count) else {
            return try takeNext(from: ends.first, of: generation) && !isFull
        }
        try draw(from: ends, of: generation)
        // Some are met twice.
        return slices * Self.slice < limit.count * 3 / 2 && !isFull
    }

    private mutating func draw(from ends: (first: UInt64, last: UInt64), of generation: Generation)
        throws
    {
        try generation.environment.read { transaction in
            let decompressor = RecordDecompressor(generation, transaction.snapshot)
            // Every other slice is of the newest quarter.
            let first = slices % 2 == 0 ? ends.last - (ends.last - ends.first) / 4 : ends.first
            for _ in 0..<Self.slice where !isFull {
                let start = first + next() % max(1, ends.last - first)
                let found = try Self.handles(
                    from: start, count: 1, in: transaction, generation.keyspaces)
                if let found = found.first { try add(found, transaction, generation, decompressor) }
            }
        }
    }

    /// A small cache is read through. Returns whether there was anything left.
    private mutating func takeNext(from first: UInt64, of generation: Generation) throws -> Bool {
        try generation.environment.read { transaction in
            let decompressor = RecordDecompressor(generation, transaction.snapshot)
            let start = seen.max()?.rawValue ?? 0
            guard start < .max else { return false }
            let found = try Self.handles(
                from: max(first, start + 1), count: Self.slice, in: transaction,
                generation.keyspaces)
            for handle in found { try add(handle, transaction, generation, decompressor) }
            return !found.isEmpty
        }
    }

    private static func ends(of generation: Generation) throws -> (first: UInt64, last: UInt64)? {
        try generation.environment.read { transaction in
            try transaction.withCursor(generation.keyspaces.nodes) { cursor in
                guard try cursor.first() else { return nil }
                let first = try handle(at: cursor)
                _ = try cursor.last()
                return (first, try handle(at: cursor))
            }
        }
    }

    private static func handle(at cursor: borrowing Cursor) throws -> UInt64 {
        try cursor.withEntry { key, _ in try Handle(stored: key).rawValue }
    }

    /// SplitMix64.
    private mutating func next() -> UInt64 {
        random &+= 0x9E37_79B9_7F4A_7C15
        var z = random
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// The handles of records from `start` on.
    static func handles(
        from start: UInt64, count: Int, in transaction: borrowing ReadTransaction,
        _ keyspaces: Keyspaces
    ) throws -> [Handle] {
        var handles: [Handle] = []
        try transaction.forEach(in: keyspaces.nodes, from: start) { key, _ in
            if key.byteCount == 8 { handles.append(try Handle(stored: key)) }
            return handles.count < count
        }
        return handles
    }

    private mutating func add(
        _ handle: Handle, _ transaction: borrowing ReadTransaction, _ generation: Generation,
        _ decompressor: RecordDecompressor
    ) throws {
        guard seen.insert(handle).inserted else { return }
        let snapshot = transaction.snapshot
        // What is damaged, or dying, teaches nothing.
        let found = try? snapshot.record(generation.keyspaces, handle, by: decompressor) { number in
            try snapshot.storedShape(generation.keyspaces, number)?.shape
        }
        guard let record = found else { return }
        let payload = Array(record.payload.prefix(Self.longest))
        guard payload.count >= RecordCompressor.shortest else { return }
        payloads[record.shape.fingerprint, default: []].append(payload)
        byteCount += payload.count
        count += 1
    }
}
