/// A transaction that can be read from: a read transaction, a write transaction, or a snapshot of
/// either.
///
/// ```swift
/// func record(
///     _ handle: UInt64, in transaction: borrowing some ReadableTransaction & ~Copyable
/// ) throws -> [UInt8]? {
///     try transaction.value(nodes, handle)
/// }
/// ```
///
/// Other modules must not conform to this protocol. One thread uses a transaction.
///
/// All operations throw ``LMDBError``: `.transactionEnded` if a snapshot outlived its transaction,
/// `.corrupted` if LMDB finds damage, `.ioFailure`. A missing key is `nil`.
public protocol ReadableTransaction: ~Copyable {
    /// The transaction of LMDB that the shared operations use.
    ///
    /// - Throws: ``LMDBError`` with `.transactionEnded` once the transaction has ended.
    var openTransaction: OpenTransaction { get throws(LMDBError) }
}

extension ReadableTransaction where Self: ~Copyable {
    // MARK: Values

    /// Calls `body` with the value under a key.
    ///
    /// The bytes stand in the map and are valid until `body` returns. They are not aligned: load
    /// from them with unaligned loads.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to search.
    ///   - key: The key. An empty or too long key is never there.
    ///   - body: Reads the value.
    /// - Returns: The value that `body` returns, or `nil` if the key is not there.
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``. Rethrows the errors of `body`.
    /// - Complexity: O(log *n*) in the number of entries. Allocates nothing.
    @inlinable
    public func withValue<Key: KeyspaceKey & ~Copyable & ~Escapable, R>(
        _ keyspace: Keyspace, _ key: borrowing Key, _ body: (RawSpan) throws -> R
    ) throws -> R? {
        let open = try openTransaction
        return try key.withBytes { (bytes) throws -> R? in
            guard let value = try unsafe open.borrowValue(keyspace, bytes) else { return nil }
            defer { open.endBorrow() }
            #if Encryption
            if open.isProtected, let opened = unsafe open.opened(value, keyspace, bytes) {
                return try body(unsafe opened.span.bytes)
            }
            #endif
            return try body(unsafe RawSpan(_unsafeBytes: value))
        }
    }

    /// Returns a copy of the value under a key.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to search.
    ///   - key: The key. An empty or too long key is never there.
    /// - Returns: The value, or `nil` if the key is not there.
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``.
    /// - Complexity: O(log *n*) in the number of entries. Allocates an array.
    @inlinable
    public func value<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key
    ) throws -> [UInt8]? {
        try withValue(keyspace, key) { value in unsafe value.withUnsafeBytes { unsafe [UInt8]($0) }
        }
    }

    /// Returns whether a key has a value.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to search.
    ///   - key: The key. An empty or too long key is never there.
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``.
    /// - Complexity: O(log *n*) in the number of entries. Allocates nothing.
    @inlinable
    public func contains<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ keyspace: Keyspace, _ key: borrowing Key
    ) throws -> Bool {
        let open = try openTransaction
        return try key.withBytes { (bytes) throws -> Bool in
            guard unsafe try open.borrowValue(keyspace, bytes) != nil else { return false }
            open.endBorrow()
            return true
        }
    }

    // MARK: Cursors

    /// Calls `body` with a cursor that stands before the first entry of a keyspace.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to walk through.
    ///   - body: Moves the cursor, which is valid until it returns.
    /// - Returns: The value that `body` returns.
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``. Rethrows the errors of `body`.
    /// - Complexity: One allocation by C.
    @inlinable
    public func withCursor<R>(_ keyspace: Keyspace, _ body: (inout Cursor) throws -> R) throws -> R
    {
        var cursor = try Cursor(openTransaction, keyspace)
        return try body(&cursor)
    }

    /// Calls `body` with all entries of a keyspace in key order, until `body` returns `false`.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to walk through.
    ///   - body: Reads an entry. Returns whether to go on.
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``. Rethrows the errors of `body`.
    /// - Complexity: O(*n*) in the number of entries visited; some ten nanoseconds each.
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

    /// Calls `body` with the entries at and after a key in key order, until `body` returns `false`.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to walk through.
    ///   - key: Where to begin.
    ///   - body: Reads an entry. Returns whether to go on.
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``. Rethrows the errors of `body`.
    /// - Complexity: O(log *n*) to find the key, then some ten nanoseconds for each entry visited.
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

    /// Calls `body` with the keys at and after a key in their order, until `body` returns `false`.
    /// Opens no value.
    ///
    /// - Parameters:
    ///   - keyspace: The keyspace to walk through.
    ///   - key: Where to begin. The empty key stands before all others.
    ///   - body: Reads a key. Returns whether to go on.
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``. Rethrows the errors of `body`.
    /// - Complexity: O(log *n*) to find the key, then some ten nanoseconds for each key visited.
    @inlinable
    public func forEachKey<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        in keyspace: Keyspace, from key: borrowing Key, _ body: (RawSpan) throws -> Bool
    ) throws {
        var cursor = try Cursor(openTransaction, keyspace)
        var isOnEntry = try cursor.seek(atOrAfter: key)
        while isOnEntry {
            guard try cursor.withKey(body) else { return }
            isOnEntry = try cursor.next()
        }
    }

    // MARK: Statistics

    /// Returns the number of the commit that the transaction sees; `nil` for a write transaction,
    /// whose commit is still to come.
    ///
    /// - Throws: ``LMDBError`` with `.transactionEnded`.
    public func commitNumber() throws(LMDBError) -> UInt64? {
        let open = try openTransaction
        return open.isWritable ? nil : open.number
    }

    /// Returns the size of a keyspace as this transaction sees it.
    ///
    /// - Parameter keyspace: The keyspace to measure.
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``.
    /// - Complexity: O(1): LMDB keeps the counts.
    public func statistics(of keyspace: Keyspace) throws(LMDBError) -> KeyspaceStatistics {
        let open = try openTransaction
        do {
            return try unsafe LMDBCalls.statistics(open.pointer, open.index(of: keyspace))
        } catch {
            throw open.fail(error)
        }
    }

    /// Returns how the pages of the file are used. The result is exact.
    ///
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``.
    /// - Complexity: O(*n*) in the number of keyspaces: LMDB keeps the counts of each.
    public func pages() throws(LMDBError) -> PageUsage {
        let open = try openTransaction
        let environment = open.environment
        var used = 2  // The meta pages.
        used += try unsafe LMDBCalls.statistics(open.pointer, Keyspace.freeListIndex).pages
        used += try unsafe LMDBCalls.statistics(open.pointer, Keyspace.directoryIndex).pages
        for keyspace in environment.keyspaces {
            used += try unsafe LMDBCalls.statistics(open.pointer, keyspace.index).pages
        }
        let lastPage = try unsafe LMDBCalls.measure(environment.pointer, .statistics).lastPage
        return PageUsage(
            used: used, lastPage: lastPage, mapSize: environment.mapSize,
            pageSize: environment.pageSize)
    }
}

