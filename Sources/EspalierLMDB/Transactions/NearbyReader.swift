import Synchronization

/// Looks up keys of one keyspace that stand near each other, by a cursor: the key after the last one is a step away, and one on
/// the same page is found without going down the tree.
///
/// ```swift
/// let reader = try NearbyReader(transaction.snapshot, nodes)
/// try reader.withValue(handle) { span in ... }
/// ```
///
/// Of use while the snapshot's transaction is open; afterwards every call throws `.transactionEnded`. Not `Sendable`. Cost: one
/// allocation by C when it is made.
@safe
public final class NearbyReader {
    @usableFromInline let open: OpenTransaction
    private let epoch: UInt64
    private let pointer: LMDBCalls.Pointer
    /// The key the cursor was last found at. An atomic only because that spares the exclusivity checks of a `var`.
    private let last = Atomic<UInt64>(0)

    public init(_ snapshot: Snapshot, _ keyspace: Keyspace) throws(LMDBError) {
        open = try snapshot.openTransaction
        epoch = open.epoch
        unsafe pointer = try LMDBCalls.openCursor(open.pointer, open.index(of: keyspace))
    }

    deinit {
        // A write transaction frees its cursors when it ends; freeing one again would corrupt the heap.
        guard !open.environment.isForeign, !open.isWritable || epoch == open.epoch else { return }
        unsafe LMDBCalls.closeCursor(pointer)
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
        guard let value = unsafe try find(key) else { return nil }
        open.borrow()
        return unsafe value
    }

    private func find(_ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        let previous = last.load(ordering: .relaxed)
        last.store(key, ordering: .relaxed)
        if previous != 0, key == previous &+ 1 {
            let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
            if let entry = try unsafe LMDBCalls.move(pointer, .next, nothing), unsafe isKey(entry.key, key) {
                return unsafe entry.value
            }
        }
        let pointer = unsafe self.pointer
        let entry = unsafe try key.withBytes {
            (bytes: RawSpan) throws(LMDBError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? in
            try unsafe bytes.withUnsafeBytes {
                (bytes) throws(LMDBError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? in
                try unsafe LMDBCalls.move(pointer, .exact, bytes)
            }
        }
        if unsafe entry == nil { last.store(0, ordering: .relaxed) }
        return unsafe entry?.value
    }

    private func isKey(_ bytes: UnsafeRawBufferPointer, _ key: UInt64) -> Bool {
        unsafe bytes.count == 8 && UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) == key
    }
}

@available(*, unavailable)
extension NearbyReader: Sendable {}
