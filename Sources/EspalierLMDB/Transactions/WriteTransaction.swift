/// The one transaction that may write, until it is committed or aborted.
///
/// ```swift
/// var transaction = try environment.beginWrite()
/// try transaction.put(nodes, handle, record)
/// try transaction.commit()                    // consumes it; dropping it aborts
/// ```
///
/// When `put`, `append` or `delete` throws anything but a complaint about its arguments
/// (`keyEmpty`, `keyTooLong`, `valueTooLong`, `outOfOrder`), the transaction is void: further
/// writes and `commit` throw `.transactionFailed`. Commit itself may run out of pages or disk as
/// well. In every case the file is as it was before.
///
/// Threading: bound to the thread that began it. Ending it elsewhere would leave LMDB's mutex
/// locked for ever, and traps before that; so does a second `beginWrite` on the thread of the
/// first, which would wait for itself. Cost: a commit waits for the disk, according to the
/// environment's durability. Errors: `LMDBError`.
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
        // Committed and aborted ones pass here too, already ended.
        guard epoch == open.epoch else { return }
        environment.abortWrite(open)
    }

    public var openTransaction: OpenTransaction { open }

    /// The number the commit will have.
    public var number: UInt64 { open.number }

    /// Whether a failed call has made the transaction void.
    public var hasFailed: Bool { open.hasFailed }

    /// A copyable view for code that cannot borrow the transaction; it sees what was written so
    /// far.
    public var snapshot: Snapshot { Snapshot(open) }

    /// Makes everything written visible at once, to every process.
    public consuming func commit() throws(LMDBError) {
        // the deinit aborts
        guard !open.hasFailed else { throw LMDBError(.transactionFailed, .commit) }
        try environment.commitWrite(open)
    }

    /// Forgets everything written; the same as dropping the transaction.
    public consuming func abort() {
        environment.abortWrite(open)
    }
}

@available(*, unavailable)
extension WriteTransaction: Sendable {}
