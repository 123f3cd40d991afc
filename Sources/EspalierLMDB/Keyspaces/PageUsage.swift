/// Where the pages of an environment's file went.
///
/// ```swift
/// let usage = try transaction.pages()
/// if usage.used > usage.capacity - reserve { evict() }
/// ```
///
/// ```
///   0        2                              lastPage           capacity
///   | metas  | used ........ | free ....... | never allocated .. |
///            '--------- in any order -------'
/// ```
///
/// `used + free + neverAllocated == capacity`, always. `used` belongs to the transaction that was
/// asked, and in a write transaction it counts what the transaction itself has allocated so far.
/// `lastPage`, and with it `free` and `neverAllocated`, are those of the last commit: they are
/// exact for a transaction that sees the last commit, and lag or lead by the pages of one commit
/// otherwise. Not every free page may be reused at once: those freed by the last two commits, or
/// since the oldest reader began, have to wait.
///
/// Every keyspace of the file must have been opened, or its pages count as free.
///
/// Threading: a value. Cost: nanoseconds for each keyspace. Errors: none of its own.
public struct PageUsage: Sendable, Hashable {
    /// Pages that hold something, the two metas and the free list included.
    public let used: Int
    public let free: Int
    public let neverAllocated: Int
    /// The highest page ever allocated.
    public let lastPage: Int
    /// Pages that can be allocated at all, the two metas included: one less than the map has, since
    /// LMDB never uses the last.
    public let capacity: Int
    public let pageSize: Int

    package init(used: Int, lastPage: Int, mapSize: Int, pageSize: Int) {
        let allocated = max(lastPage + 1, used)
        self.used = used
        self.free = allocated - used
        self.capacity = max(mapSize / pageSize - 1, allocated)
        self.neverAllocated = capacity - allocated
        self.lastPage = lastPage
        self.pageSize = pageSize
    }
}