/// A consistent view of an environment: the state after one commit.
///
/// ```swift
/// let entries = try environment.read { transaction in
///     try transaction.statistics(of: nodes).entries
/// }
/// ```
///
/// LMDB cannot reuse the pages that are freed while a read transaction is open. Keep it short, and
/// never wait inside it.
///
/// A synchronous closure borrows the transaction, so it stays on one thread. Any number of read
/// transactions can be open at once.
public struct ReadTransaction: ~Copyable, ReadableTransaction {
    private let environment: Environment
    private let open: OpenTransaction

    init(_ open: OpenTransaction, in environment: Environment) {
        self.open = open
        self.environment = environment
    }

    deinit {
        environment.endRead(open)
    }

    public var openTransaction: OpenTransaction { open }

    /// The number of the commit that the transaction sees.
    public var number: UInt64 { open.number }

    /// A copyable view for code that cannot borrow the transaction.
    public var snapshot: Snapshot { Snapshot(open) }

    /// Counts the pages on LMDB's free list one by one. This is for checks: ``PageUsage/free`` is
    /// the same number.
    ///
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``.
    /// - Complexity: O(*n*) in the number of commits whose pages are still free.
    public func listedFreePages() throws(LMDBError) -> Int {
        var count = 0
        try forEachFreed { _, pages in count += pages }
        return count
    }

    /// Calls `body` with the number of each commit and the count of its pages on the free list.
    func forEachFreed(_ body: (_ commit: UInt64, _ pages: Int) -> Void) throws(LMDBError) {
        var cursor = try Cursor(open, index: Keyspace.freeListIndex)
        while try cursor.next() {
            cursor.withEntry { key, list in
                guard key.byteCount == 8, list.byteCount >= 8 else { return }
                // The list begins with its length, which damage may have changed.
                let count = unsafe list.unsafeLoadUnaligned(as: Int.self)
                body(
                    unsafe key.unsafeLoadUnaligned(as: UInt64.self),
                    min(max(0, count), list.byteCount / 8 - 1))
            }
        }
    }
}

@available(*, unavailable)
extension ReadTransaction: Sendable {}

/// A copyable view of an open transaction, for code that cannot borrow one.
///
/// ```swift
/// try environment.read { transaction in
///     let decoder = RecordDecoder(source: transaction.snapshot)
///     return try Feed(from: decoder)  // runs initialisers of the user
/// }
/// ```
///
/// A snapshot may be stored, but not sent to another thread. After the end of its transaction all
/// calls throw `.transactionEnded`. A snapshot of a write transaction sees what was written so far.
/// Writing while one of its values is in use is a programmer error and traps.
///
/// - Complexity: One comparison more for each call than the transaction itself.
public struct Snapshot: ReadableTransaction {
    private let open: OpenTransaction
    private let epoch: UInt64

    init(_ open: OpenTransaction) {
        self.open = open
        epoch = open.epoch
    }

    public var openTransaction: OpenTransaction {
        get throws(LMDBError) {
            guard epoch == open.epoch else { throw LMDBError(.transactionEnded, .get) }
            return open
        }
    }

    /// Whether the transaction is still open.
    public var isOpen: Bool { epoch == open.epoch }
}

@available(*, unavailable)
extension Snapshot: Sendable {}
