import CLMDB
import Foundation

/// LMDB's own calls over one file, with no safety and no abstraction.
///
/// Threading: one thread at a time.
public final class RawEnvironment {
    /// A call that LMDB refused, or a record that is not there.
    public enum Failure: Error, CustomStringConvertible {
        case lmdb(Int32)
        case lacksRecord(String)

        public var description: String {
            switch self {
            case .lmdb(let code): "LMDB failed with error \(code)"
            case .lacksRecord(let identifier): "the copy of the cache lacks \(identifier)"
            }
        }
    }

    private let environment: OpaquePointer
    let nodes: MDB_dbi
    private let index: MDB_dbi
    private let reader: OpaquePointer

    /// Creates an empty environment, as durable as `noSync`; or opens the file of a closed cache
    /// if `isReadingCache`.
    public init(directory: String, isReadingCache: Bool = false) throws {
        if !isReadingCache {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true)
        }
        var created: OpaquePointer?
        try Self.check(mdb_env_create(&created))
        environment = created!  // the call above made it
        try Self.check(mdb_env_set_mapsize(environment, 1 << 30))
        try Self.check(mdb_env_set_maxdbs(environment, 16))
        let flags = isReadingCache ? MDB_RDONLY | MDB_NOLOCK : MDB_NOSYNC
        try Self.check(mdb_env_open(environment, directory, UInt32(flags | MDB_NOTLS), 0o600))
        let start = try Self.begin(environment, isReadingCache ? UInt32(MDB_RDONLY) : 0)
        let creates = isReadingCache ? 0 : UInt32(MDB_CREATE)
        nodes = try Self.keyspace("nodes", start, creates)
        index = try Self.keyspace("index", start, creates)
        try Self.check(mdb_txn_commit(start))
        reader = try Self.begin(environment, UInt32(MDB_RDONLY))
        mdb_txn_reset(reader)
    }

    deinit {
        mdb_txn_abort(reader)
        mdb_env_close(environment)
    }

    static func check(_ code: Int32) throws {
        if code != 0 { throw Failure.lmdb(code) }
    }

    private static func keyspace(_ name: String, _ transaction: OpaquePointer, _ flags: UInt32)
        throws -> MDB_dbi
    {
        var keyspace: MDB_dbi = 0
        try check(mdb_dbi_open(transaction, name, flags, &keyspace))
        return keyspace
    }

    private static func begin(_ environment: OpaquePointer, _ flags: UInt32) throws
        -> OpaquePointer
    {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, flags, &transaction))
        return transaction!  // the call above made it
    }

    func read<R>(_ body: (OpaquePointer) throws -> R) throws -> R {
        try Self.check(mdb_txn_renew(reader))
        defer { mdb_txn_reset(reader) }
        return try body(reader)
    }

    /// Appends the records and puts the index entries, in one transaction.
    public func write(_ records: RawRecords) throws {
        let transaction = try Self.begin(environment, 0)
        for entry in records.nodes { try put(entry, in: nodes, transaction, UInt32(MDB_APPEND)) }
        for entry in records.index { try put(entry, in: index, transaction, 0) }
        try Self.check(mdb_txn_commit(transaction))
    }

    private func put(
        _ entry: RawRecords.Entry, in keyspace: MDB_dbi, _ transaction: OpaquePointer,
        _ flags: UInt32
    ) throws {
        try entry.key.withUnsafeBytes { keyBytes in
            try entry.value.withUnsafeBytes { valueBytes in
                // LMDB does not write through these pointers.
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

    /// Returns everything in the file.
    public func contents() throws -> RawRecords {
        try read { transaction in
            RawRecords(
                nodes: try entries(of: nodes, transaction),
                index: try entries(of: index, transaction))
        }
    }

    private func entries(of keyspace: MDB_dbi, _ transaction: OpaquePointer) throws
        -> [RawRecords.Entry]
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

    /// Returns the handle that the index of a cache's file has for a node.
    public func handle(of identifier: String) throws -> UInt64 {
        let name = Array(identifier.utf8)
        let entry = try contents().index.first { $0.key.dropFirst().elementsEqual(name) }
        guard let entry else { throw Failure.lacksRecord(identifier) }
        return entry.value.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Entries of the two keyspaces to which a cache writes a tree.
public struct RawRecords: Sendable {
    public struct Entry: Sendable {
        public let key: [UInt8]
        public let value: [UInt8]

        public init(key: [UInt8], value: [UInt8]) {
            self.key = key
            self.value = value
        }
    }

    public var nodes: [Entry]
    public var index: [Entry]

    public init(nodes: [Entry] = [], index: [Entry] = []) {
        self.nodes = nodes
        self.index = index
    }
}
