import CZstd
import Synchronization

/// Expands frames. One context, used again and again: `borrow` and `giveBack` keep some between
/// reads.
///
/// Unchecked, because it is used by one thread at a time: by whoever took it out of the pool.
@safe
package final class Decompressor: @unchecked Sendable {
    private let context: OpaquePointer
    /// The frame under way, with the bytes that it is stored without. In memory of its own, which
    /// spares the checks that a `var` of a class pays for.
    private let room: UnsafeMutablePointer<FrameRoom>

    package init() throws(CompressionError) {
        guard let context = unsafe ZSTD_createDCtx() else { throw .outOfMemory }
        unsafe self.context = unsafe context
        unsafe room = .allocate(capacity: 1)
        unsafe room.initialize(to: FrameRoom())
    }

    deinit {
        unsafe _ = ZSTD_freeDCtx(context)
        unsafe room.deinitialize(count: 1)
        unsafe room.deallocate()
    }

    /// Takes a frame in and tells how many bytes it says that it expands to: no more than `limit`,
    /// and no more than frames of its length may.
    package func load(_ stored: RawSpan, limit: Int) throws(CompressionError) -> Int {
        unsafe stored.withUnsafeBytes { unsafe room.pointee.take($0) }
        let frame = unsafe room.pointee.frame
        let claimed = unsafe ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
        // ZSTD_CONTENTSIZE_UNKNOWN and ZSTD_CONTENTSIZE_ERROR, macros that are not imported, are
        // the two highest numbers.
        guard claimed < .max - 1 else {
            throw claimed == .max ? .tooLarge(claimed: nil) : .corrupt("no frame header")
        }
        guard claimed <= min(limit, Frame.limit(ofFrame: stored.byteCount)) else {
            throw .tooLarge(claimed: claimed)
        }
        return Int(claimed)
    }

    /// Expands the frame taken in last, to as many bytes as it said.
    package func decompress(
        into output: inout MutableRawSpan, with dictionary: CompressionDictionary?
    ) throws(CompressionError) {
        let count = output.byteCount
        let frame = unsafe room.pointee.frame
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

    // MARK: Contexts

    private static let pool = Mutex<[Decompressor]>([])
    private static let poolLimit = 16

    /// One of those that were given back, or a new one. A new context takes 150 KB and some
    /// microseconds.
    package static func borrow() throws(CompressionError) -> Decompressor {
        if let known = pool.withLock({ $0.popLast() }) { return known }
        return try Decompressor()
    }

    package func giveBack() {
        Self.pool.withLock { pool in
            if pool.count < Self.poolLimit { pool.append(self) }
        }
    }
}
