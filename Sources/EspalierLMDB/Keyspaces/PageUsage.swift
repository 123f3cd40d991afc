/// How the pages of an environment's file are used.
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
/// `used + free + neverAllocated == capacity` always holds. ``used`` belongs to the transaction
/// that was asked; in a write transaction it includes the pages that the transaction has allocated
/// so far. ``lastPage``, and with it ``free`` and ``neverAllocated``, belong to the last commit.
/// They are exact for a transaction that sees the last commit, and differ by the pages of one
/// commit otherwise. LMDB cannot reuse all free pages at once, see ``FreePages``.
///
/// All keyspaces of the file must be open: the pages of the others count as free.
public struct PageUsage: Sendable, Hashable {
    /// The number of pages with content, including the two meta pages and the free list.
    public let used: Int
    /// The number of pages that were used before.
    public let free: Int
    /// The number of pages that were never used.
    public let neverAllocated: Int
    /// The highest page ever allocated.
    public let lastPage: Int
    /// The number of pages that can be used, including the two meta pages. The map has one more
    /// page, the last, which LMDB never uses.
    public let capacity: Int
    /// In bytes.
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

/// How many pages the next write transaction can allocate, and how many free pages have to wait.
///
/// The pages that a commit frees can be reused by the second commit after it, unless a reader has
/// an older snapshot.
///
/// ```swift
/// let free = try environment.read { try $0.freePages(oldestReader: nil) }
/// if free.allocatable < needed { makeRoom() }
/// ```
public struct FreePages: Sendable, Hashable {
    /// The number of pages that were never used.
    public let neverAllocated: Int
    /// The number of pages on the free list that can be reused.
    public let reusable: Int
    /// The number of pages that the last two commits freed.
    public let recent: Int
    /// The number of pages that earlier commits freed, but which a reader may still use.
    public let held: Int

    /// The number of pages that the next write transaction can allocate.
    public var allocatable: Int { neverAllocated + reusable }

    package init(neverAllocated: Int, reusable: Int, recent: Int, held: Int) {
        self.neverAllocated = neverAllocated
        self.reusable = reusable
        self.recent = recent
        self.held = held
    }
}

extension ReadTransaction {
    /// Returns how many pages the write transaction after this snapshot can allocate.
    ///
    /// - Parameter oldestReader: The number of the commit that the oldest reader sees, or `nil` if
    ///   there is no reader besides this one. See ``Environment/oldestReader``.
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``.
    /// - Complexity: O(*n*) in the number of commits whose pages are still free, which are few.
    public func freePages(oldestReader: UInt64?) throws(LMDBError) -> FreePages {
        // LMDB reuses the pages that commits before the last one and before all readers freed.
        let firstHeld = min(oldestReader ?? number, number)
        var (reusable, recent, held) = (0, 0, 0)
        try forEachFreed { commit, pages in
            if commit < firstHeld {
                reusable += pages
            } else if commit + 1 >= number {
                recent += pages
            } else {
                held += pages
            }
        }
        return FreePages(
            neverAllocated: try pages().neverAllocated, reusable: reusable, recent: recent,
            held: held)
    }
}

/// The leaf pages of a keyspace that hold some keys: the pages that editing the keys would copy.
///
/// ```swift
/// let pages = try LeafPages(transaction.snapshot, nodes)
/// for handle in victims { try pages.note(handle) }
/// if pages.count > limit { stop() }
/// ```
///
/// LMDB does not report how many pages a write transaction has copied. In a read transaction all
/// entries stand in the map, so an entry's address identifies its page. In a read transaction
/// beside the write transaction this class counts exactly the pages that editing existing entries
/// copies, as long as each edit is noted with the key that it changes.
///
/// Not `Sendable`: one thread uses it, while the transaction of the snapshot is open.
@safe
public final class LeafPages {
    // immutable
    private let open: OpenTransaction
    private let epoch: UInt64
    private let pointer: LMDBCalls.Pointer
    private let pageSize: UInt

    // confined to the thread of the transaction
    private var pages: Set<UInt> = []
    /// The page that was added last, which saves a lookup in `pages` for keys side by side.
    private var last: UInt = 0

    /// Makes an empty set.
    ///
    /// - Parameters:
    ///   - snapshot: A view of a read transaction. One of a write transaction traps.
    ///   - keyspace: The keyspace of the keys.
    /// - Throws: ``LMDBError`` with `.transactionEnded`.
    /// - Complexity: Allocates a cursor.
    public init(_ snapshot: Snapshot, _ keyspace: Keyspace) throws(LMDBError) {
        open = try snapshot.openTransaction
        precondition(!open.isWritable, "pages of a write transaction have no place in the map")
        epoch = open.epoch
        pageSize = UInt(open.environment.pageSize)
        unsafe pointer = try LMDBCalls.openCursor(open.pointer, open.index(of: keyspace))
    }

    deinit {
        guard !open.environment.isInherited else { return }
        unsafe LMDBCalls.closeCursor(pointer)
    }

    /// The number of different pages.
    public var count: Int { pages.count }

    /// Adds the page of a key or, if the key is not there, the page of the key after it.
    ///
    /// - Parameter key: The key. An empty one has no effect.
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``.
    /// - Complexity: O(log *n*) in the number of entries, less for keys on the same page.
    public func note<Key: KeyspaceKey & ~Copyable & ~Escapable>(_ key: borrowing Key)
        throws(LMDBError)
    {
        try note(key, isRange: false)
    }

    /// Adds the page of the last key at or before `key`, whose value holds the range of keys around
    /// it. If there is none, adds the page of the first key.
    ///
    /// - Parameter key: The key. An empty one has no effect.
    /// - Throws: ``LMDBError``, see ``ReadableTransaction``.
    /// - Complexity: O(log *n*) in the number of entries, less for keys on the same page.
    public func note<Key: KeyspaceKey & ~Copyable & ~Escapable>(rangeOf key: borrowing Key)
        throws(LMDBError)
    {
        try note(key, isRange: true)
    }

    private func note<Key: KeyspaceKey & ~Copyable & ~Escapable>(
        _ key: borrowing Key, isRange: Bool
    ) throws(LMDBError) {
        guard epoch == open.epoch else { throw LMDBError(.transactionEnded, .cursor) }
        let pointer = unsafe self.pointer
        let entry = unsafe try key.withBytes {
            (bytes: RawSpan) throws(LMDBError) -> LMDBCalls.Entry? in
            try unsafe bytes.withUnsafeBytes { (bytes) throws(LMDBError) -> LMDBCalls.Entry? in
                let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
                if unsafe bytes.isEmpty { return nil }
                guard let found = try unsafe LMDBCalls.move(pointer, .atOrAfter, bytes) else {
                    return try unsafe LMDBCalls.move(pointer, .last, nothing)
                }
                if !isRange { return unsafe found }
                if unsafe found.key.elementsEqual(bytes) { return unsafe found }
                return try unsafe LMDBCalls.move(pointer, .previous, nothing) ?? found
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
