import CLMDBRaw
import Foundation

/// LMDB's own calls over one file, with no safety and no abstraction: what the engine is measured
/// against.
final class RawEnvironment {
    struct Failure: Error { let code: Int32 }

    private let environment: OpaquePointer
    private(set) var nodes: MDB_dbi = 0
    private(set) var index: MDB_dbi = 0
    private let reader: OpaquePointer

    /// An empty environment, as durable as `noSync`; or, `reading`, one as it stands.
    init(directory: String, reading: Bool = false) throws {
        if !reading {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true)
        }
        var created: OpaquePointer?
        try Self.check(mdb_env_create(&created))
        environment = created!  // made by the call above
        try Self.check(mdb_env_set_mapsize(environment, 1 << 30))
        try Self.check(mdb_env_set_maxdbs(environment, 16))
        let flags = reading ? MDB_RDONLY | MDB_NOLOCK : MDB_NOSYNC
        try Self.check(mdb_env_open(environment, directory, UInt32(flags | MDB_NOTLS), 0o600))
        let start = try Self.begin(environment, reading ? UInt32(MDB_RDONLY) : 0)
        try Self.check(mdb_dbi_open(start, "nodes", reading ? 0 : UInt32(MDB_CREATE), &nodes))
        try Self.check(mdb_dbi_open(start, "index", reading ? 0 : UInt32(MDB_CREATE), &index))
        try Self.check(mdb_txn_commit(start))
        reader = try Self.begin(environment, UInt32(MDB_RDONLY))
        mdb_txn_reset(reader)
    }

    deinit {
        mdb_txn_abort(reader)
        mdb_env_close(environment)
    }

    static func check(_ code: Int32) throws {
        if code != 0 { throw Failure(code: code) }
    }

    private static func begin(_ environment: OpaquePointer, _ flags: UInt32) throws -> OpaquePointer
    {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, flags, &transaction))
        return transaction!  // made by the call above
    }

    func read<R>(_ body: (OpaquePointer) throws -> R) throws -> R {
        try Self.check(mdb_txn_renew(reader))
        defer { mdb_txn_reset(reader) }
        return try body(reader)
    }

    /// One transaction: the records appended, the index put.
    func write(_ records: RawRecords) throws {
        let transaction = try Self.begin(environment, 0)
        for entry in records.nodes { try put(entry, in: nodes, transaction, UInt32(MDB_APPEND)) }
        for entry in records.index { try put(entry, in: index, transaction, 0) }
        try Self.check(mdb_txn_commit(transaction))
    }

    private func put(
        _ entry: RawRecords.Entry, in keyspace: MDB_dbi, _ transaction: OpaquePointer,
        _ flags: UInt32
    )
        throws
    {
        try entry.key.withUnsafeBytes { keyBytes in
            try entry.value.withUnsafeBytes { valueBytes in
                // LMDB does not write through these.
                var key = MDB_val(
                    mv_size: keyBytes.count,
                    mv_data: UnsafeMutableRawPointer(mutating: keyBytes.baseAddress))
                var value = MDB_val(
                    mv_size: valueBytes.count,
                    mv_data: UnsafeMutableRawPointer(mutating: valueBytes.baseAddress))
                try Self.check(mdb_put(transaction, keyspace, &key, &value, flags))
            }
        }
    }
}

/// Entries of the two keyspaces that a tree is written to.
struct RawRecords {
    struct Entry {
        let key: [UInt8]
        let value: [UInt8]
    }

    var nodes: [Entry] = []
    var index: [Entry] = []
}

extension RawEnvironment {
    /// Everything in the file.
    func contents() throws -> RawRecords {
        try read { transaction in
            RawRecords(
                nodes: try entries(of: nodes, transaction),
                index: try entries(of: index, transaction))
        }
    }

    private func entries(of keyspace: MDB_dbi, _ transaction: OpaquePointer) throws -> [RawRecords
        .Entry]
    {
        var cursor: OpaquePointer?
        try Self.check(mdb_cursor_open(transaction, keyspace, &cursor))
        defer { mdb_cursor_close(cursor) }
        var entries: [RawRecords.Entry] = []
        var key = MDB_val()
        var value = MDB_val()
        while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 {
            entries.append(
                RawRecords.Entry(
                    key: [UInt8](UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)),
                    value: [UInt8](
                        UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))))
        }
        return entries
    }
}

extension RawEnvironment {
    /// The handle that the index of a cache's file has for a node.
    func handle(of identifier: String) throws -> UInt64 {
        let name = Array(identifier.utf8)
        guard
            let entry = try contents().index.first(where: { $0.key.dropFirst().elementsEqual(name) }
            )
        else {
            throw BenchmarkError.lacksRecord(identifier)
        }
        return entry.value.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
