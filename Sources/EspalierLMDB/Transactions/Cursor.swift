/// A position in a keyspace.
///
/// ```swift
/// try transaction.withCursor(recency) { cursor in
///     while try cursor.next() {
///         let key = cursor.withEntry { key, _ in KeyPair(key) }
///     }
/// }
/// ```
///
/// The thread of the transaction uses the cursor. All moves throw ``LMDBError`` with
/// `.transactionEnded` if the cursor outlived its transaction. Reading an entry while the cursor
/// points to none is a programmer error and traps.
///
/// - Complexity: One allocation by C for a cursor, some ten nanoseconds for a step.
@safe
public struct Cursor: ~Copyable {
    @usableFromInline let open: OpenTransaction
    private let epoch: UInt64
    private let pointer: LMDBCalls.Pointer
    private let keyspace: UInt32
    /// The entry that the cursor points to. In a read transaction it stays in place; in a write
    /// transaction LMDB is asked for it at each access.
    private var entry: LMDBCalls.Entry?

    @usableFromInline
    init(_ open: OpenTransaction, _ keyspace: Keyspace) throws(LMDBError) {
        try self.init(open, index: open.index(of: keyspace))
    }

    init(_ open: OpenTransaction, index: UInt32) throws(LMDBError) {
        do {
            unsafe pointer = try LMDBCalls.openCursor(open.pointer, index)
        } catch {
            throw open.fail(error)
        }
        self.open = open
        keyspace = index
        epoch = open.epoch
        unsafe entry = nil
    }

    deinit {
        // A write transaction frees its cursors when it ends. To free one again would corrupt the
        // heap.
        guard !open.environment.isInherited, !open.isWritable || epoch == open.epoch else { return }
        unsafe LMDBCalls.closeCursor(pointer)
    }

    // MARK: Moving

    /// Moves to the first entry.
    ///
    /// - Returns: `false` if the keyspace is empty.
    /// - Throws: ``LMDBError``, see ``Cursor``.
    public mutating func first() throws(LMDBError) -> Bool { try move(.first) }

    /// Moves to the last entry.
    ///
    /// - Returns: `false` if the keyspace is empty.
    /// - Throws: ``LMDBError``, see ``Cursor``.
    public mutating func last() throws(LMDBError) -> Bool { try move(.last) }

    /// Moves to the next entry. A cursor before the first entry moves to the first one. After a
    /// deletion the next entry is the one that followed the deleted one.
    ///
    /// - Returns: `false` if there is no next entry. ``previous()`` then moves to the last one.
    /// - Throws: ``LMDBError``, see ``Cursor``.
    public mutating func next() throws(LMDBError) -> Bool { try move(.next) }

    /// Moves to the previous entry. A new cursor moves to the last entry.
    ///
    /// - Returns: `false` if there is no previous entry. ``next()`` then moves to the first one.
    /// - Throws: ``LMDBError``, see ``Cursor``.
    public mutating func previous() throws(LMDBError) -> Bool { try move(.previous) }

