import EspalierCompression
import EspalierLMDB
import EspalierRecords

/// A new dictionary to be stored.
struct TrainedDictionary: Sendable {
    /// Nil if blocks are compressed better without one.
    let dictionary: StoredDictionary?
    /// Stored bytes in thousandths of raw bytes, measured on the held-back samples.
    let ratio: UInt64
    /// `Counters.trainedAt` when the samples were taken. If the stored value differs, a newer
    /// dictionary has been installed.
    let since: UInt64
}

/// Trains a dictionary on blocks of records.
struct DictionaryTraining {
    /// The most bytes of a dictionary, by the bytes of the records of a cache: a larger one pays
    /// from some 40,000 records on.
    private static let sizes: [(rawBytes: UInt64, size: Int)] = [
        (0, 16 << 10), (5 << 20, 64 << 10),
    ]
    /// The bytes of samples for each byte of a dictionary. zstd recommends about a hundred.
    private static let samplesPerByte = 24
    /// One sample in this many is held back to measure the dictionary.
    private static let heldBack = 8

    private let level: Int
    /// The most bytes of the dictionary.
    private let size: Int
    private let compressor: Compressor

    /// Returns nil if memory runs out.
    init?(level: Int, allowance: Int, rawBytes: UInt64) {
        guard let compressor = Compressor(level: level) else { return nil }
        self.level = level
        self.compressor = compressor
        size = Self.size(allowance: allowance, rawBytes: rawBytes)
    }

    private static func size(allowance: Int, rawBytes: UInt64) -> Int {
        min(allowance, sizes.last { $0.rawBytes <= rawBytes }?.size ?? 0)
    }

    /// Returns the bytes of samples for a dictionary of at most `allowance` bytes.
    static func sampleBytes(allowance: Int, rawBytes: UInt64) -> Int {
        size(allowance: allowance, rawBytes: rawBytes) * samplesPerByte
    }

    func train(_ samples: BlockSamples, since: UInt64) -> TrainedDictionary {
        var (training, measured): ([[UInt8]], [[UInt8]]) = ([], [])
        for (index, block) in samples.blocks.enumerated() {
            if index % Self.heldBack == Self.heldBack - 1 {
                measured.append(block)
            } else {
                training.append(block)
            }
        }
        let bytes = training.reduce(0) { $0 + $1.count }
        let dictionary = DictionaryTrainer.train(training, size: min(bytes / 3, size))
        let raw = measured.reduce(0) { $0 + $1.count }
        return TrainedDictionary(
            dictionary: dictionary.map { StoredDictionary(bytes: $0) },
            ratio: UInt64(storedBytes(of: measured, with: dictionary) * 1_000 / max(1, raw)),
            since: since)
    }

    /// Returns the stored bytes of blocks, including those that stay raw.
    private func storedBytes(of blocks: [[UInt8]], with dictionary: [UInt8]?) -> Int {
        let digest = dictionary.flatMap { CompressionDigest($0, level: level) }
        return blocks.reduce(0) { sum, block in
            let limit = BlockCompressor.limit(for: block.count)
            let frame = block.withRawSpan {
                compressor.compress($0, with: digest, limit: limit)
            }
            return sum + (frame?.count ?? block.count)
        }
    }
}

/// Blocks from all over a cache, with more of the newest: the samples on which a dictionary is
/// trained.
struct BlockSamples {
    /// The most samples.
    private static let maximumCount = 4_096
    /// Blocks read in one transaction, so that no transaction is long.
    private static let sliceCount = 64

    private(set) var blocks: [[UInt8]] = []
    private(set) var byteCount = 0
    private var seen: Set<Handle> = []
    private let byteLimit: Int
    private var random: UInt64
    /// The first handle, and the one after the last, once they are known.
    private var ends: (first: UInt64, last: UInt64)?
    private var slices = 0

    /// Makes an empty set for at most `limit` bytes of samples. `takeSlice` fills it.
    init(byteCount limit: Int, seed: UInt64) {
        byteLimit = limit
        random = seed
    }

    private var isFull: Bool { blocks.count >= Self.maximumCount || byteCount >= byteLimit }

    /// Takes a slice in one short read. Returns whether there may be more.
    mutating func takeSlice(of generation: Generation) throws -> Bool {
        try generation.environment.read { transaction in
            let snapshot = transaction.snapshot
            let stored = try StoredRecords(snapshot, generation)
            guard let ends = try ends ?? Self.ends(snapshot, generation) else { return false }
            self.ends = ends
            defer { slices += 1 }
            // A cache with few blocks is read from one end to the other.
            let isSmall =
                try snapshot.counters(generation.keyspaces).rawBytes < UInt64(2 * byteLimit)
            return isSmall
                ? try takeNext(from: ends.first, stored) && !isFull
                : try draw(from: ends, stored)
        }
    }

    /// Draws blocks at random. Returns whether there may be more.
    private mutating func draw(
        from ends: (first: UInt64, last: UInt64), _ stored: StoredRecords
    ) throws -> Bool {
        // Every other slice draws from the newest quarter.
        let newest = ends.last - (ends.last - ends.first) / 4
        let first = slices % 2 == 0 ? newest : ends.first
        for _ in 0..<Self.sliceCount where !isFull {
            let handle = Handle(first + nextRandom() % max(1, ends.last - first))
            // A block that can't be read is left out.
            if let block = try? stored.block(around: handle) { add(block) }
        }
        // Some blocks are drawn twice, so half as many again are drawn.
        return slices * Self.sliceCount < Self.maximumCount * 3 / 2 && !isFull
    }

    /// Reads the next blocks of a small cache. Returns whether there were any.
    private mutating func takeNext(from first: UInt64, _ stored: StoredRecords) throws -> Bool {
        let count = blocks.count
        let start = seen.max().map { Handle($0.rawValue + 1) } ?? Handle(first)
        try stored.forEach(from: start) { found in
            if case .block(let block) = found { add(block) }
            return blocks.count < count + Self.sliceCount
        }
        return blocks.count > count
    }

    private static func ends(
        _ snapshot: Snapshot, _ generation: Generation
    ) throws -> (first: UInt64, last: UInt64)? {
        let first: UInt64? = try snapshot.withCursor(generation.keyspaces.nodes) { cursor in
            guard try cursor.first() else { return nil }
            return try cursor.withKey { try Handle(stored: $0).rawValue }
        }
        guard let first else { return nil }
        return (first, max(first + 1, try snapshot.counters(generation.keyspaces).nextHandle))
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

    private mutating func add(_ block: RecordBlock) {
        guard seen.insert(block.first).inserted else { return }
        blocks.append(block.rawBytes)
        byteCount += block.rawByteCount
    }
}
