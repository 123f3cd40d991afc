import CLMDB

/// The whitelist: every C function this package calls, and the only conversions between its types
/// and ours.
///
/// An argument LMDB keeps a pointer to beyond the call does not occur here; what it returns points
/// into the map and lives until the next write of the same transaction, or its end.
enum LMDBCalls {
    typealias Pointer = OpaquePointer

    static var version: String {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        unsafe mdb_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }

    // MARK: Environment

    static func createEnvironment() throws(LMDBError) -> Pointer {
        var environment: Pointer?
        try unsafe check(mdb_env_create(&environment), .open)
        return unsafe environment!  // set whenever 0 is returned
    }

    static func configure(
        _ environment: Pointer, mapSize: Int, maximumReaders: Int, keyspaces: Int
    ) throws(LMDBError) {
        try unsafe check(mdb_env_set_mapsize(environment, mapSize), .open)
        try unsafe check(mdb_env_set_maxreaders(environment, UInt32(maximumReaders)), .open)
        try unsafe check(mdb_env_set_maxdbs(environment, UInt32(keyspaces)), .open)
    }

    static func open(_ environment: Pointer, directory: String, options: Environment.Options)
        throws(LMDBError)
    {
        // NOTLS: tasks hop between threads, so a reader slot belongs to the transaction. Never
        // WRITEMAP.
        var flags = MDB_NOTLS
        switch options.durability {
        case .sync: break
        case .noMetaSync: flags |= MDB_NOMETASYNC
        case .noSync: flags |= MDB_NOSYNC
        }
        if options.isReadOnly { flags |= MDB_RDONLY }
        try unsafe check(mdb_env_open(environment, directory, UInt32(flags), 0o600), .open)
    }

    static func close(_ environment: Pointer) {
        unsafe mdb_env_close(environment)
    }

    static func dataDescriptor(_ environment: Pointer) throws(LMDBError) -> Int32 {
        var descriptor: mdb_filehandle_t = -1
        try unsafe check(mdb_env_get_fd(environment, &descriptor), .open)
        return descriptor
    }

    static func pageSize(_ environment: Pointer) throws(LMDBError) -> Int {
        var result = MDB_stat()
        try unsafe check(mdb_env_stat(environment, &result), .open)
        return Int(result.ms_psize)
    }

    static func measure(
        _ environment: Pointer, _ operation: LMDBError.Operation
    ) throws(LMDBError) -> (mapSize: Int, lastPage: Int, lastTransaction: UInt64) {
        var result = unsafe MDB_envinfo()
        try unsafe check(mdb_env_info(environment, &result), operation)
        return unsafe (result.me_mapsize, result.me_last_pgno, UInt64(result.me_last_txnid))
    }

    /// No transaction or other call may be under way in this process. After an error there is no
    /// map.
    static func resize(_ environment: Pointer, mapSize: Int) throws(LMDBError) {
        try unsafe check(mdb_env_set_mapsize(environment, mapSize), .resize)
    }

    static func sync(_ environment: Pointer) throws(LMDBError) {
        try unsafe check(mdb_env_sync(environment, 1), .sync)
    }

    static func clearStaleReaders(_ environment: Pointer) throws(LMDBError) -> Int {
        var dead: Int32 = 0
        try unsafe check(mdb_reader_check(environment, &dead), .clearReaders)
        return Int(dead)
    }

    /// The reader table as LMDB prints it, one line a slot.
    static func listReaders(_ environment: Pointer) throws(LMDBError) -> String {
        var text = ""
        let result = unsafe withUnsafeMutablePointer(to: &text) { context in
            unsafe mdb_reader_list(
                environment,
                { line, context in
                    guard let line = unsafe line, let context = unsafe context else { return 0 }
                    unsafe context.assumingMemoryBound(to: String.self).pointee += String(
                        cString: line)
                    return 0
                }, context)
        }
        if result < 0 { try check(result, .listReaders) }
        return text
    }

    // MARK: Transactions

    static func begin(_ environment: Pointer, readOnly: Bool) throws(LMDBError) -> Pointer {
        var transaction: Pointer?
        let flags = readOnly ? UInt32(MDB_RDONLY) : 0
        try unsafe check(
            mdb_txn_begin(environment, nil, flags, &transaction),
            readOnly ? .beginRead : .beginWrite)
        return unsafe transaction!  // set whenever 0 is returned
    }

    static func renew(_ transaction: Pointer) throws(LMDBError) {
        try unsafe check(mdb_txn_renew(transaction), .beginRead)
    }

    static func reset(_ transaction: Pointer) {
        unsafe mdb_txn_reset(transaction)
    }

    static func commit(_ transaction: Pointer) throws(LMDBError) {
        try unsafe check(mdb_txn_commit(transaction), .commit)
    }

    static func abort(_ transaction: Pointer) {
        unsafe mdb_txn_abort(transaction)
    }

    static func number(_ transaction: Pointer) -> UInt64 {
        unsafe UInt64(mdb_txn_id(transaction))
    }

    // MARK: Keyspaces

    static func openKeyspace(_ transaction: Pointer, _ name: String, create: Bool) throws(LMDBError)
        -> UInt32
    {
        var index: MDB_dbi = 0
        let result = unsafe mdb_dbi_open(transaction, name, create ? UInt32(MDB_CREATE) : 0, &index)
        guard result != MDB_NOTFOUND else { throw LMDBError(.missingKeyspace, .openKeyspace) }
        try check(result, .openKeyspace)
        // Sorted duplicates or native integers can only come from elsewhere, and are where LMDB's
        // known defects are.
        var flags: UInt32 = 0
        try unsafe check(mdb_dbi_flags(transaction, index, &flags), .openKeyspace)
        guard flags == 0 else { throw LMDBError(.corrupted, .openKeyspace) }
        return index
    }

