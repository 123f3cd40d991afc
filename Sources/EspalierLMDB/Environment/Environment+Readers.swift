extension Environment {
    /// The reader table of all processes, idle slots included.
    public func readers() throws(LMDBError) -> [Reader] {
        _ = try enter(.listReaders)
        defer { leave() }
        let last = try unsafe LMDBCalls.measure(handle.pointer, .listReaders).lastTransaction
        let table = try unsafe LMDBCalls.listReaders(handle.pointer)
        // A headline, then process, thread and transaction of each slot, with a dash for none.
        return table.split(separator: "\n").compactMap { line in
            let columns = line.split(separator: " ")
            guard columns.count == 3, let process = Int32(columns[0]) else { return nil }
            let transaction = UInt64(columns[2])
            return Reader(
                processIdentifier: process, transaction: transaction,
                lag: transaction.map { last > $0 ? last - $0 : 0 })
        }
    }

    /// Frees the slots of processes that died, and so the pages they pinned. Returns how many.
    @discardableResult
    public func clearStaleReaders() throws(LMDBError) -> Int {
        _ = try enter(.clearReaders)
        defer { leave() }
        return try unsafe LMDBCalls.clearStaleReaders(handle.pointer)
    }

    /// Waits until everything committed is on the disk, whatever the durability.
    public func sync() throws(LMDBError) {
        _ = try enter(.sync)
        defer { leave() }
        try markingDurable { () throws(LMDBError) in try unsafe LMDBCalls.sync(handle.pointer) }
    }

    /// The number of the last commit, of any process.
    public var lastTransaction: UInt64 {
        get throws(LMDBError) {
            _ = try enter(.statistics)
            defer { leave() }
            return try unsafe LMDBCalls.measure(handle.pointer, .statistics).lastTransaction
        }
    }
}
