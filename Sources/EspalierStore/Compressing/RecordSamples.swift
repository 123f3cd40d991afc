import EspalierLMDB
import EspalierRecords

/// Payloads of records from all over a cache, and more of the newest: what dictionaries are trained on.
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

    /// Takes in up to so many bytes of payloads.
    init(of generation: Generation, byteCount limit: Int, seed: UInt64) throws {
        self.limit = (8_192, limit)
        random = seed
        guard let ends = try Self.ends(of: generation) else { return }
        if ends.last - ends.first < UInt64(self.limit.count) {
            try readAll(from: ends.first, of: generation)
        } else {
            try draw(from: ends, of: generation)
        }
    }

    private mutating func draw(from ends: (first: UInt64, last: UInt64), of generation: Generation) throws {
        // Some are met twice.
        for start in stride(from: 0, to: limit.count * 3 / 2, by: Self.slice) where !isFull {
            try generation.environment.read { transaction in
                let expander = Expander(generation, transaction.snapshot)
                for _ in 0..<Self.slice where !isFull {
                    let span = ends.last - ends.first
                    let isRecent = start % (2 * Self.slice) == 0
                    let first = isRecent ? ends.last - span / 4 : ends.first
                    try take(atOrAfter: first + next() % max(1, ends.last - first), transaction, generation, expander)
                }
            }
        }
    }

    private var isFull: Bool { count >= limit.count || byteCount >= limit.bytes }

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

    private mutating func readAll(from first: UInt64, of generation: Generation) throws {
        var start: UInt64? = first
        while let from = start, !isFull {
            start = try generation.environment.read { transaction in
                let expander = Expander(generation, transaction.snapshot)
                var next: UInt64?
                for handle in try Self.handles(from: from, count: Self.slice, in: transaction, generation.keyspaces) {
                    try add(handle, transaction, generation, expander)
                    next = handle.rawValue + 1
                }
                return next
            }
        }
    }

    private mutating func take(
        atOrAfter handle: UInt64, _ transaction: borrowing ReadTransaction, _ generation: Generation,
        _ expander: Expander
    ) throws {
        let found = try Self.handles(from: handle, count: 1, in: transaction, generation.keyspaces)
        if let found = found.first { try add(found, transaction, generation, expander) }
    }

    /// The handles of records from `start` on.
    static func handles(
        from start: UInt64, count: Int, in transaction: borrowing ReadTransaction, _ keyspaces: Keyspaces
    ) throws -> [Handle] {
        var handles: [Handle] = []
        try transaction.forEach(in: keyspaces.nodes, from: start) { key, _ in
            if key.byteCount == 8 { handles.append(try Handle(stored: key)) }
            return handles.count < count
        }
        return handles
    }

    private mutating func add(
        _ handle: Handle, _ transaction: borrowing ReadTransaction, _ generation: Generation, _ expander: Expander
    ) throws {
        guard seen.insert(handle).inserted else { return }
        let snapshot = transaction.snapshot
        // What is damaged, or dying, teaches nothing.
        let found = try? snapshot.record(generation.keyspaces, handle, by: expander) { number in
            try snapshot.storedShape(generation.keyspaces, number)?.shape
        }
        guard let record = found, record.payload.count >= RecordCompressor.shortest else { return }
        let payload = Array(record.payload.prefix(Self.longest))
        payloads[record.shape.fingerprint, default: []].append(payload)
        byteCount += payload.count
        count += 1
    }
}
