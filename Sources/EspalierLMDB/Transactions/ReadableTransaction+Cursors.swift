extension ReadableTransaction where Self: ~Copyable {
    /// Walks a keyspace in key order. The cursor starts before the first entry.
    @inlinable
    public func withCursor<R>(_ keyspace: Keyspace, _ body: (inout Cursor) throws -> R) throws -> R
    {
        var cursor = try Cursor(openTransaction, keyspace)
        return try body(&cursor)
    }

    /// Visits every entry in key order until `body` returns `false`.
    @inlinable
    public func forEach(
        in keyspace: Keyspace, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
    ) throws {
        try withCursor(keyspace) { cursor in
            while try cursor.next() {
                guard try cursor.withEntry(body) else { return }
            }
        }
    }

    /// Visits the entries at and after `key` in key order until `body` returns `false`.
    @inlinable
    public func forEach<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        in keyspace: Keyspace, from key: borrowing Key,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
    ) throws {
        var cursor = try Cursor(openTransaction, keyspace)
        var isOnEntry = try cursor.seek(atOrAfter: key)
        while isOnEntry {
            guard try cursor.withEntry(body) else { return }
            isOnEntry = try cursor.next()
        }
    }
}
