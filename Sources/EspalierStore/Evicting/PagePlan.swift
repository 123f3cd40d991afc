/// How the pages of a cache's map are shared out: what records may fill, what is left for copies,
/// what only eviction may use.
///
///     0                                     high                 capacity - reserve    capacity
///     | records, index, state ............. | copies in flight ... | eviction alone ....|
///
/// LMDB never writes a page in place: a commit needs a free page for each it changes, and the pages
/// it frees can be used again two commits later. So about three transactions' worth of pages has to
/// be free at any time. That is a number of pages and not a share, which is why small caches can be
/// filled less: up to 50 % at 1 MiB, 64 at 4, 86 at 16, 92 at 64.
struct PagePlan: Sendable, Equatable {
    /// Pages that can be allocated at all.
    let capacity: Int

    /// Above this, commits evict.
    var high: Int { capacity - min(capacity / 2, 300 + capacity * 6 / 100, 6_000) }

    /// Where a commit stops evicting.
    var low: Int { high - max(2, min(capacity / 256, 64)) }

    /// Pages that a write must leave allocatable: enough for an eviction of its own, which copies a
    /// path of each keyspace.
    var reserve: Int { min(max(capacity / 16, 40), 96) }

    /// Pages that one transaction may copy for eviction. LMDB writes the pages that a commit frees
    /// as one list, which over 509 of them needs free pages in a row.
    var evictionLimit: Int { min(max(capacity / 4, 48), 400) }

    /// Touches, or flags, that one commit takes along: each may stand on a page of its own.
    var touchLimit: Int { evictionLimit / 4 }

    /// Bytes of records that are committed together, at most: a single write may be larger.
    var groupBytes: Int { min(max(capacity * 16, 16 << 10), 1 << 20) }
}