    /// Moves to the first entry whose key is equal to `key` or greater.
    ///
    /// - Parameter key: The key to search for. The empty key finds the first entry.
    /// - Returns: `false` if there is no such entry.
    /// - Throws: ``LMDBError``, see ``Cursor``.
    /// - Complexity: O(log *n*) in the number of entries.
    @inlinable
    public mutating func seek<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        atOrAfter key: borrowing Key
    ) throws(LMDBError) -> Bool {
        try key.withBytes { (bytes) throws(LMDBError) -> Bool in try seek(bytes: bytes) }
    }

    /// Moves to the last entry whose key is equal to `key` or smaller.
    ///
    /// A value that holds many records stands under the smallest of their keys. This function finds
    /// the value that holds a record, if there is one.
    ///
    /// - Parameter key: The key to search for.
    /// - Returns: `false` if there is no such entry.
    /// - Throws: ``LMDBError``, see ``Cursor``.
    /// - Complexity: O(log *n*) in the number of entries.
    @inlinable
    public mutating func seek<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        atOrBefore key: borrowing Key
    ) throws(LMDBError) -> Bool {
        try key.withBytes { (bytes) throws(LMDBError) -> Bool in try seek(bytesAtOrBefore: bytes) }
    }

    @usableFromInline
    mutating func seek(bytesAtOrBefore bytes: RawSpan) throws(LMDBError) -> Bool {
        guard try seek(bytes: bytes) else { return try move(.last) }
        let isExact = withKey { key in
            unsafe key.withUnsafeBytes { key in
                unsafe bytes.withUnsafeBytes { unsafe key.elementsEqual($0) }
            }
        }
        return isExact ? true : try move(.previous)
    }

    @usableFromInline
    mutating func seek(bytes: RawSpan) throws(LMDBError) -> Bool {
        // LMDB refuses the empty key, which precedes all others.
        bytes.isEmpty ? try move(.first) : try move(.atOrAfter, bytes)
    }

    private mutating func move(_ move: LMDBCalls.Move, _ key: RawSpan = RawSpan())
        throws(LMDBError) -> Bool
    {
        guard epoch == open.epoch else { throw LMDBError(.transactionEnded, .cursor) }
        let pointer = unsafe self.pointer
        do {
            unsafe entry = try key.withUnsafeBytes {
                (bytes) throws(LMDBError) -> LMDBCalls.Entry? in
                try unsafe LMDBCalls.move(pointer, move, bytes)
            }
        } catch {
            unsafe entry = nil
            throw open.fail(error)
        }
        return unsafe entry != nil
    }

    // MARK: Entries

    /// Calls `body` with key and value of the entry that the cursor points to.
    ///
    /// - Parameter body: Reads the entry. The bytes stand in the map, are valid until `body`
    ///   returns and are not aligned.
    /// - Returns: The value that `body` returns.
    /// - Throws: Rethrows the errors of `body`.
    @inlinable
    public func withEntry<R, E: Error>(
        _ body: (_ key: RawSpan, _ value: RawSpan) throws(E) -> R
    ) throws(E) -> R {
        let entry = unsafe borrowEntry()
        defer { open.endBorrow() }
        #if Encryption
        if open.isProtected, let opened = unsafe opened(entry.key, entry.value) {
            return try body(
                unsafe RawSpan(_unsafeBytes: entry.key), unsafe opened.span.bytes)
        }
        #endif
        return try body(
            unsafe RawSpan(_unsafeBytes: entry.key), unsafe RawSpan(_unsafeBytes: entry.value))
    }

    @usableFromInline
    func borrowEntry() -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        precondition(epoch == open.epoch, "a cursor was used after its transaction ended")
        guard var entry = unsafe entry else {
            preconditionFailure("the cursor stands on no entry; move it first")
        }
        if open.isWritable {
            let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
            guard let current = try? unsafe LMDBCalls.move(pointer, .current, nothing) else {
                preconditionFailure("the entry the cursor stood on was deleted; move it first")
            }
            unsafe entry = current
        }
        open.beginBorrow()
        return unsafe entry
    }

    /// Calls `body` with the key of the entry that the cursor points to, and opens no value.
    ///
    /// - Parameter body: Reads the key, as ``withEntry(_:)`` lends it.
    /// - Returns: The value that `body` returns.
    /// - Throws: Rethrows the errors of `body`.
    @inlinable
    public func withKey<R, E: Error>(_ body: (_ key: RawSpan) throws(E) -> R) throws(E) -> R {
        let entry = unsafe borrowEntry()
        defer { open.endBorrow() }
        return try body(unsafe RawSpan(_unsafeBytes: entry.key))
    }

    /// Returns the content of an encrypted value, or `nil` if the value is stored plainly.
    @usableFromInline
    func opened(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> [UInt8]? {
        unsafe open.environment.protection?.opened(
            value, in: keyspace, key: RawSpan(_unsafeBytes: key), remembers: false)
    }

    /// Removes the entry that the cursor points to. ``next()`` then moves to the entry after it.
    ///
    /// - Throws: ``LMDBError``: `.notWritable` in a read transaction, `.transactionEnded`, or
    ///   `.mapFull`. The transaction is void after any other error than the first two.
    /// - Complexity: Copies the pages from the leaf to the root that the transaction has not copied
    ///   yet.
    public mutating func deleteCurrent() throws(LMDBError) {
        guard open.isWritable else { throw LMDBError(.notWritable, .delete) }
        guard epoch == open.epoch else { throw LMDBError(.transactionEnded, .delete) }
        guard unsafe entry != nil else {
            preconditionFailure("the cursor stands on no entry; move it first")
        }
        open.requireNothingBorrowed()
        unsafe entry = nil
        do {
            try unsafe LMDBCalls.deleteCurrent(pointer)
        } catch {
            throw open.fail(error)
        }
    }
}

@available(*, unavailable)
extension Cursor: Sendable {}
