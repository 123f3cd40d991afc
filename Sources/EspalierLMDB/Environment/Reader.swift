/// A slot of the reader table: who could be holding on to old pages.
///
/// ```swift
/// for reader in try environment.readers() where (reader.lag ?? 0) > 1_000 { report(reader.processIdentifier) }
/// ```
///
/// Threading: a value, already old when it is returned. Cost: one allocation for the list. Errors:
/// none of its own.
public struct Reader: Sendable, Hashable {
    public let processIdentifier: Int32
    /// The transaction whose snapshot it reads, `nil` while the slot is idle.
    public let transaction: UInt64?
    /// How many commits that snapshot is behind, `nil` while the slot is idle.
    public let lag: UInt64?

    package init(processIdentifier: Int32, transaction: UInt64?, lag: UInt64?) {
        self.processIdentifier = processIdentifier
        self.transaction = transaction
        self.lag = lag
    }
}
