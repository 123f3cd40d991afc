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
/// Threading: that of its transaction. Cost: one allocation by C when it is made, some ten
/// nanoseconds a step. Errors: `.transactionEnded` when it was smuggled out of its transaction.
/// Reading an entry while standing on none is a programmer error and traps.
@safe
public struct Cursor: ~Copyable {
    let open: OpenTransaction
    private let epoch: UInt64
    private let pointer: LMDBCalls.Pointer
    /// In a read transaction entries stay where they are; in a write transaction the position is
    /// asked for each time.
    private var entry: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)?

    @usableFromInline
    init(_ open: OpenTransaction, _ keyspace: Keyspace) throws(LMDBError) {
        try self.init(open, index: open.index(of: keyspace))
    }

    init(_ open: OpenTransaction, index: UInt32) throws(LMDBError) {
        unsafe pointer = try LMDBCalls.openCursor(open.pointer, index)
        self.open = open
        epoch = open.epoch
        unsafe entry = nil
    }

    deinit {
        // A write transaction frees its cursors when it ends; freeing one again would corrupt the
        // heap.
        guard !open.environment.isForeign, !open.isWritable || epoch == open.epoch else { return }
        unsafe LMDBCalls.closeCursor(pointer)
    }

    /// `false` when there is no entry there. The position is then none, except that stepping back
    /// from behind the last entry, or forward from before the first, works.
    mutating func move(_ move: LMDBCalls.Move, _ key: RawSpan = RawSpan()) throws(LMDBError) -> Bool
    {
        guard epoch == open.epoch else { throw LMDBError(.transactionEnded, .cursor) }
        let pointer = unsafe self.pointer
        unsafe entry = try key.withUnsafeBytes {
            (bytes) throws(LMDBError) -> (
                key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
            )? in
            try unsafe LMDBCalls.move(pointer, move, bytes)
        }
        return unsafe entry != nil
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
        open.borrow()
        return unsafe entry
    }

    @usableFromInline
    func giveBack() {
        open.giveBack()
    }

    /// Removes the entry the cursor stands on; `next()` then goes to the one after it. The
    /// transaction must be a write transaction, and is void when this fails.
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
            open.fail()
            throw error
        }
    }
}

@available(*, unavailable)
extension Cursor: Sendable {}
