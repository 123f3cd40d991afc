/// The pages that the next write transaction can take, and those that are free and have to wait.
///
/// Pages that a commit frees can be used again by the second commit after it, and not while a
/// reader has an older snapshot.
///
/// ```swift
/// let free = try environment.read { try $0.freePages(oldestReader: nil) }
/// if free.allocatable < needed { makeRoom() }
/// ```
///
/// Threading: a value. Cost: a look at each entry of the free list, of which there are few. Errors:
/// none of its own.
public struct FreePages: Sendable, Hashable {
    /// Never used so far.
    public let neverAllocated: Int
    /// On the free list, and old enough.
    public let reusable: Int
    /// Freed by the last two commits.
    public let recent: Int
    /// Freed before that, but since a reader began that is still there.
    public let held: Int

    public var allocatable: Int { neverAllocated + reusable }

    package init(neverAllocated: Int, reusable: Int, recent: Int, held: Int) {
        self.neverAllocated = neverAllocated
        self.reusable = reusable
        self.recent = recent
        self.held = held
    }
}

extension ReadTransaction {
    /// What the write transaction after this snapshot can take. `oldestReader` is the transaction
    /// of the oldest snapshot in use by anyone, if any is.
    public func freePages(oldestReader: UInt64?) throws(LMDBError) -> FreePages {
        let (reusable, recent, held) = try freedPages(before: oldestReader ?? number)
        return FreePages(
            neverAllocated: try pages().neverAllocated, reusable: reusable, recent: recent,
            held: held)
    }

    private func freedPages(before reader: UInt64) throws(LMDBError) -> (
        reusable: Int, recent: Int, held: Int
    ) {
        var cursor = try Cursor(openTransaction, index: Keyspace.freeListIndex)
        var counts = (reusable: 0, recent: 0, held: 0)
        while try cursor.next() {
            cursor.withEntry { key, list in
                guard key.byteCount == 8, list.byteCount >= 8 else { return }
                let freedBy = unsafe key.unsafeLoadUnaligned(as: UInt64.self)
                let count = unsafe list.unsafeLoadUnaligned(as: Int.self)
                // The next transaction takes what was freed before the last commit's snapshot and
                // every reader's.
                if freedBy < min(reader, number) {
                    counts.reusable += count
                } else if freedBy + 1 >= number {
                    counts.recent += count
                } else {
                    counts.held += count
                }
            }
        }
        return counts
    }
}

extension Environment {
    /// The transaction of the oldest snapshot in use, of any process; nil when nobody reads.
    public var oldestReader: UInt64? {
        get throws(LMDBError) { try readers().compactMap(\.transaction).min() }
    }
}
