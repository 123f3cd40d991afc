extension ReadableTransaction where Self: ~Copyable {
    /// The size of one keyspace as this transaction sees it. Walks nothing.
    public func statistics(of keyspace: Keyspace) throws(LMDBError) -> KeyspaceStatistics {
        let open = try openTransaction
        return try unsafe LMDBCalls.statistics(open.pointer, open.index(of: keyspace))
    }

    /// Where the pages went: exact, from counters LMDB keeps, without walking anything.
    public func pages() throws(LMDBError) -> PageUsage {
        let open = try openTransaction
        let environment = open.environment
        var used = 2  // the metas
        used += try unsafe LMDBCalls.statistics(open.pointer, Keyspace.freeListIndex).pages
        used += try unsafe LMDBCalls.statistics(open.pointer, Keyspace.directoryIndex).pages
        for keyspace in environment.keyspaces {
            used += try unsafe LMDBCalls.statistics(open.pointer, keyspace.index).pages
        }
        let lastPage = try unsafe LMDBCalls.measure(environment.pointer, .statistics).lastPage
        return PageUsage(
            used: used, lastPage: lastPage, mapSize: environment.mapSize,
            pageSize: environment.pageSize)
    }
}
