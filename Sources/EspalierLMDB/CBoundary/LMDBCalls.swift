import CLMDB
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The C functions of LMDB that this package calls, and the only conversions between C types and
/// Swift types.
///
/// LMDB keeps no pointer to an argument beyond the call. The keys and values that LMDB returns
/// point into the map. They are valid until the next write of the same transaction, or until its
/// end.
enum LMDBCalls {
    typealias Pointer = OpaquePointer

    /// Major, minor and patch version of the library that is loaded.
    static var version: String {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        unsafe mdb_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }

    // MARK: Environment

    /// Allocates an environment, which `open` must follow and `close` must free.
    static func createEnvironment() throws(LMDBError) -> Pointer {
        var environment: Pointer?
        try unsafe check(mdb_env_create(&environment), .open)
        return unsafe environment!  // LMDB sets it when it returns 0.
    }

    /// Sets the limits of a new environment, before `open`.
    static func configure(
        _ environment: Pointer, mapSize: Int, maximumReaders: Int, keyspaces: Int
    ) throws(LMDBError) {
        try unsafe check(mdb_env_set_mapsize(environment, mapSize), .open)
        try unsafe check(mdb_env_set_maxreaders(environment, UInt32(maximumReaders)), .open)
        try unsafe check(mdb_env_set_maxdbs(environment, UInt32(keyspaces)), .open)
    }

    /// Opens the files in `directory`. After an error the environment can only be closed.
    static func open(_ environment: Pointer, directory: String, options: Environment.Options)
        throws(LMDBError)
    {
        // NOTLS: tasks change threads, so a reader slot must belong to the transaction.
        // Never WRITEMAP: the file then has the size of the map at once, and a full disk is SIGBUS.
        var flags = MDB_NOTLS
        switch options.durability {
        case .sync: break
        case .noMetaSync: flags |= MDB_NOMETASYNC
        case .noSync: flags |= MDB_NOSYNC
        }
        if options.isReadOnly { flags |= MDB_RDONLY }
        errno = 0
        try unsafe check(mdb_env_open(environment, directory, UInt32(flags), 0o600), .open)
    }

    /// Makes LMDB add 1 to `count` before it ends the process because of a damaged page. The
    /// address must be valid as long as the environment.
    static func countAssertions(
        of environment: Pointer, in count: UnsafeMutablePointer<Atomic<UInt64>>
    ) {
        unsafe mdb_env_set_userctx(environment, count)
        unsafe mdb_env_set_assert(environment) { environment, _ in
            guard let context = unsafe mdb_env_get_userctx(environment) else { return }
            let count = unsafe context.assumingMemoryBound(to: Atomic<UInt64>.self)
            // The file is little-endian, as all machines that Swift runs on.
            unsafe count.pointee.add(1, ordering: .relaxed)
        }
    }

    /// Closes and frees the environment. No transaction may be open.
    static func close(_ environment: Pointer) {
        unsafe mdb_env_close(environment)
    }

    /// Returns the descriptor of `data.mdb`, which LMDB closes.
    static func dataDescriptor(_ environment: Pointer) throws(LMDBError) -> Int32 {
        var descriptor: mdb_filehandle_t = -1
        try unsafe check(mdb_env_get_fd(environment, &descriptor), .open)
        return descriptor
    }

    /// Returns the page size of the file in bytes, which can differ from that of the machine.
    static func pageSize(_ environment: Pointer) throws(LMDBError) -> Int {
        var result = MDB_stat()
        try unsafe check(mdb_env_stat(environment, &result), .open)
        return Int(result.ms_psize)
    }

    /// Returns the size of the map in bytes, the highest page ever allocated, and the number of the
    /// last commit.
    static func measure(
        _ environment: Pointer, _ operation: LMDBError.Operation
    ) throws(LMDBError) -> (mapSize: Int, lastPage: Int, lastTransaction: UInt64) {
        var result = unsafe MDB_envinfo()
        try unsafe check(mdb_env_info(environment, &result), operation)
        return unsafe (result.me_mapsize, result.me_last_pgno, UInt64(result.me_last_txnid))
    }

