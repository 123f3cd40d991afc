import CZstd

/// Compresses payloads into frames with one context. Confined to a thread.
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

    /// Returns the frame of `payload`, or `nil` if it would have more than `limit` bytes or claim
    /// more than `Frame.limit` allows.
    ///
    /// Uses zstd's simple functions. Those with parameters take 10 % longer for a payload of 100
    /// bytes, and after a frame that did not fit their context keeps its dictionary.
    package func compress(_ payload: [UInt8], with digest: CompressionDigest?, limit: Int)
        -> ArraySlice<UInt8>?
    {
        let bound = Frame.magic.count + max(limit, 0)
        if output.count < bound { output = [UInt8](repeating: 0, count: bound) }
        let written = unsafe payload.withUnsafeBytes { source in
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
        return payload.count <= Frame.limit(ofFrame: frame.count) ? frame : nil
    }
}
