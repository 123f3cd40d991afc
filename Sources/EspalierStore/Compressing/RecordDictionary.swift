import EspalierCompression
import EspalierRecords

/// A dictionary of the cache as readers use it.
final class RecordDictionary: Sendable {
    /// What the checks of its records are seeded with.
    let fingerprint: UInt64
    let digested: CompressionDictionary
    var bytes: [UInt8] { digested.bytes }

    /// Nil where zstd refuses the bytes.
    init?(_ bytes: [UInt8]) {
        guard let digested = CompressionDictionary(bytes) else { return nil }
        self.digested = digested
        fingerprint = Self.fingerprint(of: bytes)
    }

    /// Never 0, which stands for no dictionary.
    static func fingerprint(of bytes: [UInt8]) -> UInt64 { max(1, XXHash64.hash(bytes)) }
}
