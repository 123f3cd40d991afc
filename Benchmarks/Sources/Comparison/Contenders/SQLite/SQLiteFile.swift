import Foundation
import GRDB

/// Opens SQLite for all contenders that use it: as a pool, so that readers do not wait for the
/// writer.
final class SQLiteFile {
    private let directory: String
    private let durability: Durability
    private let schema: String
    private var opened: DatabasePool?

    /// `schema` creates the tables if there are none.
    init(directory: String, durability: Durability, schema: String) {
        self.directory = directory
        self.durability = durability
        self.schema = schema
    }

    var pool: DatabasePool {
        get throws {
            guard let opened else { throw ComparisonError.missing("an open database") }
            return opened
        }
    }

    func close() throws {
        try opened?.close()
        opened = nil
    }

    func open() throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        var configuration = Configuration()
        configuration.maximumReaderCount = 8
        configuration.prepareDatabase { db in
            // Reads pages from the map instead of copying them. Pages larger than 4 KiB made no
            // difference, also for whole feeds. Does not overwrite deleted data with zeros, as
            // Debian's SQLite does by default. GRDB enforces foreign keys by itself.
            try db.execute(
                sql: """
                    PRAGMA mmap_size = \(1 << 30);
                    PRAGMA cache_size = -\(64 << 10);
                    PRAGMA secure_delete = OFF;
                    PRAGMA temp_store = MEMORY;
                    """)
        }
        let pool = try DatabasePool(
            path: directory + "/contents.sqlite", configuration: configuration)
        try pool.writeWithoutTransaction { db in
            // The pool has set NORMAL before. Data that the operating system has outlives the
            // process with or without a sync: for that, OFF is as good as NORMAL, and faster. FULL
            // syncs the log once with each commit.
            try db.execute(sql: "PRAGMA synchronous = \(durability == .process ? "OFF" : "FULL")")
            try db.execute(sql: schema)
        }
        opened = pool
    }
}
