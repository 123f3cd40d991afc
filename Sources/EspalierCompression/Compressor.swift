import CZstd

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
