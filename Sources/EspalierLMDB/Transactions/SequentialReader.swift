import EspalierConfinement

/// Looks up keys of one keyspace that often follow each other, such as the records of a tree.
///
/// The key after the last one is one step of a cursor away. A key on the same page is found without
/// a search from the root. A value that an earlier read of the same commit has found needs no
/// search at all, see `RecordAddressCache`. There are two cursors: a lookup elsewhere does not
/// interrupt a run of keys.
///
/// ```swift
/// let reader = try SequentialReader(transaction.snapshot, nodes)
/// try reader.withValue(handle) { span in ... }
/// ```
///
/// Not `Sendable`: one thread uses a reader, while the transaction of the snapshot is open.
@safe
public final class SequentialReader {
    // immutable
    @usableFromInline let open: OpenTransaction
    private let epoch: UInt64
    private let keyspace: UInt32
    private let addressCache: RecordAddressCache?
    /// The part of the cache's tags that stands for the commit.
    private let tagPrefix: UInt64

    /// A cursor and the key that it points to, 0 for none.
    @safe
    private struct Position {
        var cursor: LMDBCalls.Pointer?
        var key: UInt64 = 0
    }

    private struct Cursors {
        /// The cursor that was stepped last.
        var run = Position()
        var other = Position()
    }

    // confined to the thread of the transaction
    private let cursors = Confined(Cursors())
    /// The contents of encrypted values. They stay in place as long as the reader, as plain values
    /// do as long as the transaction.
    private let opened = Confined<[[UInt8]]>([])

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - snapshot: A view of the transaction to read from.
    ///   - keyspace: The keyspace to search. Its keys are of the type `UInt64`.
    /// - Throws: ``LMDBError`` with `.transactionEnded`.
    /// - Complexity: Two allocations, and one more by C for each cursor. The first reader of a
    ///   pooled transaction allocates its cache.
    public init(_ snapshot: Snapshot, _ keyspace: Keyspace) throws(LMDBError) {
        open = try snapshot.openTransaction
        epoch = open.epoch
        self.keyspace = open.index(of: keyspace)
        addressCache = open.addressCache(of: self.keyspace)
        tagPrefix = addressCache?.tagPrefix(of: open.number) ?? 0
    }

    deinit {
        // A write transaction frees its cursors when it ends. To free one again would corrupt the
        // heap.
        guard !open.environment.isInherited, !open.isWritable || epoch == open.epoch else { return }
        // The last reference can be dropped on any thread.
        cursors.transferToCurrentThread()
        opened.transferToCurrentThread()
        if let cursor = unsafe cursors.value.run.cursor { unsafe LMDBCalls.closeCursor(cursor) }
        if let cursor = unsafe cursors.value.other.cursor { unsafe LMDBCalls.closeCursor(cursor) }
    }

    /// Calls `body` with the value under a key.
    ///
    /// - Parameters:
    ///   - key: The key to look up.
    ///   - body: Reads the value, which stands in the map and is valid until `body` returns. An
    ///     encrypted one stands in memory, as long as the reader. It is not aligned.
    /// - Returns: `false`, without calling `body`, if the key is not there.
    /// - Throws: ``LMDBError``: `.transactionEnded` if the reader outlived its transaction,
    ///   `.corrupted`. Rethrows the errors of `body`.
    /// - Complexity: O(1) for the key after the last one and for a known address, otherwise
    ///   O(log *n*) in the number of entries. Allocates nothing in Swift.
    @inlinable
    public func withValue(_ key: UInt64, _ body: (RawSpan) throws -> Void) throws -> Bool {
        guard let value = unsafe try borrowValue(key) else { return false }
        defer { open.endBorrow() }
        #if Encryption
        if open.isProtected, let opened = unsafe opened(value, key) {
            try body(unsafe opened.span.bytes)
            return true
        }
        #endif
        try body(unsafe RawSpan(_unsafeBytes: value))
        return true
    }

    /// Returns the content of an encrypted value, which stays in memory as long as the reader, or
    /// `nil` if the value is stored plainly.
    @usableFromInline
    func opened(_ stored: UnsafeRawBufferPointer, _ key: UInt64) -> [UInt8]? {
        let value = key.withBytes { key in
            unsafe open.environment.protection?.opened(stored, in: keyspace, key: key)
        }
        if let value { opened.value.append(value) }
        return value
    }

    /// Finds a value and calls `beginBorrow`. The caller calls `endBorrow`.
    @usableFromInline
    func borrowValue(_ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard epoch == open.epoch else { throw LMDBError(.transactionEnded, .get) }
        if let value = unsafe addressCache?.value(of: key, tagPrefix) {
            open.beginBorrow()
            return unsafe value
        }
        let found: UnsafeRawBufferPointer?
        do {
            unsafe found = try find(key)
        } catch {
            throw open.fail(error)
        }
        guard let value = unsafe found else { return nil }
        unsafe addressCache?.insert(key, tagPrefix, value)
        open.beginBorrow()
        return unsafe value
    }

    private func find(_ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        if cursors.value.run.key != 0, key == cursors.value.run.key &+ 1 {
            if let value = unsafe try Self.step(&cursors.value.run, to: key) { return unsafe value }
        } else if cursors.value.other.key != 0, key == cursors.value.other.key &+ 1 {
            swap(&cursors.value.run, &cursors.value.other)
            if let value = unsafe try Self.step(&cursors.value.run, to: key) { return unsafe value }
        }
        // Search with the cursor that is not on a run, or with the first one if that has not been
        // used yet.
        if cursors.value.run.key == 0 {
            return unsafe try search(&cursors.value.run, for: key)
        }
        return unsafe try search(&cursors.value.other, for: key)
    }

    /// Moves a cursor to the next entry. Returns its value if it has the key.
    private static func step(_ position: inout Position, to key: UInt64) throws(LMDBError)
        -> UnsafeRawBufferPointer?
    {
        position.key = 0
        let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        guard let cursor = unsafe position.cursor,
            let entry = unsafe try LMDBCalls.move(cursor, .next, nothing),
            unsafe isKey(entry.key, key)
        else { return nil }
        position.key = key
        return unsafe entry.value
    }

    private func search(_ position: inout Position, for key: UInt64) throws(LMDBError)
        -> UnsafeRawBufferPointer?
    {
        position.key = 0
        if unsafe position.cursor == nil {
            unsafe position.cursor = try LMDBCalls.openCursor(open.pointer, keyspace)
        }
        guard let cursor = unsafe position.cursor else { return nil }
        let entry = unsafe try key.withBytes {
            (bytes: RawSpan) throws(LMDBError) -> LMDBCalls.Entry? in
            try unsafe bytes.withUnsafeBytes { (bytes) throws(LMDBError) -> LMDBCalls.Entry? in
                try unsafe LMDBCalls.move(cursor, .exact, bytes)
            }
        }
        guard let entry = unsafe entry else { return nil }
        position.key = key
        return unsafe entry.value
    }

    private static func isKey(_ bytes: UnsafeRawBufferPointer, _ key: UInt64) -> Bool {
        unsafe bytes.count == 8 && UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) == key
    }
}

@available(*, unavailable)
extension SequentialReader: Sendable {}
