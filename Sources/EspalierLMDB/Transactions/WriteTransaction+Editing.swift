extension WriteTransaction {
    /// Stores `value` under `key`, in place of what was there.
    @inlinable
    public mutating func put<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: RawSpan
    ) throws(LMDBError) {
        try key.withBytes { (key) throws(LMDBError) in try store(keyspace, key, value, appending: false) }
    }

    @inlinable
    public mutating func put<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: [UInt8]
    ) throws(LMDBError) {
        try put(keyspace, key, unsafe value.span.bytes)
    }

    /// Stores `value` under a key greater than every other of the keyspace: faster than `put`, and it fills pages to
    /// the brim. Throws `.outOfOrder` otherwise, and the transaction stays good.
    @inlinable
    public mutating func append<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: RawSpan
    ) throws(LMDBError) {
        try key.withBytes { (key) throws(LMDBError) in try store(keyspace, key, value, appending: true) }
    }

    @inlinable
    public mutating func append<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: [UInt8]
    ) throws(LMDBError) {
        try append(keyspace, key, unsafe value.span.bytes)
    }

    /// Removes the entry under `key`; `false` when there is none. Needs free pages, like every write.
    @inlinable @discardableResult
    public mutating func delete<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key
    ) throws(LMDBError) -> Bool {
        try key.withBytes { (key) throws(LMDBError) -> Bool in try remove(keyspace, key) }
    }

    @usableFromInline
    mutating func store(
        _ keyspace: Keyspace, _ key: RawSpan, _ value: RawSpan, appending: Bool
    ) throws(LMDBError) {
        let open = openTransaction
        let operation: LMDBError.Operation = appending ? .append : .put
        guard !key.isEmpty else { throw LMDBError(.keyEmpty, operation) }
        guard key.byteCount <= Environment.maximumKeySize else { throw LMDBError(.keyTooLong, operation) }
        guard value.byteCount <= open.environment.maximumValueSize else { throw LMDBError(.valueTooLong, operation) }
        let index = try startWrite(keyspace, operation)
        do {
            try unsafe key.withUnsafeBytes { (key) throws(LMDBError) in
                try unsafe value.withUnsafeBytes { (value) throws(LMDBError) in
                    try unsafe LMDBCalls.put(open.pointer, index, key, value, appending: appending)
                }
            }
        } catch {
            if error.code != .outOfOrder { open.fail() }
            throw error
        }
    }

    @usableFromInline
    mutating func remove(_ keyspace: Keyspace, _ key: RawSpan) throws(LMDBError) -> Bool {
        let open = openTransaction
        let index = try startWrite(keyspace, .delete)
        do {
            return try unsafe key.withUnsafeBytes { (key) throws(LMDBError) -> Bool in
                try unsafe LMDBCalls.delete(open.pointer, index, key)
            }
        } catch {
            open.fail()
            throw error
        }
    }

    private func startWrite(_ keyspace: Keyspace, _ operation: LMDBError.Operation) throws(LMDBError) -> UInt32 {
        let open = openTransaction
        open.requireNothingBorrowed()
        guard !open.hasFailed else { throw LMDBError(.transactionFailed, operation) }
        return open.index(of: keyspace)
    }
}
