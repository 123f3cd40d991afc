import Synchronization

/// The directories open in this process.
///
/// LMDB's file locks do not exclude within a process: a second open would wipe the reader table
/// under the first, and merely closing a descriptor of `lock.mdb` would drop the first one's locks.
enum EnvironmentRegistry {
    /// A forked child may open anew what its parent has open, so the fork count is part of the key.
    struct Entry: Hashable {
        let directory: FileIdentity
        let fork: UInt64
    }

    private static let entries = Mutex<Set<Entry>>([])

    static func insert(_ entry: Entry) throws(LMDBError) {
        let isNew = entries.withLock { $0.insert(entry).inserted }
        guard isNew else { throw LMDBError(.alreadyOpen, .open) }
    }

    static func remove(_ entry: Entry) {
        let removed = entries.withLock { $0.remove(entry) }
        precondition(removed != nil, "an environment was closed twice")
    }
}
