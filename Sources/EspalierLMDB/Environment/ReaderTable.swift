/// A slot of the reader table.
///
/// A reader pins the pages that were freed since its snapshot.
///
/// ```swift
/// for reader in try environment.readers() where (reader.lag ?? 0) > 1_000 {
///     report(reader.processIdentifier)
/// }
/// ```
public struct Reader: Sendable, Hashable {
    /// The process that owns the slot.
    public let processIdentifier: Int32
    /// The number of the commit that the reader sees, or `nil` while the slot is idle.
    public let transaction: UInt64?
    /// How many commits the reader is behind, or `nil` while the slot is idle.
    public let lag: UInt64?

    package init(processIdentifier: Int32, transaction: UInt64?, lag: UInt64?) {
        self.processIdentifier = processIdentifier
        self.transaction = transaction
        self.lag = lag
    }
}

extension Environment {
    /// Returns the reader table of all processes, idle slots included. The table can change before
    /// the method returns.
    ///
    /// - Throws: ``LMDBError``, see ``Environment``.
    /// - Complexity: O(*n*) in the number of used slots; parses the text that LMDB prints.
    public func readers() throws(LMDBError) -> [Reader] {
        try gate.enter(.listReaders)
        defer { gate.leave() }
        let last = try unsafe LMDBCalls.measure(handle.pointer, .listReaders).lastTransaction
        let table = try unsafe LMDBCalls.listReaders(handle.pointer)
        // After a heading each line has process, thread and transaction, which is a dash for none.
        return table.split(separator: "\n").compactMap { line in
            let columns = line.split(separator: " ")
            guard columns.count == 3, let process = Int32(columns[0]) else { return nil }
            let transaction = UInt64(columns[2])
            return Reader(
                processIdentifier: process, transaction: transaction,
                lag: transaction.map { last > $0 ? last - $0 : 0 })
        }
    }

    /// The number of the commit that the oldest reader of any process sees, or `nil` if there is no
    /// reader.
    ///
    /// - Throws: ``LMDBError``, see ``Environment``.
    /// - Complexity: The same as ``readers()``.
    public var oldestReader: UInt64? {
        get throws(LMDBError) { try readers().compactMap(\.transaction).min() }
    }

    /// Frees the slots of dead processes, and so the pages that they pinned. LMDB does this by
    /// itself only when a writer died.
    ///
    /// - Returns: The number of slots freed.
    /// - Throws: ``LMDBError``, see ``Environment``.
    /// - Complexity: O(*n*) in the number of slots, with a system call for each other process.
    @discardableResult
    public func clearStaleReaders() throws(LMDBError) -> Int {
        try gate.enter(.clearReaders)
        defer { gate.leave() }
        return try clearStaleReadersInside(.clearReaders)
    }
}