    /// Replaces the map. No transaction and no other call may be under way in this process: LMDB
    /// does not check this, and open reads would die with SIGBUS. After an error there is no map.
    static func resize(_ environment: Pointer, mapSize: Int) throws(LMDBError) {
        try unsafe check(mdb_env_set_mapsize(environment, mapSize), .resize)
    }

    /// Forces all commits to the disk, whatever the durability.
    static func sync(_ environment: Pointer) throws(LMDBError) {
        errno = 0
        try unsafe check(mdb_env_sync(environment, 1), .sync)
    }

    /// Frees the reader slots of dead processes and returns their number.
    static func clearStaleReaders(_ environment: Pointer) throws(LMDBError) -> Int {
        var dead: Int32 = 0
        try unsafe check(mdb_reader_check(environment, &dead), .clearReaders)
        return Int(dead)
    }

    /// Returns the reader table as LMDB prints it: a heading, then a line for each slot.
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

    /// Begins a transaction. A write transaction waits for the current one without a limit.
    static func begin(_ environment: Pointer, readOnly: Bool) throws(LMDBError) -> Pointer {
        var transaction: Pointer?
        let flags = readOnly ? UInt32(MDB_RDONLY) : 0
        try unsafe check(
            mdb_txn_begin(environment, nil, flags, &transaction),
            readOnly ? .beginRead : .beginWrite)
        return unsafe transaction!  // LMDB sets it when it returns 0.
    }

    /// Gives a read transaction that was `reset` the last commit as its snapshot.
    static func renew(_ transaction: Pointer) throws(LMDBError) {
        try unsafe check(mdb_txn_renew(transaction), .beginRead)
    }

    /// Ends a read transaction, but keeps its memory and its reader slot for `renew`.
    static func reset(_ transaction: Pointer) {
        unsafe mdb_txn_reset(transaction)
    }

    /// Commits and frees the transaction. LMDB frees it after an error, too.
    static func commit(_ transaction: Pointer) throws(LMDBError) {
        errno = 0
        try unsafe check(mdb_txn_commit(transaction), .commit)
    }

    /// Aborts and frees the transaction.
    static func abort(_ transaction: Pointer) {
        unsafe mdb_txn_abort(transaction)
    }

    /// Returns the number of the snapshot or, in a write transaction, of the commit.
    static func number(_ transaction: Pointer) -> UInt64 {
        unsafe UInt64(mdb_txn_id(transaction))
    }

    // MARK: Keyspaces

    /// Opens the keyspace called `name` and returns its index. The index becomes valid for other
    /// transactions when this one commits.
    static func openKeyspace(_ transaction: Pointer, _ name: String, create: Bool) throws(LMDBError)
        -> UInt32
    {
        var index: MDB_dbi = 0
        let result = unsafe mdb_dbi_open(transaction, name, create ? UInt32(MDB_CREATE) : 0, &index)
        guard result != MDB_NOTFOUND else { throw LMDBError(.missingKeyspace, .openKeyspace) }
        try check(result, .openKeyspace)
        // This package creates no keyspaces with sorted duplicates or native integers as keys. Most
        // known defects of LMDB are in the code for them.
        var flags: UInt32 = 0
        try unsafe check(mdb_dbi_flags(transaction, index, &flags), .openKeyspace)
        guard flags == 0 else { throw LMDBError(.corrupted, .openKeyspace) }
        return index
    }

    /// Returns the size of a keyspace as the transaction sees it.
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

