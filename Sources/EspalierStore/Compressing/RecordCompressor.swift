import EspalierCompression
import EspalierRecords

/// Compresses payloads where that pays, at one level. Keeps contexts and digested dictionaries
/// between commits.
///
/// Unchecked, because it is confined to the thread that commits.
final class RecordCompressor: @unchecked Sendable {
    /// Shorter payloads stay raw: a frame takes five bytes of its own.
    static let shortest = 24
    /// Without a dictionary nothing shorter pays.
    static let shortestAlone = 192

    private let level: Int
    private let compressor: Compressor
    private var digests: [UInt64: (fingerprint: UInt64, digest: CompressionDigest)] = [:]

    /// Nil where records are not to be compressed, or there is no memory to do it.
    init?(_ compression: Compression) {
        guard case .zstd(let level) = compression, let compressor = Compressor(level: level) else {
            return nil
        }
        self.level = level
        self.compressor = compressor
    }

    /// Compressing pays where it saves an eighth.
    static func limit(for payload: [UInt8]) -> Int { payload.count - max(payload.count / 8, 4) }

    /// The frame of a payload; nil where it does not pay. `bytes` gives those of a dictionary that
    /// is not digested yet.
    func compress(
        _ payload: [UInt8], with dictionary: (number: UInt64, fingerprint: UInt64)?,
        bytes: (UInt64) throws -> [UInt8]?
    ) rethrows -> RecordLayout.CompressedPayload? {
        guard (Self.shortest...RecordDecompressor.limit).contains(payload.count) else { return nil }
        let limit = Self.limit(for: payload)
        guard let dictionary, let digest = try digest(dictionary, bytes) else {
            guard payload.count >= Self.shortestAlone,
                let frame = compressor.compress(payload, with: nil, limit: limit)
            else { return nil }
            return .init(
                dictionary: RecordLayout.noDictionary, fingerprint: 0, frame: frame, of: payload)
        }
        guard let frame = compressor.compress(payload, with: digest, limit: limit) else {
            return nil
        }
        return .init(
            dictionary: dictionary.number, fingerprint: dictionary.fingerprint, frame: frame,
            of: payload)
    }

    private func digest(
        _ dictionary: (number: UInt64, fingerprint: UInt64), _ bytes: (UInt64) throws -> [UInt8]?
    ) rethrows -> CompressionDigest? {
        // A number that a failed transaction gave out is given out again.
        if let known = digests[dictionary.number], known.fingerprint == dictionary.fingerprint {
            return known.digest
        }
        guard let bytes = try bytes(dictionary.number),
            let digest = CompressionDigest(bytes, level: level)
        else {
            return nil
        }
        digests[dictionary.number] = (dictionary.fingerprint, digest)
        return digest
    }

    /// Forgets dictionaries that are dropped.
    func forget(_ numbers: [UInt64]) { for number in numbers { digests[number] = nil } }
}
