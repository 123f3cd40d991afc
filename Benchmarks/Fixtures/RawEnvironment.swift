import CLMDB
import EspalierInspection
import EspalierRecords
public import EspalierStore
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

    /// Creates an empty environment, as durable as `noSync`.
    public init(directory: String) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        var created: OpaquePointer?
        try Self.check(mdb_env_create(&created))
        environment = created!  // the call above made it
        try Self.check(mdb_env_set_mapsize(environment, 1 << 30))
        try Self.check(mdb_env_set_maxdbs(environment, 16))
        try Self.check(
            mdb_env_open(environment, directory, UInt32(MDB_NOSYNC | MDB_NOTLS), 0o600))
        let start = try Self.begin(environment, 0)
        nodes = try Self.keyspace("nodes", start, UInt32(MDB_CREATE))
        index = try Self.keyspace("index", start, UInt32(MDB_CREATE))
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
}

/// The records of a tree and their names, as entries of two keyspaces.
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

extension RawRecords {
    /// Copies the records of a cache, one by one and decompressed, and makes an index of them: the
    /// name of each node with its handle.
    public init(copying cache: NormalizedCache) throws {
        var records = RawRecords()
        try cache.inspect { inspection in
            try inspection.forEachRecord { handle, stored in
                guard case .record(let record) = stored else { return true }
                let key = (0..<8).map {
                    UInt8(truncatingIfNeeded: handle.rawValue >> UInt64(56 - 8 * $0))
                }
                records.nodes.append(Entry(key: key, value: try inspection.bytes(of: handle) ?? []))
                records.index.append(Entry(key: Array(record.identifier.utf8), value: key))
                return true
            }
        }
        self = records
    }

    /// Returns the handle of a node.
    public func handle(of identifier: String) throws -> UInt64 {
        let name = Array(identifier.utf8)
        guard let entry = index.first(where: { $0.key == name }) else {
            throw RawEnvironment.Failure.lacksRecord(identifier)
        }
        return entry.value.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
