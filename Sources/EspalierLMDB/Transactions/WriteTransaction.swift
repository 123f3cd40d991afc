/// The transaction that can write. It ends when it is committed, aborted or dropped.
///
/// ```swift
/// var transaction = try environment.beginWrite()
/// try transaction.put(nodes, handle, record)
/// try transaction.commit()  // consumes it; dropping it would abort
/// ```
///
/// An error about an argument leaves the transaction good: `.keyEmpty`, `.keyTooLong`,
/// `.valueTooLong` and `.outOfOrder`. After any other error of a write it is void: further writes
/// and ``commit()`` throw `.transactionFailed`, or `.corrupted` if the first error was damage. The
/// commit itself can also run out of pages or of disk space. The file never changes unless the
/// commit succeeds.
///
/// The transaction is bound to the thread that began it. Ending it on another thread traps, because
/// LMDB's mutex would stay locked for ever.
public struct WriteTransaction: ~Copyable, ReadableTransaction {
    private let environment: Environment
    private let open: OpenTransaction
    private let epoch: UInt64

    init(_ open: OpenTransaction, in environment: Environment) {
        self.open = open
        self.environment = environment
        epoch = open.epoch
    }

    deinit {
        // `commit` and `abort` end the transaction before they drop it.
        guard epoch == open.epoch else { return }
        environment.abortWrite(open)
    }

    public var openTransaction: OpenTransaction { open }

    /// The number that the commit will have.
    public var number: UInt64 { open.number }

    /// Whether a failed call has made the transaction void.
    public var hasFailed: Bool { open.hasFailed }

    /// A copyable view for code that cannot borrow the transaction. It sees what was written so
    /// far.
    public var snapshot: Snapshot { Snapshot(open) }

    // MARK: Ending

    /// Makes all changes visible at once, to every process.
    ///
    /// - Throws: ``LMDBError``: `.mapFull`, `.diskFull`, `.transactionFailed` if an earlier call
    ///   failed, `.panic` if LMDB could not write the meta page. Nothing has changed then.
    /// - Complexity: Writes the changed pages and waits for the disk, depending on
    ///   ``Environment/Durability``.
    public consuming func commit() throws(LMDBError) {
        // The deinitialiser aborts.
        guard !open.hasFailed else { throw open.refusal(.commit) }
        do {
            try environment.commitWrite(open)
        } catch {
            // A call that read may have met a bad page, which only LMDB knows.
            throw error.code == .transactionFailed ? LMDBError(.corrupted, .commit) : error
        }
    }

    /// Discards all changes. Dropping the transaction does the same.
    public consuming func abort() {
        environment.abortWrite(open)
    }

    // MARK: Writing

