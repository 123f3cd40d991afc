import EspalierCompression
import EspalierRecords
import EspalierStore

/// What compressing one record costs beside copying and checking it, which is what storing it raw
/// costs.
struct RecordCost {
    /// Nanoseconds a record.
    let copyingAndChecking: Double
    let compressing: Double
    /// Bytes.
    let meanPayload: Double

    private static let passes = 15

    /// Over records of a compressed cache; nil where there are too few to train a dictionary.
    static func measure(_ cache: NormalizedCache) throws -> RecordCost? {
        var payloads: [[UInt8]] = []
        try cache.inspect { inspection in
            try inspection.forEachRecord { _, stored in
                if case .record(let record) = stored, record.children.count < 4 {
                    payloads.append(record.payload)
                }
                return true
            }
        }
        guard let dictionary = DictionaryTrainer.train(payloads.prefix(4_000), size: 16 << 10),
            let digest = CompressionDigest(dictionary, level: 3),
            let compressor = Compressor(level: 3)
        else { return nil }
        let measured = payloads.suffix(2_000)
        var copies = [UInt8](repeating: 0, count: 64 << 10)
        let copying = nanoseconds(measured) { payload in
            copies.replaceSubrange(0..<payload.count, with: payload)
            return Int(truncatingIfNeeded: XXHash64.hash(payload))
        }
        let compressing = nanoseconds(measured) { payload in
            compressor.compress(payload, with: digest, limit: payload.count)?.count ?? 0
        }
        let bytes = measured.reduce(0) { $0 + $1.count }
        return RecordCost(
            copyingAndChecking: copying, compressing: compressing,
            meanPayload: Double(bytes) / Double(max(1, measured.count)))
    }

    /// The median of some passes over all, for one.
    private static func nanoseconds(_ items: ArraySlice<[UInt8]>, _ body: ([UInt8]) -> Int)
        -> Double
    {
        var sum = 0
        let passes = (0..<passes).map { _ in
            ContinuousClock().measure { for item in items { sum &+= body(item) } } / .nanoseconds(1)
        }
        // The sum is used, or the work could be left out.
        guard sum != 1 else { return 0 }
        return passes.sorted()[passes.count / 2] / Double(max(1, items.count))
    }
}
