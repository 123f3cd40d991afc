/// Two numbers as one key of 16 bytes, ordered by the first, then the second.
///
/// ```swift
/// try transaction.put(recency, KeyPair(stamp, handle), [])
/// ```
///
/// Threading: a value. Cost: no allocation. Errors: none.
public struct KeyPair: Sendable, Hashable, KeyspaceKey {
    public let first: UInt64
    public let second: UInt64

    @inlinable
    public init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    /// Reads a key back; `nil` unless it has exactly 16 bytes.
    @inlinable
    public init?(_ bytes: RawSpan) {
        guard bytes.byteCount == 16 else { return nil }
        first = unsafe UInt64(
            bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self))
        second = unsafe UInt64(
            bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    @inlinable
    public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe withUnsafeBytes(of: (first.bigEndian, second.bigEndian)) {
            (bytes) throws(E) -> R in
            try body(unsafe RawSpan(_unsafeBytes: bytes))
        }
    }
}
