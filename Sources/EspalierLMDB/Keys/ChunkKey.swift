/// A number and a chunk as one key of 12 bytes, ordered by the number, then the chunk.
///
/// ```swift
/// try transaction.put(nodes, ChunkKey(handle, 1), tail)
/// ```
///
/// A chunk sorts after the bare number (a prefix of it) and before the next number. Threading: a
/// value. Cost: no allocation. Errors: none.
public struct ChunkKey: Sendable, Hashable, KeyspaceKey {
    public let number: UInt64
    public let chunk: UInt32

    @inlinable
    public init(_ number: UInt64, _ chunk: UInt32) {
        self.number = number
        self.chunk = chunk
    }

    /// Reads a key back; `nil` unless it has exactly 12 bytes.
    @inlinable
    public init?(_ bytes: RawSpan) {
        guard bytes.byteCount == 12 else { return nil }
        number = unsafe UInt64(
            bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self))
        chunk = unsafe UInt32(
            bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt32.self))
    }

    @inlinable
    public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        // Laid out by fields this would be 8 + 4 bytes with no gap between: the order of a Swift
        // tuple in memory.
        try unsafe withUnsafeBytes(of: (number.bigEndian, chunk.bigEndian)) {
            (bytes) throws(E) -> R in
            try body(unsafe RawSpan(_unsafeBytes: bytes))
        }
    }
}
