import CZstd
import EspalierConfinement
import Synchronization

/// Decompresses frames with one context. A pool keeps some between reads, see `borrow`.
///
/// Unchecked `Sendable`, because the pool hands the object from thread to thread. One thread at a
/// time uses it.
@safe
package final class Decompressor: @unchecked Sendable {
    private let context: OpaquePointer
    private let buffer = Confined(FrameBuffer())

    /// Makes a decompressor outside of the pool. Throws `outOfMemory`.
    package init() throws(CompressionError) {
        guard let context = unsafe ZSTD_createDCtx() else { throw .outOfMemory }
        unsafe self.context = unsafe context
    }

    deinit { unsafe _ = ZSTD_freeDCtx(context) }

    /// Copies a frame and returns how many bytes its payload has.
    ///
    /// - Throws: `tooLarge` if the frame claims more than `limit`, or more than a frame of its
    ///   length may claim; `corrupt` if it has no header.
    package func load(_ stored: RawSpan, limit: Int) throws(CompressionError) -> Int {
        unsafe stored.withUnsafeBytes { unsafe buffer.value.load($0) }
        let frame = unsafe buffer.value.frame
        let claimed = unsafe ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
        // The two highest numbers are the macros ZSTD_CONTENTSIZE_UNKNOWN and
        // ZSTD_CONTENTSIZE_ERROR, which Swift does not import.
        guard claimed < .max - 1 else {
            throw claimed == .max ? .tooLarge(claimed: nil) : .corrupt("no frame header")
        }
        guard claimed <= min(limit, Frame.limit(ofFrame: stored.byteCount)) else {
            throw .tooLarge(claimed: claimed)
        }
        return Int(claimed)
    }

    /// Decompresses the frame that was loaded last. `output` has as many bytes as `load` returned.
    package func decompress(
        into output: inout MutableRawSpan, with dictionary: CompressionDictionary?
    ) throws(CompressionError) {
        let count = output.byteCount
        let frame = unsafe buffer.value.frame
        let written = unsafe output.withUnsafeMutableBytes { output in
            withExtendedLifetime(dictionary) {
                unsafe ZSTD_decompress_usingDDict(
                    context, output.baseAddress, output.count, frame.baseAddress, frame.count,
                    dictionary?.digest)
            }
        }
        guard ZSTD_isError(written) == 0 else {
            throw .corrupt(unsafe String(cString: ZSTD_getErrorName(written)))
        }
        guard written == count else { throw .corrupt("\(written) bytes instead of \(count)") }
    }

    // MARK: Pool

    private static let pool = Mutex<[Decompressor]>([])
    private static let poolLimit = 16

    /// Returns a decompressor from the pool, or a new one. The caller calls `giveBack` when it is
    /// done.
    ///
    /// A new context takes 150 KB and some microseconds.
    package static func borrow() throws(CompressionError) -> Decompressor {
        guard let pooled = pool.withLock({ $0.popLast() }) else { return try Decompressor() }
        pooled.buffer.transferToCurrentThread()
        return pooled
    }

    /// Returns the decompressor to the pool, unless the pool is full.
    package func giveBack() {
        Self.pool.withLock { pool in
            if pool.count < Self.poolLimit { pool.append(self) }
        }
    }
}
