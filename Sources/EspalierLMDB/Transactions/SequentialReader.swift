/// Looks up keys of one keyspace that stand near each other: the key after one of the last ones is
/// a step of a cursor away, and one on the same page is found without going down the tree. What an
/// earlier read of the same commit found is not looked for at all.
///
/// Two cursors, so that what is read along a run of keys goes on after a look elsewhere: the
/// records of a tree stand side by side, but for those that another tree had before.
///
/// ```swift
/// let reader = try SequentialReader(transaction.snapshot, nodes)
/// try reader.withValue(handle) { span in ... }
/// ```
///
/// Of use while the snapshot's transaction is open; afterwards every call throws
/// `.transactionEnded`. Not `Sendable`. Cost: an allocation when it is made, and one for each
/// cursor.
@safe
public final class SequentialReader {
    @usableFromInline let open: OpenTransaction
    private let epoch: UInt64
    private let keyspace: UInt32
    private let known: RecordAddressCache?
    /// The commit, as the places that are known name it.
    private let mark: UInt64
    /// In memory of its own, which spares the exclusivity checks of a `var`.
    private let cursors: UnsafeMutablePointer<Cursors>

    @safe
    private struct Place {
        var cursor: LMDBCalls.Pointer?
        /// The key it was last found at; 0 where it was not.
        var key: UInt64 = 0
    }

    private struct Cursors {
        /// The one that made the last step.
        var run = Place()
        var other = Place()
    }

    public init(_ snapshot: Snapshot, _ keyspace: Keyspace) throws(LMDBError) {
        open = try snapshot.openTransaction
        epoch = open.epoch
        self.keyspace = open.index(of: keyspace)
        known = open.knownPlaces(self.keyspace)
        mark = known?.mark(of: open.number) ?? 0
        unsafe cursors = .allocate(capacity: 1)
        unsafe cursors.initialize(to: Cursors())
    }

    deinit {
        // A write transaction frees its cursors when it ends; freeing one again would corrupt the
        // heap.
        if !open.environment.isForeign, !open.isWritable || epoch == open.epoch {
            if let cursor = unsafe cursors.pointee.run.cursor {
                unsafe LMDBCalls.closeCursor(cursor)
            }
            if let cursor = unsafe cursors.pointee.other.cursor {
                unsafe LMDBCalls.closeCursor(cursor)
            }
        }
        unsafe cursors.deallocate()
    }

    /// Runs `body` with the value of `key`; nil, without it, when there is none.
    @inlinable
    public func withValue(_ key: UInt64, _ body: (RawSpan) throws -> Void) throws -> Bool {
        guard let value = unsafe try borrowValue(key) else { return false }
        defer { open.giveBack() }
        try body(unsafe RawSpan(_unsafeBytes: value))
        return true
    }

    /// Finds a value and counts it as borrowed; the caller gives it back.
    @usableFromInline
    func borrowValue(_ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard epoch == open.epoch else { throw LMDBError(.transactionEnded, .get) }
        if let value = unsafe known?.value(of: key, mark) {
            open.borrow()
            return unsafe value
        }
        guard let value = unsafe try find(key) else { return nil }
        unsafe known?.note(key, mark, value)
        open.borrow()
        return unsafe value
    }

    private func find(_ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        if unsafe cursors.pointee.run.key != 0, unsafe key == cursors.pointee.run.key &+ 1 {
            if let value = unsafe try Self.step(&cursors.pointee.run, to: key) {
                return unsafe value
            }
        } else if unsafe cursors.pointee.other.key != 0,
            unsafe key == cursors.pointee.other.key &+ 1
        {
            unsafe swap(&cursors.pointee.run, &cursors.pointee.other)
            if let value = unsafe try Self.step(&cursors.pointee.run, to: key) {
                return unsafe value
            }
        }
        // Down the tree with the cursor that is not on a run; with the first one where that has not
        // been anywhere.
        if unsafe cursors.pointee.run.key == 0 {
            return unsafe try search(&cursors.pointee.run, for: key)
        }
        return unsafe try search(&cursors.pointee.other, for: key)
    }

    private static func step(_ place: inout Place, to key: UInt64) throws(LMDBError)
        -> UnsafeRawBufferPointer?
    {
        place.key = 0
        let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        guard let cursor = unsafe place.cursor,
            let entry = unsafe try LMDBCalls.move(cursor, .next, nothing),
            unsafe isKey(entry.key, key)
        else { return nil }
        place.key = key
        return unsafe entry.value
    }

    private func search(_ place: inout Place, for key: UInt64) throws(LMDBError)
        -> UnsafeRawBufferPointer?
    {
        place.key = 0
        if unsafe place.cursor == nil {
            unsafe place.cursor = try LMDBCalls.openCursor(open.pointer, keyspace)
        }
        guard let cursor = unsafe place.cursor else { return nil }
        let entry = unsafe try key.withBytes {
            (bytes: RawSpan) throws(LMDBError) -> (
                key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
            )? in
            try unsafe bytes.withUnsafeBytes {
                (bytes) throws(LMDBError) -> (
                    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
                )? in
                try unsafe LMDBCalls.move(cursor, .exact, bytes)
            }
        }
        guard let entry = unsafe entry else { return nil }
        place.key = key
        return unsafe entry.value
    }

    private static func isKey(_ bytes: UnsafeRawBufferPointer, _ key: UInt64) -> Bool {
        unsafe bytes.count == 8 && UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) == key
    }
}

@available(*, unavailable)
extension SequentialReader: Sendable {}
