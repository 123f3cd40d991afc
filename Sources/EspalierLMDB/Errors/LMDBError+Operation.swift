extension LMDBError {
    /// What was being done when an error came up.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        case open, close, sync, resize
        case openKeyspace = "open keyspace"
        case prepareFiles = "prepare files"
        case beginRead = "begin read"
        case beginWrite = "begin write"
        case get, put, append, delete, commit, statistics
        case cursor = "move cursor"
        case listReaders = "list readers"
        case clearReaders = "clear stale readers"
        case openGuard = "open guard file"
        case lockGuard = "lock guard file"

        /// LMDB answers EIO when a write was cut short by a full disk.
        var writesToDisk: Bool {
            switch self {
            case .open, .sync, .openKeyspace, .prepareFiles, .put, .append, .delete, .commit,
                .openGuard:
                true
            default: false
            }
        }
    }
}
