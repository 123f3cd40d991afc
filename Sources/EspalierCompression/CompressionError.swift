/// Why a frame could not be decompressed. The record it belongs to is a miss.
package enum CompressionError: Error, Equatable, Sendable {
    /// It does not say how many bytes it expands to, or more than it may.
    case tooLarge(claimed: UInt64?)
    /// zstd refuses it, or it expands to another number of bytes than it says.
    case corrupt(String)
    /// The library could not get memory for a context.
    case outOfMemory
}