    /// Stores a value under a key, in place of an older one.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to write to.
    ///   - key: 1 to ``Environment/maximumKeySize`` bytes.
    ///   - value: At most ``Environment/maximumValueSize`` bytes.
    /// - Throws: ``LMDBError``: `.mapFull`, `.keyEmpty`, `.keyTooLong`, `.valueTooLong`,
    ///   `.transactionFailed`, `.transactionTooLarge`, `.pageFull`.
    /// - Complexity: O(log *n*) in the number of entries. Copies the pages from the leaf to the
    ///   root that the transaction has not copied yet.
    @inlinable
    public mutating func put<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: RawSpan
    ) throws(LMDBError) {
        try key.withBytes { (key) throws(LMDBError) in
            try store(keyspace, key, value, appending: false)
        }
    }

    /// Stores a value under a key, in place of an older one.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to write to.
    ///   - key: 1 to ``Environment/maximumKeySize`` bytes.
    ///   - value: At most ``Environment/maximumValueSize`` bytes.
    /// - Throws: ``LMDBError``, as the method with a span does.
    /// - Complexity: That of the method with a span.
    @inlinable
    public mutating func put<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: [UInt8]
    ) throws(LMDBError) {
        try put(keyspace, key, unsafe value.span.bytes)
    }

    /// Stores a value under a key that is greater than all keys of the keyspace. This is faster
    /// than `put`, and it fills pages completely.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to write to.
    ///   - key: 1 to ``Environment/maximumKeySize`` bytes.
    ///   - value: At most ``Environment/maximumValueSize`` bytes.
    /// - Throws: ``LMDBError``: `.outOfOrder` if the key is not greater than all others, which
    ///   leaves the transaction good; the errors of `put`.
    /// - Complexity: O(log *n*) in the number of entries.
    @inlinable
    public mutating func append<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: RawSpan
    ) throws(LMDBError) {
        try key.withBytes { (key) throws(LMDBError) in
            try store(keyspace, key, value, appending: true)
        }
    }

    /// Stores a value under a key that is greater than all keys of the keyspace.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to write to.
    ///   - key: 1 to ``Environment/maximumKeySize`` bytes.
    ///   - value: At most ``Environment/maximumValueSize`` bytes.
    /// - Throws: ``LMDBError``, as the method with a span does.
    /// - Complexity: That of the method with a span.
    @inlinable
    public mutating func append<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ value: [UInt8]
    ) throws(LMDBError) {
        try append(keyspace, key, unsafe value.span.bytes)
    }

    /// Stores a value under a key unless the key has one.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to write to.
    ///   - key: 1 to ``Environment/maximumKeySize`` bytes.
    ///   - value: At most ``Environment/maximumValueSize`` bytes.
    ///   - body: Reads the value that the key has. It is not called if the key has none.
    /// - Returns: `nil` if the new value was stored. Otherwise the value that `body` returns, and
    ///   nothing has changed.
    /// - Throws: ``LMDBError``, as `put` does. Rethrows the errors of `body`, which leave the
    ///   transaction good.
    /// - Complexity: O(log *n*) in the number of entries: one search, where a lookup before a `put`
    ///   takes two.
    public mutating func insert<R>(
        _ keyspace: Keyspace, _ key: [UInt8], _ value: RawSpan, orElse body: (RawSpan) throws -> R
    ) throws -> R? {
        let open = openTransaction
        let key = unsafe key.span.bytes
        try requireSizes(key, value, .put)
        let index = try requireWritable(keyspace, .put)
        let existing: UnsafeRawBufferPointer?
        do {
            unsafe existing = try key.withUnsafeBytes { (key) throws(LMDBError) in
                try unsafe withStored(value, keyspace, key) { (value) throws(LMDBError) in
                    try unsafe LMDBCalls.insert(open.pointer, index, key, value)
                }
            }
        } catch {
            throw open.fail(error)
        }
        guard let existing = unsafe existing else { return nil }
        open.beginBorrow()
        defer { open.endBorrow() }
        #if Encryption
        if open.isProtected, let opened = unsafe open.opened(existing, keyspace, key) {
            return try body(unsafe opened.span.bytes)
        }
        #endif
        return try body(unsafe RawSpan(_unsafeBytes: existing))
    }

    /// Removes the entry under a key.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to write to.
    ///   - key: The key. An empty or too long key is never there.
    /// - Returns: `false` if the key is not there.
    /// - Throws: ``LMDBError``: `.mapFull`, because a deletion copies pages like every write;
    ///   `.transactionFailed`.
    /// - Complexity: O(log *n*) in the number of entries. Copies pages as `put` does.
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
        let index = try requireWritable(keyspace, operation)
        do {
            try unsafe key.withUnsafeBytes { (key) throws(LMDBError) in
                try unsafe withStored(value, keyspace, key) { (value) throws(LMDBError) in
                    try unsafe LMDBCalls.put(open.pointer, index, key, value, appending: appending)
                }
            }
        } catch {
            if error.code == .outOfOrder { throw error }
            throw open.fail(error)
        }
    }

    @usableFromInline
    mutating func remove(_ keyspace: Keyspace, _ key: RawSpan) throws(LMDBError) -> Bool {
        let open = openTransaction
        let index = try requireWritable(keyspace, .delete)
        do {
            return try unsafe key.withUnsafeBytes { (key) throws(LMDBError) -> Bool in
                try unsafe LMDBCalls.delete(open.pointer, index, key)
            }
        } catch {
            throw open.fail(error)
        }
    }

    /// Calls `body` with the bytes that are stored for a value.
    @inline(__always)
    private func withStored<R>(
        _ value: RawSpan, _ keyspace: Keyspace, _ key: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(LMDBError) -> R
    ) throws(LMDBError) -> R {
        #if Encryption
        let open = openTransaction
        if open.isProtected, let protection = open.environment.protection {
            let key = unsafe RawSpan(_unsafeBytes: key)
            return try protection.withStored(value, in: keyspace.index, key: key) {
                (stored) throws(LMDBError) -> R in
                try unsafe stored.withUnsafeBytes { (stored) throws(LMDBError) -> R in
                    try unsafe body(stored)
                }
            }
        }
        #endif
        return try unsafe value.withUnsafeBytes { (value) throws(LMDBError) -> R in
            try unsafe body(value)
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

    /// Returns the index of a keyspace that may be written to now.
    private func requireWritable(_ keyspace: Keyspace, _ operation: LMDBError.Operation)
        throws(LMDBError) -> UInt32
    {
        let open = openTransaction
        open.requireNothingBorrowed()
        guard !open.hasFailed else { throw open.refusal(operation) }
        return open.index(of: keyspace)
    }
}

@available(*, unavailable)
extension WriteTransaction: Sendable {}
