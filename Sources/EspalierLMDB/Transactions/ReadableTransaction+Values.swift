extension ReadableTransaction where Self: ~Copyable {
    /// Lends the value under `key`, straight from the map, for the time of the call; `nil` when
    /// there is none.
    ///
    /// Values are not aligned: load from them unaligned.
    @inlinable
    public func withValue<Key: KeyspaceKey & ~Copyable & ~Escapable, R>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ body: (RawSpan) throws -> R
    ) throws -> R? {
        let open = try openTransaction
        return try key.withBytes { (bytes) throws -> R? in
            guard let value = try unsafe open.borrowValue(keyspace, bytes) else { return nil }
            defer { open.giveBack() }
            return try body(unsafe RawSpan(_unsafeBytes: value))
        }
    }

    /// A copy of the value under `key`; `nil` when there is none.
    @inlinable
    public func value<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key
    ) throws -> [UInt8]? {
        try withValue(keyspace, key) { value in unsafe value.withUnsafeBytes { unsafe [UInt8]($0) }
        }
    }

    @inlinable
    public func contains<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key
    ) throws -> Bool {
        try withValue(keyspace, key) { _ in } != nil
    }
}
