import CZstd

/// A dictionary for decompression, digested once.
///
/// zstd accepts any bytes as a dictionary: if they do not have the form of one, frames refer to
/// them as content. zstd refuses dictionaries whose tables contradict themselves.
///
/// Immutable: any number of threads may use one. Cost: its bytes and about 30 KB.
@safe
package final class CompressionDictionary: Sendable {
    /// The bytes that the dictionary was made from.
    package let bytes: [UInt8]
    /// No call changes the digest, so all threads may use it.
    nonisolated(unsafe) let digest: OpaquePointer

    /// Returns `nil` if zstd refuses the bytes or has no memory.
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

/// A dictionary for compression, digested for one level. Confined to a thread.
@safe
package final class CompressionDigest {
    let digest: OpaquePointer

    /// Returns `nil` if zstd refuses the bytes or has no memory.
    package init?(_ dictionary: [UInt8], level: Int) {
        let made = unsafe dictionary.withUnsafeBytes {
            unsafe ZSTD_createCDict($0.baseAddress, $0.count, CInt(level))
        }
        guard let made = unsafe made else { return nil }
        unsafe digest = made
    }

    deinit { unsafe _ = ZSTD_freeCDict(digest) }
}

/// Trains dictionaries with ZDICT's fast cover algorithm.
package enum DictionaryTrainer {
    /// ZDICT refuses fewer samples.
    package static let fewestSamples = 8

    /// Returns a dictionary of at most `size` bytes, or `nil` if there are too few samples or ZDICT
    /// finds too little in common.
    ///
    /// Takes about a millisecond for each 10 KB of samples.
    package static func train(_ samples: some Collection<[UInt8]>, size: Int) -> [UInt8]? {
        guard samples.count >= fewestSamples, size >= 256 else { return nil }
        var joined: [UInt8] = []
        joined.reserveCapacity(samples.reduce(0) { $0 + $1.count })
        for sample in samples { joined += sample }
        let sizes = samples.map(\.count)
        var dictionary = [UInt8](repeating: 0, count: size)
        let written = unsafe joined.withUnsafeBytes { joined in
            unsafe sizes.withUnsafeBufferPointer { sizes in
                unsafe dictionary.withUnsafeMutableBytes { dictionary in
                    unsafe ZDICT_trainFromBuffer(
                        dictionary.baseAddress, dictionary.count, joined.baseAddress,
                        sizes.baseAddress,
                        UInt32(sizes.count))
                }
            }
        }
        guard ZDICT_isError(written) == 0, written > 8, written <= size else { return nil }
        // Clears the identifier, which stands behind the magic number: each frame would spend four
        // bytes on it.
        dictionary.replaceSubrange(4..<8, with: [0, 0, 0, 0])
        return Array(dictionary[..<written])
    }
}
