import CZstd

/// Makes a dictionary of samples, with ZDICT's fast cover algorithm.
package enum DictionaryTrainer {
    /// ZDICT refuses fewer.
    package static let fewestSamples = 8

    /// A dictionary of at most `size` bytes; nil where ZDICT finds too little in common, or too few
    /// samples. Costs about as many milliseconds as there are 10 KB of samples.
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
        // Frames would spend four bytes on the identifier, which stands behind the magic number.
        dictionary.replaceSubrange(4..<8, with: [0, 0, 0, 0])
        return Array(dictionary[..<written])
    }
}
