/// A copyable view of an open transaction, for code that cannot borrow one.
///
/// ```swift
/// try environment.read { transaction in
///     let decoder = RecordDecoder(source: transaction.snapshot)
///     return try Feed(from: decoder)          // users' initialisers run in here
/// }
/// ```
///
/// It may be stored, but not sent to another thread. Kept beyond the end of its transaction it
/// stays harmless: every call throws. Taken from a write transaction it sees what was written so
/// far; writing while one of its values is lent out is a programmer error and traps.
///
/// Threading: that of its transaction. Cost: as the transaction, plus one compare a call. Errors:
/// `.transactionEnded`.
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
