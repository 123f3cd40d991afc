/// The leaf pages of one keyspace that some keys stand on: what editing them would copy.
///
/// ```swift
/// let pages = try LeafPages(transaction.snapshot, nodes)
/// for handle in victims { try pages.note(handle) }
/// if pages.count > limit { stop() }
/// ```
///
/// LMDB does not say how many pages a transaction has copied. But in a read transaction every entry
/// stands in the file's map, so its address tells its page; asked beside a write transaction that
/// is open, this counts exactly what the edits of existing entries will cost.
///
/// Of use while the snapshot's read transaction is open; afterwards every call throws. Not
/// `Sendable`. Cost: a look-up a key, less for keys side by side.
@safe
public final class LeafPages {
    private let open: OpenTransaction
    private let epoch: UInt64
    private let pointer: LMDBCalls.Pointer
    private let pageSize: UInt
    private var pages: Set<UInt> = []
    private var last: UInt = 0

    public init(_ snapshot: Snapshot, _ keyspace: Keyspace) throws(LMDBError) {
        open = try snapshot.openTransaction
        precondition(!open.isWritable, "pages of a write transaction have no place in the map")
        epoch = open.epoch
        pageSize = UInt(open.environment.pageSize)
        unsafe pointer = try LMDBCalls.openCursor(open.pointer, open.index(of: keyspace))
    }

    deinit {
        guard !open.environment.isForeign else { return }
        unsafe LMDBCalls.closeCursor(pointer)
    }

    /// Different pages noted so far.
    public var count: Int { pages.count }

    /// Notes the page that `key` stands on, or, if it is not there, the page of the key after it.
    public func note<Key: KeyspaceKey & ~Copyable & ~Escapable>(_ key: borrowing Key)
        throws(LMDBError)
    {
        guard epoch == open.epoch else { throw LMDBError(.transactionEnded, .cursor) }
        let pointer = unsafe self.pointer
        let entry = unsafe try key.withBytes {
            (bytes: RawSpan) throws(LMDBError) -> (
                key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
            )? in
            try unsafe bytes.withUnsafeBytes {
                (bytes) throws(LMDBError) -> (
                    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
                )? in
                let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
                if unsafe bytes.isEmpty { return nil }
                if let found = try unsafe LMDBCalls.move(pointer, .atOrAfter, bytes) {
                    return unsafe found
                }
                return try unsafe LMDBCalls.move(pointer, .last, nothing)
            }
        }
        guard let entry = unsafe entry else { return }
        let page = unsafe UInt(bitPattern: entry.key.baseAddress) / pageSize
        guard page != last else { return }
        last = page
        pages.insert(page)
    }
}

@available(*, unavailable)
extension LeafPages: Sendable {}
