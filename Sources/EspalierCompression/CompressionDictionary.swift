import CZstd

/// A dictionary that frames are decompressed with, digested once.
///
/// zstd takes any bytes for one: what is no dictionary in its form is content that frames refer to.
/// What it refuses, such as tables that contradict themselves, makes none.
///
/// Immutable, so that any number of threads use one. Costs its bytes and about 30 KB.
@safe
package final class CompressionDictionary: Sendable {
    package let bytes: [UInt8]
    // Nothing changes it once it is made.
    nonisolated(unsafe) let digest: OpaquePointer

    package init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        let made = unsafe bytes.withUnsafeBytes {
            unsafe ZSTD_createDDict($0.baseAddress, $0.count)
        }
        guard let made = unsafe made else { return nil }
        self.bytes = bytes
        unsafe digest = made
    }

    deinit { unsafe _ = ZSTD_freeDDict(digest) }
}

/// A dictionary that frames are made with, digested for one level. Confined to a thread.
@safe
package final class CompressionDigest {
    let digest: OpaquePointer

    package init?(_ dictionary: [UInt8], level: Int) {
        let made = unsafe dictionary.withUnsafeBytes {
            unsafe ZSTD_createCDict($0.baseAddress, $0.count, CInt(level))
        }
        guard let made = unsafe made else { return nil }
        unsafe digest = made
    }

    deinit { unsafe _ = ZSTD_freeCDict(digest) }
}