    static func statistics(_ transaction: Pointer, _ keyspace: UInt32) throws(LMDBError)
        -> KeyspaceStatistics
    {
        var result = MDB_stat()
        try unsafe check(mdb_stat(transaction, keyspace, &result), .statistics)
        return KeyspaceStatistics(
            entries: result.ms_entries, depth: Int(result.ms_depth),
            branchPages: result.ms_branch_pages,
            leafPages: result.ms_leaf_pages, overflowPages: result.ms_overflow_pages)
    }

    // MARK: Entries

    /// `nil` when there is no such key; a key no entry can have is one of those.
    static func get(
        _ transaction: Pointer, _ keyspace: UInt32, _ key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        // Length 0 answers BAD_VALSIZE here, unlike a length that is too great.
        guard unsafe !key.isEmpty else { return nil }
        var key = unsafe value(key)
        var found = unsafe MDB_val()
        let result = unsafe mdb_get(transaction, keyspace, &key, &found)
        if result == MDB_SUCCESS { return unsafe bytes(found) }
        if result != MDB_NOTFOUND && result != MDB_BAD_VALSIZE { try check(result, .get) }
        return nil
    }

    static func put(
        _ transaction: Pointer, _ keyspace: UInt32, _ key: UnsafeRawBufferPointer,
        _ bytes: UnsafeRawBufferPointer,
        appending: Bool
    ) throws(LMDBError) {
        var key = unsafe value(key)
        var stored = unsafe value(bytes)
        let flags = appending ? UInt32(MDB_APPEND) : 0
        try unsafe check(
            mdb_put(transaction, keyspace, &key, &stored, flags), appending ? .append : .put)
    }

    /// Puts what is not there yet. The value that is there, if one is, and then nothing has
    /// changed.
    static func insert(
        _ transaction: Pointer, _ keyspace: UInt32, _ key: UnsafeRawBufferPointer,
        _ bytes: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        var key = unsafe value(key)
        var stored = unsafe value(bytes)
        let result = unsafe mdb_put(transaction, keyspace, &key, &stored, UInt32(MDB_NOOVERWRITE))
        if result == MDB_KEYEXIST { return unsafe Self.bytes(stored) }
        try check(result, .put)
        return nil
    }

    /// `false` when there is no such key.
    static func delete(
        _ transaction: Pointer, _ keyspace: UInt32, _ key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> Bool {
        guard unsafe !key.isEmpty else { return false }
        var key = unsafe value(key)
        let result = unsafe mdb_del(transaction, keyspace, &key, nil)
        if result == MDB_NOTFOUND || result == MDB_BAD_VALSIZE { return false }
        try check(result, .delete)
        return true
    }

    // MARK: Cursors

    enum Move { case first, last, next, previous, current, atOrAfter, exact }

    static func openCursor(_ transaction: Pointer, _ keyspace: UInt32) throws(LMDBError) -> Pointer
    {
        var cursor: Pointer?
        try unsafe check(mdb_cursor_open(transaction, keyspace, &cursor), .cursor)
        return unsafe cursor!  // set whenever 0 is returned
    }

    static func closeCursor(_ cursor: Pointer) {
        unsafe mdb_cursor_close(cursor)
    }

    /// `nil` when there is no entry where the cursor was to go. `key` matters for `atOrAfter` and
    /// `exact` only.
    static func move(
        _ cursor: Pointer, _ move: Move, _ key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        var key = unsafe value(key)
        var found = unsafe MDB_val()
        let step =
            switch move {
            case .first: MDB_FIRST
            case .last: MDB_LAST
            case .next: MDB_NEXT
            case .previous: MDB_PREV
            case .current: MDB_GET_CURRENT
            case .atOrAfter: MDB_SET_RANGE
            case .exact: MDB_SET
            }
        let result = unsafe mdb_cursor_get(cursor, &key, &found, step)
        if result == MDB_NOTFOUND { return nil }
        try check(result, .cursor)
        return unsafe (bytes(key), bytes(found))
    }

    static func deleteCurrent(_ cursor: Pointer) throws(LMDBError) {
        try unsafe check(mdb_cursor_del(cursor, 0), .delete)
    }

    // MARK: Conversions

    private static func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
        unsafe MDB_val(
            mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    private static func bytes(_ value: MDB_val) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }

    private static func check(
        _ result: Int32, _ operation: LMDBError.Operation, line: UInt = #line
    ) throws(LMDBError) {
        guard result != MDB_SUCCESS else { return }
        throw LMDBError(code(result, operation), operation, line: line)
    }

    private static func code(_ result: Int32, _ operation: LMDBError.Operation) -> LMDBError.Code {
        switch result {
        case MDB_MAP_FULL: .mapFull
        case MDB_READERS_FULL: .readersFull
        case MDB_BAD_RSLOT: .readerSlotTaken
        case MDB_TXN_FULL: .transactionTooLarge
        case MDB_PAGE_FULL, MDB_CURSOR_FULL: .pageFull
        case MDB_KEYEXIST: .outOfOrder
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_BAD_DBI, MDB_INCOMPATIBLE: .corrupted
        case MDB_INVALID: .invalidFile
        case MDB_VERSION_MISMATCH: .versionMismatch
        case MDB_MAP_RESIZED: .mapResized
        case MDB_PANIC: .panic
        case MDB_BAD_TXN: .transactionFailed
        default: LMDBError.Code(system: result, operation)
        }
    }
}
