extension Cursor {
    public mutating func first() throws(LMDBError) -> Bool { try move(.first) }
    public mutating func last() throws(LMDBError) -> Bool { try move(.last) }

    /// The entry after this one; from before the first entry, or after a deletion, the one that
    /// comes next.
    public mutating func next() throws(LMDBError) -> Bool { try move(.next) }

    /// The entry before this one; from before the first entry, the last.
    public mutating func previous() throws(LMDBError) -> Bool { try move(.previous) }

    /// The first entry whose key is not less than `key`.
    @inlinable
    public mutating func seek<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        atOrAfter key: borrowing Key
    ) throws(LMDBError) -> Bool {
        try key.withBytes { (bytes) throws(LMDBError) -> Bool in try seek(bytes: bytes) }
    }

    @usableFromInline
    mutating func seek(bytes: RawSpan) throws(LMDBError) -> Bool {
        // LMDB refuses the empty key, which every other key follows.
        bytes.isEmpty ? try move(.first) : try move(.atOrAfter, bytes)
    }

    /// Lends key and value of the entry the cursor stands on.
    @inlinable
    public func withEntry<R, E: Error>(
        _ body: (_ key: RawSpan, _ value: RawSpan) throws(E) -> R
    ) throws(E) -> R {
        let entry = unsafe borrowEntry()
        defer { giveBack() }
        return try body(
            unsafe RawSpan(_unsafeBytes: entry.key), unsafe RawSpan(_unsafeBytes: entry.value))
    }
}