    /// Returns the value under `key`, or `nil` if there is none. A key that is empty or too long is
    /// never there.
    static func get(
        _ transaction: Pointer, _ keyspace: UInt32, _ key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        // LMDB returns BAD_VALSIZE for an empty key, but NOTFOUND for one that is too long.
        guard unsafe !key.isEmpty else { return nil }
        var key = unsafe value(key)
        var found = unsafe MDB_val()
        let result = unsafe mdb_get(transaction, keyspace, &key, &found)
        if result == MDB_SUCCESS { return unsafe bytes(found) }
        if result != MDB_NOTFOUND && result != MDB_BAD_VALSIZE { try check(result, .get) }
        return nil
    }

    /// Stores a value. `appending` requires a key that is greater than all others.
    static func put(
        _ transaction: Pointer, _ keyspace: UInt32, _ key: UnsafeRawBufferPointer,
        _ bytes: UnsafeRawBufferPointer,
        appending: Bool
    ) throws(LMDBError) {
        var key = unsafe value(key)
        var stored = unsafe value(bytes)
        let flags = appending ? UInt32(MDB_APPEND) : 0
        errno = 0
        try unsafe check(
            mdb_put(transaction, keyspace, &key, &stored, flags), appending ? .append : .put)
    }

    /// Stores a value unless the key has one. Returns the value that the key has, in which case
    /// nothing has changed, or `nil` if the new value was stored.
    static func insert(
        _ transaction: Pointer, _ keyspace: UInt32, _ key: UnsafeRawBufferPointer,
        _ bytes: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        var key = unsafe value(key)
        var stored = unsafe value(bytes)
        errno = 0
        let result = unsafe mdb_put(transaction, keyspace, &key, &stored, UInt32(MDB_NOOVERWRITE))
        if result == MDB_KEYEXIST { return unsafe Self.bytes(stored) }
        try check(result, .put)
        return nil
    }

    /// Removes the entry under `key` and returns whether there was one.
    static func delete(
        _ transaction: Pointer, _ keyspace: UInt32, _ key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> Bool {
        guard unsafe !key.isEmpty else { return false }
        var key = unsafe value(key)
        errno = 0
        let result = unsafe mdb_del(transaction, keyspace, &key, nil)
        if result == MDB_NOTFOUND || result == MDB_BAD_VALSIZE { return false }
        try check(result, .delete)
        return true
    }

    // MARK: Cursors

    /// The key and the value of an entry, in the map.
    typealias Entry = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

    /// Where a cursor goes.
    enum Move { case first, last, next, previous, current, atOrAfter, exact }

    /// Opens a cursor. In a read transaction the caller must close it; a write transaction frees
    /// its cursors when it ends.
    static func openCursor(_ transaction: Pointer, _ keyspace: UInt32) throws(LMDBError) -> Pointer
    {
        var cursor: Pointer?
        try unsafe check(mdb_cursor_open(transaction, keyspace, &cursor), .cursor)
        return unsafe cursor!  // LMDB sets it when it returns 0.
    }

    /// Frees a cursor of a read transaction, or of a write transaction that has not ended.
    static func closeCursor(_ cursor: Pointer) {
        unsafe mdb_cursor_close(cursor)
    }

    /// Moves a cursor and returns the entry there, or `nil` if there is none. Only `atOrAfter` and
    /// `exact` use `key`.
    static func move(
        _ cursor: Pointer, _ move: Move, _ key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> Entry? {
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

    /// Removes the entry that the cursor points to. The next `next` goes to the entry after it.
    static func deleteCurrent(_ cursor: Pointer) throws(LMDBError) {
        errno = 0
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
        throw LMDBError(code(result, operation, systemError: errno), operation, line: line)
    }

    /// Returns the code for a result of LMDB.
    ///
    /// - Parameter systemError: The value of `errno` after the call. Calls that write set it to 0
    ///   before. LMDB returns EIO for a write that a full disk cuts short, which is no error of the
    ///   system: `errno` stays 0 then.
    static func code(
        _ result: Int32, _ operation: LMDBError.Operation, systemError: Int32
    ) -> LMDBError.Code {
        switch result {
        case EIO where operation.writesToDisk && systemError != EIO: .diskFull
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
