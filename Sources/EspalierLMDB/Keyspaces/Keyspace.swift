/// A named, ordered map from keys to values in an environment.
///
/// ```swift
/// let nodes = environment.keyspace("nodes")
/// let record = try environment.read { try $0.value(nodes, UInt64(7)) }
/// ```
///
/// The value is valid in all transactions of its environment. Use with another environment, even
/// one that was opened later on the same directory, is a programmer error and traps.
public struct Keyspace: Sendable, Hashable {
    /// The name that the environment was opened with.
    public let name: String
    /// LMDB's number for the keyspace.
    let index: UInt32
    /// The serial number of the environment.
    let environment: UInt64

    /// The keyspace in which LMDB keeps the free pages of each commit.
    static let freeListIndex: UInt32 = 0
    /// The keyspace in which LMDB keeps the named keyspaces.
    static let directoryIndex: UInt32 = 1
}

/// The size of a keyspace as one transaction sees it.
///
/// ```swift
/// let entries = try environment.read { try $0.statistics(of: nodes).entries }
/// ```
public struct KeyspaceStatistics: Sendable, Hashable {
    /// The number of entries.
    public let entries: Int
    /// The levels of the tree, 0 if it is empty.
    public let depth: Int
    /// The number of pages above the leaves.
    public let branchPages: Int
    /// The number of pages that hold entries.
    public let leafPages: Int
    /// The number of pages that hold values which are too long for a leaf.
    public let overflowPages: Int

    /// The number of all pages.
    public var pages: Int { branchPages + leafPages + overflowPages }
}

// MARK: Keys

/// A value whose bytes are the key of an entry.
///
/// ```swift
/// let record = try transaction.value(nodes, UInt64(42))
/// let chunk = try transaction.value(nodes, ChunkKey(42, 1))
/// ```
///
/// Keys are `UInt64`, ``KeyPair``, ``ChunkKey``, `[UInt8]` and `RawSpan`. Numbers are stored
/// big-endian, so that the order of the bytes is the order of the numbers. Storing an empty or too
/// long key throws; a lookup does not find it.
public protocol KeyspaceKey: ~Copyable, ~Escapable {
    /// Calls `body` with the bytes of the key, which are valid until it returns.
    ///
    /// - Parameter body: Reads the bytes.
    /// - Returns: The value that `body` returns.
    /// - Throws: Rethrows the errors of `body`.
    /// - Complexity: Allocates nothing.
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

/// Two numbers as a key of 16 bytes, ordered by the first number, then by the second.
///
/// ```swift
/// try transaction.put(pairs, KeyPair(1, 7), value)
/// ```
public struct KeyPair: Sendable, Hashable, KeyspaceKey {
    /// The number that decides the order.
    public let first: UInt64
    /// The number that decides where the first ones are equal.
    public let second: UInt64

    /// Makes a key from its numbers.
    ///
    /// - Parameters:
    ///   - first: The number that decides the order.
    ///   - second: The number that decides where the first ones are equal.
    @inlinable
    public init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    /// Reads a key from its bytes. Returns `nil` unless there are exactly 16.
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

/// A number and the number of a chunk as a key of 12 bytes, ordered by the number, then by the
/// chunk.
///
/// ```swift
/// try transaction.put(nodes, ChunkKey(handle, 1), tail)
/// ```
///
/// The bare number is a prefix of the key. A chunk therefore follows the entry of its number and
/// precedes the entry of the next number.
public struct ChunkKey: Sendable, Hashable, KeyspaceKey {
    /// The number of the entry that the chunk belongs to.
    public let number: UInt64
    /// The number of the chunk.
    public let chunk: UInt32

    /// Makes a key from its numbers.
    ///
    /// - Parameters:
    ///   - number: The number of the entry that the chunk belongs to.
    ///   - chunk: The number of the chunk within the entry.
    @inlinable
    public init(_ number: UInt64, _ chunk: UInt32) {
        self.number = number
        self.chunk = chunk
    }

    /// Reads a key from its bytes. Returns `nil` unless there are exactly 12.
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
        // The elements of a Swift tuple stand in memory in order. Here there is no gap between
        // them.
        try unsafe withUnsafeBytes(of: (number.bigEndian, chunk.bigEndian)) {
            (bytes) throws(E) -> R in
            try body(unsafe RawSpan(_unsafeBytes: bytes))
        }
    }
}
