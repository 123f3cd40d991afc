import CZstd

/// Makes frames of payloads. One context, used again and again. Confined to a thread.
@safe
package final class Compressor {
    private let context: OpaquePointer
    private var output: [UInt8] = []

    /// - Parameter level: 1 to 12, for frames without a dictionary; a digest has its own.
    package init?(level: Int) {
        guard let context = unsafe ZSTD_createCCtx() else { return nil }
        unsafe self.context = unsafe context
        unsafe _ = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, CInt(level))
        unsafe _ = ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0)
        unsafe _ = ZSTD_CCtx_setParameter(context, ZSTD_c_dictIDFlag, 0)
    }

    deinit { unsafe _ = ZSTD_freeCCtx(context) }

    /// The frame of `payload`; nil where it would take more than `limit` bytes, or more than a reader would believe.
    package func compress(_ payload: [UInt8], with digest: CompressionDigest?, limit: Int) -> ArraySlice<UInt8>? {
        let bound = Frame.magic.count + max(limit, 0)
        if output.count < bound { output = [UInt8](repeating: 0, count: bound) }
        let written = unsafe payload.withUnsafeBytes { source in
            unsafe output.withUnsafeMutableBytes { output in
                // Without the reset a context whose last frame did not fit keeps the dictionary it had.
                unsafe _ = ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
                return withExtendedLifetime(digest) {
                    let referred = unsafe ZSTD_CCtx_refCDict(context, digest?.digest)
                    guard ZSTD_isError(referred) == 0 else { return referred }
                    return unsafe ZSTD_compress2(
                        context, output.baseAddress, bound, source.baseAddress, source.count)
                }
            }
        }
        guard ZSTD_isError(written) == 0, written > Frame.magic.count else { return nil }
        let frame = output[Frame.magic.count..<written]
        return payload.count <= Frame.limit(ofFrame: frame.count) ? frame : nil
    }
}
