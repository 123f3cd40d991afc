import Foundation
import GRDB
import Synchronization

/// Keeps a database of blobs within a number of bytes: before a blob is stored, it deletes those
/// that were used least recently.
///
/// Uses by readers are written with the next write, so that a read is no write.
final class BlobLimit: Sendable {
    /// SQLite moves the log into the database when the log has this many pages. The log counts
    /// against the limit; the default of 1,000 pages would take 4 MiB.
    static let logPages = 16

    static let schema = """
        CREATE TABLE IF NOT EXISTS recency (key TEXT PRIMARY KEY NOT NULL, use INTEGER NOT NULL)
            WITHOUT ROWID
        """

    fileprivate struct State {
        var order = RecencyOrder()
        /// The numbers of uses that the table lacks.
        var pending: [String: Int] = [:]
        var lastUse = 0
    }

    private let bytes: Int
    private let path: String
    private let state: Mutex<State>

    /// Loads the order of use. `path` is that of the database.
    init(bytes: Int, path: String, _ db: Database) throws {
        self.bytes = bytes
        self.path = path
        var loaded = State()
        let statement = try PreparedStatement(
            db,
            """
            SELECT blob.key, coalesce(use, 0) FROM blob LEFT JOIN recency USING (key) ORDER BY use
            """)
        try statement.forEachRow { row in
            loaded.order.use(row.text(0))
            loaded.lastUse = max(loaded.lastUse, row.integer(1))
        }
        state = Mutex(loaded)
    }

    /// The number of blobs.
    var count: Int { state.withLock { $0.order.count } }

    /// Notes that a stored blob was read.
    func use(_ key: String) {
        state.withLock { state in
            guard state.order.contains(key) else { return }
            state.use(key)
        }
    }

    /// Makes room for a blob that is about to be stored, and makes it the most recently used one.
    func makeRoom(for key: String, byteCount: Int, _ db: Database) throws {
        try state.withLock { state in
            state.use(key)
            let pageSize = try PreparedStatement.integer(db, "PRAGMA page_size")
            // Beside the pages of the blob itself, some that the trees may need.
            let needed = byteCount / (pageSize - 4) + 8
            let room = (try bytes - logBytes()) / pageSize - needed
            while state.order.count > 1, try Self.usedPages(db) > room,
                let oldest = state.order.removeLeastRecentlyUsed()
            {
                state.pending[oldest] = nil
                try Self.delete(oldest, db)
            }
            try state.storeUses(db)
        }
    }

    func storeUses(_ db: Database) throws { try state.withLock { try $0.storeUses(db) } }

    /// The log and its index beside the database.
    private func logBytes() throws -> Int {
        ["-wal", "-shm"].reduce(0) { sum, suffix in
            var status = stat()
            return stat(path + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }

    private static func usedPages(_ db: Database) throws -> Int {
        try PreparedStatement.integer(db, "PRAGMA page_count")
            - PreparedStatement.integer(db, "PRAGMA freelist_count")
    }

    private static func delete(_ key: String, _ db: Database) throws {
        for table in ["blob", "recency"] {
            let statement = try PreparedStatement(db, "DELETE FROM \(table) WHERE key = ?")
            statement.bind(key, at: 1)
            try statement.run()
        }
    }
}

extension BlobLimit.State {
    fileprivate mutating func use(_ key: String) {
        order.use(key)
        lastUse += 1
        pending[key] = lastUse
    }

    fileprivate mutating func storeUses(_ db: Database) throws {
        let statement = try PreparedStatement(
            db, "INSERT OR REPLACE INTO recency (key, use) VALUES (?, ?)")
        for (key, use) in pending {
            statement.bind(key, at: 1)
            statement.bind(use, at: 2)
            try statement.run()
        }
        pending = [:]
    }
}

extension PreparedStatement {
    /// Returns the only number that a statement returns.
    fileprivate static func integer(_ db: Database, _ sql: String) throws -> Int {
        try PreparedStatement(db, sql).firstRow { $0.integer(0) } ?? 0
    }
}
