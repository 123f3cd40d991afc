import CRocksDB
import Foundation

/// An open RocksDB, configured for reading whole values by key.
///
/// Unchecked: RocksDB lets all threads use its pointers, which never change.
final class RocksStore: @unchecked Sendable {
    private let database: OpaquePointer
    /// The handle of the one column family, which reading many keys at once needs.
    private let family: OpaquePointer
    private let options: OpaquePointer
    private let writeOptions: OpaquePointer

    init(directory: String, durability: Durability) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        options = Self.makeOptions()
        writeOptions = rocksdb_writeoptions_create()
        // RocksDB always writes the log, which the operating system then has. With sync, each write
        // waits until the log is on the disk.
        rocksdb_writeoptions_set_sync(writeOptions, durability == .power ? 1 : 0)
        do {
            (database, family) = try Self.open(directory, options)
        } catch {
            rocksdb_writeoptions_destroy(writeOptions)
            rocksdb_options_destroy(options)
            throw error
        }
    }

    deinit {
        rocksdb_column_family_handle_destroy(family)
        rocksdb_close(database)
        rocksdb_writeoptions_destroy(writeOptions)
        rocksdb_options_destroy(options)
    }

    /// Options that are not set made no difference: blocks of 2 to 16 KiB, hashes in blocks, and
    /// maps of the files.
    private static func makeOptions() -> OpaquePointer {
        let options: OpaquePointer = rocksdb_options_create()
        rocksdb_options_set_create_if_missing(options, 1)
        // Compression does not slow down reading feeds, because the cache holds the blocks as they
        // were before. They take a quarter less.
        rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
        rocksdb_options_set_allow_concurrent_memtable_write(options, 0)
        rocksdb_options_set_keep_log_file_num(options, 1)
        let table: OpaquePointer = rocksdb_block_based_options_create()
        let cache: OpaquePointer = rocksdb_cache_create_lru(64 << 20)
        rocksdb_block_based_options_set_block_cache(table, cache)
        rocksdb_cache_destroy(cache)  // the options keep it
        rocksdb_block_based_options_set_filter_policy(
            table, rocksdb_filterpolicy_create_bloom_full(10))
        rocksdb_options_set_block_based_table_factory(options, table)
        rocksdb_block_based_options_destroy(table)
        return options
    }

    private static func open(_ directory: String, _ options: OpaquePointer) throws -> (
        OpaquePointer, OpaquePointer
    ) {
        var family: OpaquePointer?
        let database: OpaquePointer? = try "default".withCString { name in
            var name: UnsafePointer<CChar>? = name
            var options: OpaquePointer? = options
            return try call {
                rocksdb_open_column_families(options, directory, 1, &name, &options, &family, &$0)
            }
        }
        guard let database, let family else { throw ComparisonError.missing("an open database") }
        return (database, family)
    }

    /// Throws the error message of RocksDB.
    static func call<Result>(_ body: (inout UnsafeMutablePointer<CChar>?) -> Result) throws
        -> Result
    {
        var complaint: UnsafeMutablePointer<CChar>?
        let result = body(&complaint)
        guard let complaint else { return result }
        defer { rocksdb_free(complaint) }
        throw ComparisonError.rocksDB(String(cString: complaint))
    }

    /// Reads one state, whatever is written meanwhile.
    func read<Result>(_ body: (inout RocksReading) throws -> Result) throws -> Result {
        let snapshot = rocksdb_create_snapshot(database)
        let readOptions: OpaquePointer = rocksdb_readoptions_create()
        rocksdb_readoptions_set_snapshot(readOptions, snapshot)
        var reading = RocksReading(RocksPins(database, family, readOptions))
        defer {
            reading.pins.release()
            rocksdb_readoptions_destroy(readOptions)
            rocksdb_release_snapshot(database, snapshot)
        }
        return try body(&reading)
    }

    /// Puts and deletes everything or nothing.
    func write(_ body: (inout RocksWriting) throws -> Void) throws {
        var writing = RocksWriting()
        try body(&writing)
        try Self.call { rocksdb_write(database, writeOptions, writing.batch, &$0) }
    }
}
