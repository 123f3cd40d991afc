import CZstd

/// A zstd frame as records hold it: without the four bytes that all frames begin with.
///
/// The header of a frame says how many bytes the payload has. A frame names no dictionary and has
/// no checksum: the record has both.
package enum Frame {
    static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    /// A payload may claim this many times the bytes of its frame, and `slack` bytes more. zstd
    /// compresses long runs up to 32,000-fold; such payloads are stored uncompressed, so that a
    /// damaged record cannot claim as much memory.
    private static let maximumRatio = 1_000
    private static let slack = 4_096

    /// Returns the largest payload in bytes that a frame of `count` bytes may claim.
    package static func limit(ofFrame count: Int) -> Int {
        let (product, overflow) = count.multipliedReportingOverflow(by: maximumRatio)
        return overflow ? .max : product + slack
    }
}

/// Memory for one frame after another. Puts the bytes in front that records leave out.
@safe
struct FrameBuffer: ~Copyable {
    /// `init` and `load` allocate the memory and `deinit` frees it; no pointer to it outlives a
    /// call. The first `count` bytes are initialised.
    private var memory: UnsafeMutableRawBufferPointer
    private var count = 0

    init() { unsafe memory = Self.allocate(1_024) }

    deinit { unsafe memory.deallocate() }

    /// The frame, until the next `load`.
    var frame: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// Copies a frame.
    mutating func load(_ stored: UnsafeRawBufferPointer) {
        count = Frame.magic.count + stored.count
        if unsafe count > memory.count {
            unsafe memory.deallocate()
            unsafe memory = Self.allocate(count * 2)
        }
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[Frame.magic.count...]).copyMemory(
            from: stored)
    }

    private static func allocate(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
        unsafe memory.copyBytes(from: Frame.magic)
        return unsafe memory
    }
}

/// Why a frame could not be decompressed. Its record is a miss.
package enum CompressionError: Error, Equatable, Sendable {
    /// The frame claims more bytes than allowed, or `nil` if it does not say how many.
    case tooLarge(claimed: UInt64?)
    /// zstd refuses the frame, or the payload has another length than the frame claims.
    case corrupt(String)
    /// The library has no memory for a context.
    case outOfMemory
}

/// The zstd library that the process has loaded.
///
/// ```swift
/// ZstdLibrary.version  // "1.5.4"
/// ```
public enum ZstdLibrary {
    /// Major, minor and patch version of the library.
    public static var version: String {
        let number = ZSTD_versionNumber()
        return "\(number / 10_000).\(number / 100 % 100).\(number % 100)"
    }
}

/// Compresses blocks into frames with one context. Confined to a thread.
@safe
package final class Compressor {
    private let context: OpaquePointer
    private let level: CInt
    private var output: [UInt8] = []

    /// Returns `nil` if there is no memory.
    ///
    /// - Parameter level: 1 to 12, for frames without a dictionary. A digest has its own level.
    package init?(level: Int) {
        guard let context = unsafe ZSTD_createCCtx() else { return nil }
        unsafe self.context = unsafe context
        self.level = CInt(level)
    }

    deinit { unsafe _ = ZSTD_freeCCtx(context) }

    /// Returns the frame of `block`, or `nil` if it would have more than `limit` bytes or claim
    /// more than `Frame.limit` allows.
    ///
    /// The frame stands in memory of the compressor: the next call copies it if it is still in use.
    /// Uses zstd's simple functions. Those with parameters take 10 % longer for 100
    /// bytes, and after a frame that did not fit their context keeps its dictionary.
    package func compress(_ block: RawSpan, with digest: CompressionDigest?, limit: Int)
        -> ArraySlice<UInt8>?
    {
        let bound = Frame.magic.count + max(limit, 0)
        if output.count < bound { output = [UInt8](repeating: 0, count: bound) }
        let written = unsafe block.withUnsafeBytes { source in
            unsafe output.withUnsafeMutableBytes { output in
                guard let digest else {
                    return unsafe ZSTD_compressCCtx(
                        context, output.baseAddress, bound, source.baseAddress, source.count, level)
                }
                return withExtendedLifetime(digest) {
                    unsafe ZSTD_compress_usingCDict(
                        context, output.baseAddress, bound, source.baseAddress, source.count,
                        digest.digest)
                }
            }
        }
        guard ZSTD_isError(written) == 0, written > Frame.magic.count else { return nil }
        let frame = output[Frame.magic.count..<written]
        return block.byteCount <= Frame.limit(ofFrame: frame.count) ? frame : nil
    }
}
