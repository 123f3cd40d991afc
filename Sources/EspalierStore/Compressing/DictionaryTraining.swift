import EspalierCompression
import EspalierRecords

/// New dictionaries, to be stored by the writer.
struct TrainedDictionaries: Sendable {
    let dictionaries: [StoredDictionary]
    /// What samples that were kept back took with them, in thousandths of their raw bytes.
    let ratio: UInt64
    /// `Counters.trainedAt` when the samples were taken: what was trained since then is newer.
    let since: UInt64
}

/// Makes dictionaries of samples: one for all records, and one more for each shape where it pays.
struct DictionaryTraining {
    /// Larger ones cost more memory and time than they save.
    private static let largest = 16 << 10
    /// Samples are a multiple of the dictionary; zstd asks for about a hundred.
    private static let samplesPerByte = 24
    /// Every so many-th sample is kept back to measure with.
    private static let heldBack = 4
    /// Shapes with fewer samples share the common one.
    private static let fewest = 48
    /// A dictionary of a shape's own has to save so many times its own bytes.
    private static let gain = 2.0
    /// Shapes that may get one.
    private static let mostShapes = 12

    private let level: Int
    private let allowance: Int
    /// What the records of the cache were like, raw.
    private let rawBytes: Double
    private let compressor: Compressor

    /// Nil where there is no memory for it.
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
        /// What the samples kept back take.
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

    /// Samples for a dictionary of at most `allowance` bytes.
    static func sampleBytes(allowance: Int) -> Int { min(allowance, 8 * largest) * samplesPerByte }

    func train(_ samples: RecordSamples, since: UInt64) -> TrainedDictionaries {
        // Shapes with few records are one group: of a thousand shapes with one record each there is
        // as much to learn.
        let rare = samples.payloads.filter { $0.value.count < Self.fewest }.sorted {
            $0.key < $1.key
        }
        var groups = samples.payloads.filter { $0.value.count >= Self.fewest }.map {
            Group(shape: $0.key, $0.value)
        }
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
        for index in groups.indices.prefix(Self.mostShapes) where groups[index].shape != 0 {
            let group = groups[index]
            guard let own = dictionary(of: group.training, within: left / 2) else { continue }
            let stored = size(of: group.heldBack, with: own)
            let raw = Double(max(1, group.heldBack.reduce(0) { $0 + $1.count }))
            let saved =
                Double(group.stored - stored) / raw * rawBytes * Double(group.rawBytes) / sampled
            guard saved > Self.gain * Double(own.count) else { continue }
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

    /// Of every shape, in turns, so that a frequent one does not crowd the others out.
    private func mixed(_ groups: [Group]) -> [[UInt8]] {
        var samples: [[UInt8]] = []
        var bytes = 0
        let longest = groups.map(\.training.count).max() ?? 0
        for index in 0..<longest {
            for group in groups where index < group.training.count {
                samples.append(group.training[index])
                bytes += group.training[index].count
            }
            if bytes >= Self.largest * Self.samplesPerByte { break }
        }
        return samples
    }

    private func dictionary(of samples: [[UInt8]], within limit: Int) -> [UInt8]? {
        var taken = 0
        let samples = samples.prefix { sample in
            defer { taken += sample.count }
            return taken < Self.largest * Self.samplesPerByte
        }
        return DictionaryTrainer.train(samples, size: min(taken / 8, limit, Self.largest))
    }

    /// What the payloads take, those that stay raw included.
    private func size(of payloads: [[UInt8]], with dictionary: [UInt8]?) -> Int {
        let digest = dictionary.flatMap { CompressionDigest($0, level: level) }
        return payloads.reduce(0) { sum, payload in
            let limit = RecordCompressor.limit(for: payload)
            return sum
                + (compressor.compress(payload, with: digest, limit: limit)?.count ?? payload.count)
        }
    }
}
