import CLMDBRaw
import Foundation
import Synchronization

/// LMDB's own calls over one file, with nothing in between. There are as many readers as read at a
/// time; they are reset and renewed.
///
/// Unchecked: LMDB lets all threads use the pointer to the environment, which never changes.
final class BaselineEnvironment: @unchecked Sendable {
    private let environment: OpaquePointer
    let nodes: MDB_dbi
    let index: MDB_dbi
    let lists: MDB_dbi
    private let idle = Mutex<[Reader]>([])

    /// A reset transaction. Unchecked: one thread at a time has it, and MDB_NOTLS lets that thread
    /// change.
    private struct Reader: @unchecked Sendable {
        let transaction: OpaquePointer
    }

    init(directory: String, durability: Durability) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        var created: OpaquePointer?
        try Self.check("mdb_env_create", mdb_env_create(&created))
        guard let environment = created else { throw ComparisonError.missing("an environment") }
        do {
            try Self.check("mdb_env_set_mapsize", mdb_env_set_mapsize(environment, 8 << 30))
            try Self.check("mdb_env_set_maxdbs", mdb_env_set_maxdbs(environment, 3))
            // Without any sync, the operating system has a write when it returns. Without the sync
            // of the meta page alone, the write is on the disk, for one wait each, and the file is
            // intact.
            let durable = durability == .process ? MDB_NOSYNC : 0
            try Self.check(
                "mdb_env_open",
                mdb_env_open(environment, directory, UInt32(durable | MDB_NOTLS), 0o600))
            let start = try Self.begin(environment, flags: 0)
            nodes = try Self.keyspace("nodes", start)
            index = try Self.keyspace("index", start)
            lists = try Self.keyspace("lists", start)
            try Self.check("mdb_txn_commit", mdb_txn_commit(start))
        } catch {
            mdb_env_close(environment)
            throw error
        }
        self.environment = environment
    }

    deinit {
        idle.withLock { readers in for reader in readers { mdb_txn_abort(reader.transaction) } }
        mdb_env_close(environment)
    }

    private static func keyspace(_ name: String, _ transaction: OpaquePointer) throws -> MDB_dbi {
        var keyspace: MDB_dbi = 0
        try check("mdb_dbi_open", mdb_dbi_open(transaction, name, UInt32(MDB_CREATE), &keyspace))
        return keyspace
    }

    static func check(_ call: String, _ code: Int32) throws {
        if code != 0 { throw ComparisonError.system(call, code) }
    }

    private static func begin(_ environment: OpaquePointer, flags: UInt32) throws -> OpaquePointer {
        var transaction: OpaquePointer?
        try check("mdb_txn_begin", mdb_txn_begin(environment, nil, flags, &transaction))
        guard let transaction else { throw ComparisonError.missing("a transaction") }
        return transaction
    }

    func read<Result>(_ body: (BaselineTransaction) throws -> Result) throws -> Result {
        let reader: OpaquePointer
        if let kept = idle.withLock({ $0.popLast() }) {
            try Self.check("mdb_txn_renew", mdb_txn_renew(kept.transaction))
            reader = kept.transaction
        } else {
            reader = try Self.begin(environment, flags: UInt32(MDB_RDONLY))
        }
        defer {
            mdb_txn_reset(reader)
            let reset = Reader(transaction: reader)
            idle.withLock { $0.append(reset) }
        }
        return try body(BaselineTransaction(pointer: reader))
    }

    func write<Result>(_ body: (BaselineTransaction) throws -> Result) throws -> Result {
        let writer = try Self.begin(environment, flags: 0)
        let result: Result
        do {
            result = try body(BaselineTransaction(pointer: writer))
        } catch {
            mdb_txn_abort(writer)
            throw error
        }
        try Self.check("mdb_txn_commit", mdb_txn_commit(writer))
        return result
    }
}

struct BaselineTransaction {
    let pointer: OpaquePointer

    func get(_ keyspace: MDB_dbi, _ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        var key = Self.value(key)
        var found = MDB_val()
        let code = mdb_get(pointer, keyspace, &key, &found)
        if code == MDB_NOTFOUND { return nil }
        try BaselineEnvironment.check("mdb_get", code)
        return UnsafeRawBufferPointer(start: found.mv_data, count: found.mv_size)
    }

    func put(
        _ keyspace: MDB_dbi, _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer,
        flags: UInt32 = 0
    ) throws {
        var key = Self.value(key)
        var value = Self.value(bytes)
        try BaselineEnvironment.check("mdb_put", mdb_put(pointer, keyspace, &key, &value, flags))
    }

    func delete(_ keyspace: MDB_dbi, _ key: UnsafeRawBufferPointer) throws {
        var key = Self.value(key)
        let code = mdb_del(pointer, keyspace, &key, nil)
        if code != MDB_NOTFOUND { try BaselineEnvironment.check("mdb_del", code) }
    }

    func withCursor<Result>(_ keyspace: MDB_dbi, _ body: (OpaquePointer) throws -> Result) throws
        -> Result
    {
        var opened: OpaquePointer?
        try BaselineEnvironment.check(
            "mdb_cursor_open", mdb_cursor_open(pointer, keyspace, &opened))
        guard let cursor = opened else { throw ComparisonError.missing("a cursor") }
        defer { mdb_cursor_close(cursor) }
        return try body(cursor)
    }

    /// Returns a value over bytes, through which LMDB does not write.
    static func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
        MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}
