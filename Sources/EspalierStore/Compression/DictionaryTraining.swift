import EspalierCompression
import EspalierLMDB
import EspalierRecords

/// New dictionaries to be stored.
struct TrainedDictionaries: Sendable {
    let dictionaries: [StoredDictionary]
    /// Stored bytes in thousandths of raw bytes, measured on the held-back samples.
    let ratio: UInt64
    /// `Counters.trainedAt` when the samples were taken. If the stored value differs, newer
    /// dictionaries have been installed.
    let since: UInt64
}

/// Trains dictionaries on samples: a common one for all shapes, and one for each shape where it
/// saves enough.
struct DictionaryTraining {
    /// Larger dictionaries cost more memory and time than they save.
    private static let maximumSize = 16 << 10
    /// The bytes of samples for each byte of a dictionary. zstd recommends about a hundred.
    private static let samplesPerByte = 24
    /// One sample in this many is held back to measure the dictionaries.
    private static let heldBack = 4
    /// Shapes with fewer samples share the common dictionary.
    private static let minimumSamples = 48
    /// The dictionary of one shape has to save this many times its own bytes.
    private static let minimumGain = 2.0
    /// The most shapes that get a dictionary of their own.
    private static let maximumShapes = 12

    private let level: Int
    private let allowance: Int
    /// Raw bytes of the records of the cache.
    private let rawBytes: Double
    private let compressor: Compressor

    /// Returns nil if memory runs out.
    init?(level: Int, allowance: Int, rawBytes: UInt64) {
        guard let compressor = Compressor(level: level) else { return nil }
        self.level = level
        self.allowance = allowance
        self.rawBytes = Double(rawBytes)
        self.compressor = compressor
    }

    private struct Group {
        let shape: UInt64
        var training: [[UInt8]] = []
        var heldBack: [[UInt8]] = []
        var rawBytes = 0
        /// Stored bytes of the samples that were held back.
        var stored = 0

        init(shape: UInt64, _ payloads: [[UInt8]]) {
            self.shape = shape
            for (index, payload) in payloads.enumerated() {
                if index % DictionaryTraining.heldBack == 0 {
                    heldBack.append(payload)
                } else {
                    training.append(payload)
                }
                rawBytes += payload.count
            }
        }
    }

    /// Returns the bytes of samples for dictionaries of at most `allowance` bytes.
    static func sampleBytes(allowance: Int) -> Int {
        min(allowance, 8 * maximumSize) * samplesPerByte
    }

    func train(_ samples: RecordSamples, since: UInt64) -> TrainedDictionaries {
        // Shapes with few samples form one group: a thousand shapes with one sample each are as
        // good for training.
        let rare = samples.payloads.filter { $0.value.count < Self.minimumSamples }
            .sorted { $0.key < $1.key }
        var groups = samples.payloads.filter { $0.value.count >= Self.minimumSamples }
            .map { Group(shape: $0.key, $0.value) }
        groups.append(Group(shape: 0, rare.flatMap(\.value)))
        groups.sort { ($0.rawBytes, $0.shape) > ($1.rawBytes, $1.shape) }
        let sampled = Double(max(1, samples.byteCount))
        var dictionaries: [StoredDictionary] = []
        var left = allowance
        let common = dictionary(of: mixed(groups), within: left / 2)
        left -= common?.count ?? 0
        for index in groups.indices {
            groups[index].stored = size(of: groups[index].heldBack, with: common)
        }
        for index in groups.indices.prefix(Self.maximumShapes) where groups[index].shape != 0 {
            let group = groups[index]
            guard let own = dictionary(of: group.training, within: left / 2) else { continue }
            let stored = size(of: group.heldBack, with: own)
            let raw = Double(max(1, group.heldBack.reduce(0) { $0 + $1.count }))
            let share = Double(group.rawBytes) / sampled
            let saved = Double(group.stored - stored) / raw * rawBytes * share
            guard saved > Self.minimumGain * Double(own.count) else { continue }
            groups[index].stored = stored
            dictionaries.append(StoredDictionary(shape: group.shape, bytes: own))
            left -= own.count
        }
        if let common { dictionaries.append(StoredDictionary(shape: 0, bytes: common)) }
        return TrainedDictionaries(
            dictionaries: dictionaries, ratio: ratio(of: groups), since: since)
    }

    private func ratio(of groups: [Group]) -> UInt64 {
        let raw = groups.reduce(0) { $0 + $1.heldBack.reduce(0) { $0 + $1.count } }
        return UInt64(groups.reduce(0) { $0 + $1.stored } * 1_000 / max(1, raw))
    }

    /// Returns samples of all groups in turn, so that a frequent shape does not crowd out the
    /// others.
    private func mixed(_ groups: [Group]) -> [[UInt8]] {
        var samples: [[UInt8]] = []
        var bytes = 0
        let longest = groups.map(\.training.count).max() ?? 0
        for index in 0..<longest {
            for group in groups where index < group.training.count {
                samples.append(group.training[index])
                bytes += group.training[index].count
            }
            if bytes >= Self.maximumSize * Self.samplesPerByte { break }
        }
        return samples
    }

