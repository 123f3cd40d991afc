import CZstd

/// Makes frames of payloads. One context, used again and again. Confined to a thread.
@safe
package final class Compressor {
    private let context: OpaquePointer
    private let level: CInt
    private var output: [UInt8] = []

    /// - Parameter level: 1 to 12, for frames without a dictionary; a digest has its own.
    package init?(level: Int) {
        guard let context = unsafe ZSTD_createCCtx() else { return nil }
        unsafe self.context = unsafe context
        self.level = CInt(level)
    }

    deinit { unsafe _ = ZSTD_freeCCtx(context) }

    /// The frame of `payload`; nil where it would take more than `limit` bytes, or more than a
    /// reader would believe.
    ///
    /// With zstd's simple functions: the ones with parameters take a tenth longer for a payload of
    /// a hundred bytes, and a context whose last frame did not fit keeps the dictionary it had.
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
