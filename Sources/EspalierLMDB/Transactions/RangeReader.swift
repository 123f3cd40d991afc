import EspalierConfinement

/// Finds, for a number, the value under the last key at or before it, in a keyspace whose keys are
/// numbers.
///
/// Such a value holds a range of records: those from its key up to the next key. Two positions are
/// kept, so that a lookup elsewhere does not interrupt a run of lookups in one range.
///
/// ```swift
/// let containers = try RangeReader(transaction.snapshot, nodes)
/// try containers.withValue(around: handle) { key, value in ... }
/// ```
///
/// Not `Sendable`: one thread uses a reader, while the transaction of the snapshot is open.
@safe
public final class RangeReader {
    // immutable
    private let open: OpenTransaction
    private let epoch: UInt64
    private let keyspace: UInt32

    /// A cursor, and the range that it points to.
    @safe
    private struct Position {
        var cursor: LMDBCalls.Pointer?
        /// The value of the range; nil for none.
        var value: UnsafeRawBufferPointer?
        var first: UInt64 = 0
        /// The last number of the range, as far as it is known.
        var last: UInt64 = 0
    }

    private struct Positions {
        /// The position that was used last.
        var recent = Position()
        var other = Position()
    }

    // confined to the thread of the transaction
    private let positions = Confined(Positions())

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - snapshot: A view of the transaction to read from.
    ///   - keyspace: The keyspace to search. Its keys are of the type `UInt64`.
    /// - Throws: ``LMDBError`` with `.transactionEnded`.
    /// - Complexity: Two allocations, and one more by C for each cursor.
    public init(_ snapshot: Snapshot, _ keyspace: Keyspace) throws(LMDBError) {
        open = try snapshot.openTransaction
        epoch = open.epoch
        self.keyspace = open.index(of: keyspace)
    }

    deinit {
        // A write transaction frees its cursors when it ends. To free one again would corrupt the
        // heap.
        guard !open.environment.isInherited, !open.isWritable || epoch == open.epoch else { return }
        // The last reference can be dropped on any thread.
        positions.transferToCurrentThread()
        if let cursor = unsafe positions.value.recent.cursor {
            unsafe LMDBCalls.closeCursor(cursor)
        }
        if let cursor = unsafe positions.value.other.cursor {
            unsafe LMDBCalls.closeCursor(cursor)
        }
    }

    /// Calls `body` with the value whose range contains a number, and the key of the value.
    ///
    /// - Parameters:
    ///   - number: The number to look up.
    ///   - body: Reads the value, which is valid until `body` returns. It is not aligned.
    /// - Returns: What `body` returns; `nil`, without a call, if all keys are greater.
    /// - Throws: ``LMDBError``: `.transactionEnded` if the reader outlived its transaction,
    ///   `.corrupted`. Rethrows the errors of `body`.
    /// - Complexity: O(1) in a range that was looked up before, otherwise O(log *n*) in the number
    ///   of entries.
    public func withValue<R>(
        around number: UInt64, _ body: (_ key: UInt64, _ value: RawSpan) throws -> R
    ) throws -> R? {
        guard let range = unsafe try range(around: number) else { return nil }
        open.beginBorrow()
        defer { open.endBorrow() }
        #if Encryption
        if let opened = unsafe range.key.withBytes({
            unsafe open.environment.protection?.opened(range.value, in: keyspace, key: $0)
        }) {
            return try unsafe body(range.key, unsafe opened.span.bytes)
        }
        #endif
        return try unsafe body(range.key, unsafe RawSpan(_unsafeBytes: range.value))
    }

    private func range(
        around number: UInt64
    ) throws(LMDBError) -> (key: UInt64, value: UnsafeRawBufferPointer)? {
        guard epoch == open.epoch else { throw LMDBError(.transactionEnded, .get) }
        if !open.isWritable {
            if let value = unsafe Self.value(positions.value.recent, number) {
                return unsafe (positions.value.recent.first, value)
            }
            swap(&positions.value.recent, &positions.value.other)
            if let value = unsafe Self.value(positions.value.recent, number) {
                return unsafe (positions.value.recent.first, value)
            }
        }
        do {
            return unsafe try search(&positions.value.recent, number)
        } catch {
            throw open.fail(error)
        }
    }

    @inline(__always)
    private static func value(_ position: Position, _ number: UInt64) -> UnsafeRawBufferPointer? {
        guard let value = unsafe position.value, number >= position.first, number <= position.last
        else { return nil }
        return unsafe value
    }

    private func search(
        _ position: inout Position, _ number: UInt64
    ) throws(LMDBError) -> (key: UInt64, value: UnsafeRawBufferPointer)? {
        unsafe position.value = nil
        if unsafe position.cursor == nil {
            unsafe position.cursor = try LMDBCalls.openCursor(open.pointer, keyspace)
        }
        guard let cursor = unsafe position.cursor else { return nil }
        let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        var found = unsafe try number.withBytes {
            (bytes: RawSpan) throws(LMDBError) -> LMDBCalls.Entry? in
            try unsafe bytes.withUnsafeBytes { (bytes) throws(LMDBError) -> LMDBCalls.Entry? in
                try unsafe LMDBCalls.move(cursor, .atOrAfter, bytes)
            }
        }
        position.last = .max
        if let entry = unsafe found {
            let key = unsafe Self.number(entry.key) ?? number
            position.last = key > number ? key - 1 : number
            if key > number { unsafe found = try LMDBCalls.move(cursor, .previous, nothing) }
        } else {
            unsafe found = try LMDBCalls.move(cursor, .last, nothing)
        }
        // Skips damaged keys: they have another length, or do not stand in their order.
        while let entry = unsafe found {
            if let key = unsafe Self.number(entry.key), key <= number {
                unsafe position.value = entry.value
                position.first = key
                return unsafe (key, entry.value)
            }
            position.last = number
            unsafe found = try LMDBCalls.move(cursor, .previous, nothing)
        }
        return nil
    }

    /// Returns the number that a key stands for; nil for a damaged key.
    private static func number(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
        guard bytes.count == 8 else { return nil }
        return unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    }
}

@available(*, unavailable)
extension RangeReader: Sendable {}
