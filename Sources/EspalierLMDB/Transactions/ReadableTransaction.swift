/// What can be read from: a read transaction, a write transaction, or a snapshot of either.
///
/// ```swift
/// func record(_ handle: UInt64, in transaction: borrowing some ReadableTransaction & ~Copyable) throws -> [UInt8]? {
///     try transaction.value(nodes, handle)
/// }
/// ```
///
/// Not to be conformed to elsewhere. Threading: that of the conforming type. Cost: a lookup by
/// number is one search in the tree and allocates nothing. Errors: `LMDBError`; a key that is not
/// there is `nil`.
public protocol ReadableTransaction: ~Copyable {
    /// What the shared operations work on; throws once the transaction has ended.
    var openTransaction: OpenTransaction { get throws(LMDBError) }
}