    private func dictionary(of samples: [[UInt8]], within limit: Int) -> [UInt8]? {
        var taken = 0
        let samples = samples.prefix { sample in
            defer { taken += sample.count }
            return taken < Self.maximumSize * Self.samplesPerByte
        }
        return DictionaryTrainer.train(samples, size: min(taken / 8, limit, Self.maximumSize))
    }

    /// Returns the stored bytes of payloads, including those that stay raw.
    private func size(of payloads: [[UInt8]], with dictionary: [UInt8]?) -> Int {
        let digest = dictionary.flatMap { CompressionDigest($0, level: level) }
        return payloads.reduce(0) { sum, payload in
            let limit = RecordCompressor.limit(for: payload)
            let frame = compressor.compress(payload, with: digest, limit: limit)
            return sum + (frame?.count ?? payload.count)
        }
    }
}

/// Payloads of records from all over a cache, with more of the newest: the samples on which
/// dictionaries are trained.
struct RecordSamples {
    /// A longer payload is cut to this many bytes.
    private static let maximumPayload = 8 << 10
    /// The most samples.
    private static let maximumCount = 8_192
    /// Records read in one transaction, so that no transaction is long.
    private static let sliceCount = 256

    /// By the fingerprint of the shape.
    private(set) var payloads: [UInt64: [[UInt8]]] = [:]
    private(set) var byteCount = 0
    private var count = 0
    private var seen: Set<Handle> = []
    private let byteLimit: Int
    private var random: UInt64
    /// The first and the last handle, once they are known.
    private var ends: (first: UInt64, last: UInt64)?
    private var slices = 0

    /// Makes an empty set for at most `limit` bytes of samples. `takeSlice` fills it.
    init(byteCount limit: Int, seed: UInt64) {
        byteLimit = limit
        random = seed
    }

    private var isFull: Bool { count >= Self.maximumCount || byteCount >= byteLimit }

    /// Takes a slice in one short read. Returns whether there may be more.
    mutating func takeSlice(of generation: Generation) throws -> Bool {
        guard let ends = try ends ?? Self.ends(of: generation) else { return false }
        self.ends = ends
        defer { slices += 1 }
        guard ends.last - ends.first >= UInt64(Self.maximumCount) else {
            return try takeNext(from: ends.first, of: generation) && !isFull
        }
        try draw(from: ends, of: generation)
        // Some records are drawn twice, so half as many again are drawn.
        return slices * Self.sliceCount < Self.maximumCount * 3 / 2 && !isFull
    }

    /// Draws records at random.
    private mutating func draw(
        from ends: (first: UInt64, last: UInt64), of generation: Generation
    ) throws {
        try generation.environment.read { transaction in
            let decompressor = RecordDecompressor(generation, transaction.snapshot)
            // Every other slice draws from the newest quarter.
            let newest = ends.last - (ends.last - ends.first) / 4
            let first = slices % 2 == 0 ? newest : ends.first
            for _ in 0..<Self.sliceCount where !isFull {
                let start = first + nextRandom() % max(1, ends.last - first)
                let found = try Self.handles(
                    from: start, count: 1, in: transaction, generation.keyspaces)
                if let found = found.first {
                    try add(found, transaction, generation, decompressor)
                }
            }
        }
    }

    /// Reads the next records of a small cache. Returns whether there were any.
    private mutating func takeNext(from first: UInt64, of generation: Generation) throws -> Bool {
        try generation.environment.read { transaction in
            let decompressor = RecordDecompressor(generation, transaction.snapshot)
            let start = seen.max()?.rawValue ?? 0
            guard start < .max else { return false }
            let found = try Self.handles(
                from: max(first, start + 1), count: Self.sliceCount, in: transaction,
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
        try cursor.withKey { key in try Handle(stored: key).rawValue }
    }

    /// Returns the next number of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
    /// Number Generators, 2014).
    private mutating func nextRandom() -> UInt64 {
        random &+= 0x9E37_79B9_7F4A_7C15
        var z = random
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns the handles of at most `count` records from `start` on.
    static func handles(
        from start: UInt64, count: Int, in transaction: borrowing ReadTransaction,
        _ keyspaces: Keyspaces
    ) throws -> [Handle] {
        var handles: [Handle] = []
        try transaction.forEachKey(in: keyspaces.nodes, from: start) { key in
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
        // A record that can't be read is left out.
        let found = try? snapshot.record(generation.keyspaces, handle, by: decompressor) { number in
            try snapshot.storedShape(generation.keyspaces, number)?.shape
        }
        guard let record = found else { return }
        let payload = Array(record.payload.prefix(Self.maximumPayload))
        guard payload.count >= RecordCompressor.shortest else { return }
        payloads[record.shape.fingerprint, default: []].append(payload)
        byteCount += payload.count
        count += 1
    }
}
