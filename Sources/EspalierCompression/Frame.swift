import CZstd

/// A zstd frame as records hold it: without the four bytes that all frames begin with.
///
/// Its header says how many bytes it expands to. It names no dictionary and has no check of its
/// own: the record does the one and has the other.
package enum Frame {
    static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    /// A payload may claim to be this many times as long as its frame, and `slack` bytes: what zstd
    /// makes of long runs can be 32,000 times as long, and is stored as it is rather than let
    /// damage claim so much memory.
    static let maximumRatio = 1_000
    static let slack = 4_096

    /// The most that a frame of `count` bytes may expand to.
    package static func limit(ofFrame count: Int) -> Int {
        let (product, overflow) = count.multipliedReportingOverflow(by: maximumRatio)
        return overflow ? .max : product + slack
    }
}
