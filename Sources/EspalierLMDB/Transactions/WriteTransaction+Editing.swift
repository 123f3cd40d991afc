extension WriteTransaction {
    /// Stores `value` under `key`, in place of what was there.
    @inlinable
    public mutating func put<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: RawSpan
    ) throws(LMDBError) {
        try key.withBytes { (key) throws(LMDBError) in
            try store(keyspace, key, value, appending: false)
        }
    }

    @inlinable
    public mutating func put<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: [UInt8]
    ) throws(LMDBError) {
        try put(keyspace, key, unsafe value.span.bytes)
    }

    /// Stores `value` under a key greater than every other of the keyspace: faster than `put`, and
    /// it fills pages to the brim. Throws `.outOfOrder` otherwise, and the transaction stays good.
    @inlinable
    public mutating func append<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: RawSpan
    ) throws(LMDBError) {
        try key.withBytes { (key) throws(LMDBError) in
            try store(keyspace, key, value, appending: true)
        }
    }

    @inlinable
    public mutating func append<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: [UInt8]
    ) throws(LMDBError) {
        try append(keyspace, key, unsafe value.span.bytes)
    }

    /// Stores `value` under `key` unless there is one: then nothing changes, and the answer is what
    /// `body` makes of it. One way down the tree, where a look-up before a `put` takes two.
    public mutating func insert<R>(
        _ keyspace: Keyspace, _ key: [UInt8], _ value: RawSpan, orElse body: (RawSpan) throws -> R
    ) throws -> R? {
        let open = openTransaction
        let key = unsafe key.span.bytes
        try requireSizes(key, value, .put)
        let index = try startWrite(keyspace, .put)
        let known: UnsafeRawBufferPointer?
        do {
            unsafe known = try key.withUnsafeBytes { (key) throws(LMDBError) in
                try unsafe value.withUnsafeBytes { (value) throws(LMDBError) in
                    try unsafe LMDBCalls.insert(open.pointer, index, key, value)
                }
            }
        } catch {
            open.fail()
            throw error
        }
        guard let known = unsafe known else { return nil }
        open.borrow()
        defer { open.giveBack() }
        return try body(unsafe RawSpan(_unsafeBytes: known))
    }

    /// Removes the entry under `key`; `false` when there is none. Needs free pages, like every
    /// write.
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
        try requireSizes(key, value, operation)
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

    private func requireSizes(
        _ key: RawSpan, _ value: RawSpan, _ operation: LMDBError.Operation
    ) throws(LMDBError) {
        guard !key.isEmpty else { throw LMDBError(.keyEmpty, operation) }
        guard key.byteCount <= Environment.maximumKeySize else {
            throw LMDBError(.keyTooLong, operation)
        }
        guard value.byteCount <= openTransaction.environment.maximumValueSize else {
            throw LMDBError(.valueTooLong, operation)
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

    private func startWrite(_ keyspace: Keyspace, _ operation: LMDBError.Operation)
        throws(LMDBError) -> UInt32
    {
        let open = openTransaction
        open.requireNothingBorrowed()
        guard !open.hasFailed else { throw LMDBError(.transactionFailed, operation) }
        return open.index(of: keyspace)
    }
}
