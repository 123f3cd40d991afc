import CZstdRaw
import Foundation
import Synchronization

/// Compresses whole documents with zstd, by a dictionary as soon as there is one.
///
/// The first documents train the dictionary, and are compressed without it. A document of 601 nodes
/// repeats itself enough to do without: the dictionary saves 7 to 12 per cent of it. Several
/// threads may decompress while another one compresses.
final class ZstdCodec: Sendable {
    static let level: Int32 = 3
    static let largestDictionary = 16 << 10
    /// The bytes of documents that train the dictionary.
    static let trainingBytes = 256 << 10
    /// ZDICT wants many samples that are small beside the dictionary: documents are cut.
    private static let sampleBytes = 4 << 10

    /// Documents for the training, until there is a dictionary.
    private let samples = Mutex(Data())
    private let dictionary = Mutex<ZstdDictionary?>(nil)
    private let compressor = Mutex(ZstdContext(.compression))
    /// Contexts that no thread uses at present: making one takes longer than a small document.
    private let decompressors = Mutex<[ZstdContext]>([])

    /// Adopts a dictionary that was stored. All later documents are compressed by it.
    func use(_ bytes: Data) throws {
        let dictionary = try ZstdDictionary(bytes)
        self.dictionary.withLock { $0 = dictionary }
    }

    /// Trains with a document. Returns a dictionary as soon as there were enough documents, which
    /// the caller stores and then hands to `use`.
    func train(with document: Data) -> Data? {
        guard dictionary.withLock({ $0 == nil }) else { return nil }
        return samples.withLock { samples in
            samples += document
            guard samples.count >= Self.trainingBytes else { return nil }
            defer { samples = Data() }
            return Self.dictionary(from: samples)
        }
    }

    /// Returns nil if ZDICT finds too little in common. The next documents are tried then.
    private static func dictionary(from samples: Data) -> Data? {
        let sizes = [Int](repeating: sampleBytes, count: samples.count / sampleBytes)
        var dictionary = Data(count: largestDictionary)
        let count = dictionary.withUnsafeMutableBytes { dictionary in
            samples.withUnsafeBytes { samples in
                ZDICT_trainFromBuffer(
                    dictionary.baseAddress, dictionary.count, samples.baseAddress, sizes,
                    UInt32(sizes.count))
            }
        }
        return ZDICT_isError(count) == 0 ? dictionary.prefix(count) : nil
    }

    func compress(_ document: Data) throws -> Data {
        let dictionary = dictionary.withLock { $0 }
        return try compressor.withLock { context in
            var frame = Data(count: ZSTD_compressBound(document.count))
            let count = frame.withUnsafeMutableBytes { frame in
                document.withUnsafeBytes { document in
                    if let dictionary {
                        ZSTD_compress_usingCDict(
                            context.pointer, frame.baseAddress, frame.count, document.baseAddress,
                            document.count, dictionary.forCompression)
                    } else {
                        ZSTD_compressCCtx(
                            context.pointer, frame.baseAddress, frame.count, document.baseAddress,
                            document.count, Self.level)
                    }
                }
            }
            try check(count)
            return frame.prefix(count)
        }
    }

    func decompress(_ frame: Data) throws -> Data {
        let context = decompressors.withLock { $0.popLast() } ?? ZstdContext(.decompression)
        defer { decompressors.withLock { $0.append(context) } }
        let dictionary = dictionary.withLock { $0 }
        return try frame.withUnsafeBytes { frame in
            let size = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
            // The two highest numbers stand for an unknown size and for an error.
            guard size < .max - 1 else { throw ComparisonError.zstd("no frame of known size") }
            let memory = UnsafeMutableRawPointer.allocate(
                byteCount: max(Int(size), 1), alignment: 16)
            // A frame by the dictionary names it, and the first frames name none.
            let isByDictionary = ZSTD_getDictID_fromFrame(frame.baseAddress, frame.count) != 0
            let count = ZSTD_decompress_usingDDict(
                context.pointer, memory, Int(size), frame.baseAddress, frame.count,
                isByDictionary ? dictionary?.forDecompression : nil)
            // Not earlier: Foundation copies few bytes, and the memory would be gone.
            let document = Data(
                bytesNoCopy: memory, count: Int(size),
                deallocator: .custom { start, _ in start.deallocate() })
            try check(count)
            return document
        }
    }
}

private func check(_ code: Int) throws {
    if ZSTD_isError(code) != 0 {
        throw ComparisonError.zstd(String(cString: ZSTD_getErrorName(code)))
    }
}

/// A dictionary, digested for both directions. No call changes the digests, so all threads may use
/// them.
private final class ZstdDictionary: Sendable {
    nonisolated(unsafe) let forCompression: OpaquePointer
    nonisolated(unsafe) let forDecompression: OpaquePointer

    init(_ bytes: Data) throws {
        let made = bytes.withUnsafeBytes { bytes in
            (
                ZSTD_createCDict(bytes.baseAddress, bytes.count, ZstdCodec.level),
                ZSTD_createDDict(bytes.baseAddress, bytes.count)
            )
        }
        guard let forCompression = made.0, let forDecompression = made.1 else {
            throw ComparisonError.zstd("the dictionary is refused")
        }
        self.forCompression = forCompression
        self.forDecompression = forDecompression
    }

    deinit {
        ZSTD_freeCDict(forCompression)
        ZSTD_freeDDict(forDecompression)
    }
}

/// The memory of zstd for one direction. Unchecked: one thread at a time uses it, because it stands
/// behind a lock or was taken out of a list behind one.
private final class ZstdContext: @unchecked Sendable {
    enum Direction { case compression, decompression }

    let pointer: OpaquePointer
    private let direction: Direction

    init(_ direction: Direction) {
        self.direction = direction
        let made = direction == .compression ? ZSTD_createCCtx() : ZSTD_createDCtx()
        guard let made else { fatalError("There is no memory for a context of zstd.") }
        pointer = made
    }

    deinit {
        _ = direction == .compression ? ZSTD_freeCCtx(pointer) : ZSTD_freeDCtx(pointer)
    }
}
