/// One consistent view of an environment, the state of one commit.
///
/// ```swift
/// let entries = try environment.read { transaction in
///     try transaction.statistics(of: nodes).entries
/// }
/// ```
///
/// Pages freed since its commit cannot be reused while it is open: keep it short, and never wait
/// inside it.
///
/// Threading: borrowed by a synchronous closure, so it stays on one thread; any number may be open
/// at once. Cost: tens of nanoseconds, no allocation once the pool is warm. Errors: `LMDBError`; a
/// key that is not there is `nil`.
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

    /// The number of the commit it sees.
    public var number: UInt64 { open.number }

    /// A copyable view for code that cannot borrow the transaction.
    public var snapshot: Snapshot { Snapshot(open) }

    /// The pages on LMDB's free list, counted one by one. `pages().free` is the same without the
    /// walk; this is for checks.
    public func listedFreePages() throws(LMDBError) -> Int {
        var cursor = try Cursor(open, index: Keyspace.freeListIndex)
        var count = 0
        while try cursor.next() {
            count += cursor.withEntry { _, list in
                unsafe list.byteCount >= 8 ? list.unsafeLoadUnaligned(as: Int.self) : 0
            }
        }
        return count
    }
}

@available(*, unavailable)
extension ReadTransaction: Sendable {}
