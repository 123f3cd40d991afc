/// Something whose bytes name an entry of a keyspace.
///
/// ```swift
/// let record = try transaction.value(nodes, UInt64(42))
/// let chunk = try transaction.value(nodes, ChunkKey(42, 1))
/// ```
///
/// `UInt64`, `KeyPair`, `ChunkKey`, `[UInt8]` and `RawSpan` are keys. Integers are written
/// big-endian, so that the order of bytes is the order of numbers. Threading: values. Cost: nothing
/// is allocated. Errors: none; a key that is empty or too long fails where it is put, and is simply
/// not there where it is looked up.
public protocol KeyspaceKey: ~Copyable, ~Escapable {
    /// Lends the bytes for the time of the call.
    func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R
}

extension UInt64: KeyspaceKey {
    @inlinable
    public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe withUnsafeBytes(of: bigEndian) { (bytes) throws(E) -> R in
            try body(unsafe RawSpan(_unsafeBytes: bytes))
        }
    }
}

extension [UInt8]: KeyspaceKey {
    @inlinable
    public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try body(unsafe span.bytes)
    }
}

extension RawSpan: KeyspaceKey {
    @inlinable
    public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try body(self)
    }
}
