import Foundation
import GRDB

/// How all contenders that keep things in SQLite open it: a pool, so that readers do not wait for
/// the writer.
final class SQLiteFile {
    private let directory: String
    private let durability: Durability
    private let schema: String
    private var opened: DatabasePool?

    /// `schema` makes the tables where there are none.
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
            // Pages are read from the map instead of being copied; larger ones than those of 4 KiB
            // made no difference, also for whole feeds. What is deleted need not be overwritten
            // with zeros, as Debian's SQLite does unless told. GRDB enforces foreign keys by
            // itself.
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
            // After the pool set NORMAL. What the operating system has outlives the process,
            // whether it was told to sync or not: OFF is as good as NORMAL for that, and faster.
            // FULL syncs the log once with each commit.
            try db.execute(sql: "PRAGMA synchronous = \(durability == .process ? "OFF" : "FULL")")
            try db.execute(sql: schema)
        }
        opened = pool
    }
}
