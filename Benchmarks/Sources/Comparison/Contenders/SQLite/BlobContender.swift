import Feeds
import Foundation
import GRDB

/// Keeps whole feeds, encoded by Foundation, each as one value of one table. To change a feed, it
/// decodes and encodes all of it, in all feeds that show the change. If there is a limit, it
/// deletes the least recently used values.
final class BlobContender: Contender {
    private let file: SQLiteFile
    private let coder: DocumentCoder
    private let isCompressed: Bool
    private let limitBytes: Int?
    private var limit: BlobLimit?

    /// `limit` is in bytes of all files of the database.
    init(
        directory: String, durability: Durability, format: DocumentCoder.Format, limit: Int? = nil
    ) throws {
        var schema = [
            "CREATE TABLE IF NOT EXISTS blob (key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL)"
        ]
        if format == .compressedJSON {
            schema.append(
                "CREATE TABLE IF NOT EXISTS dictionary (id INTEGER PRIMARY KEY, value BLOB)")
        }
        if limit != nil {
            schema += [BlobLimit.schema, "PRAGMA wal_autocheckpoint = \(BlobLimit.logPages)"]
        }
        file = SQLiteFile(
            directory: directory, durability: durability, schema: schema.joined(separator: ";\n"))
        coder = DocumentCoder(format)
        limitBytes = limit
        isCompressed = format == .compressedJSON
    }

    func open() throws {
        try file.open()
        if isCompressed, let dictionary = try storedDictionary() {
            try coder.use(dictionary: dictionary)
        }
        guard let limitBytes else { return }
        let path = try pool.path
        limit = try pool.writeWithoutTransaction { db in
            try BlobLimit(bytes: limitBytes, path: path, db)
        }
    }

    func close() throws {
        if let limit { try pool.write { db in try limit.storeUses(db) } }
        limit = nil
        try file.close()
    }

    /// The number of values, if there is a limit.
    var limitedCount: Int? { limit?.count }

    private var pool: DatabasePool { get throws { try file.pool } }

    func write(_ feed: Feed) throws { try put(feed, "feed:" + feed.id) }

    func read(_ feed: String) throws -> FeedRead? {
        try get(Feed.self, "feed:" + feed).map { feed in FeedRead(feed) }
    }

    func person(_ id: String, shownIn feed: String) throws -> Person? {
        try get(Feed.self, "feed:" + feed)?.person(id)
    }

    func update(_ person: Person, shownIn feeds: [String]) throws {
        try change(feeds) { $0.showing(person) }
    }

    func delete(person id: String, shownIn feeds: [String]) throws {
        try change(feeds) { $0.without(person: id) }
    }

    func setCollection(_ people: [Person], forKey key: String) throws {
        try put(people, "collection:" + key)
    }

    func append(_ page: [Person], to current: [Person], forKey key: String) throws {
        try put(current + page, "collection:" + key)
    }

    func collection(forKey key: String) throws -> [Person]? {
        try get([Person].self, "collection:" + key)
    }

    private func put(_ value: some Encodable, _ key: String) throws {
        let document = try coder.document(of: value)
        if let dictionary = coder.train(with: document) {
            try store(dictionary: dictionary)
            try coder.use(dictionary: dictionary)
        }
        let bytes = try coder.compress(document)
        try pool.write { [limit] db in try Self.put(bytes, key, db, limit) }
    }

    private static func put(
        _ bytes: Data, _ key: String, _ db: Database, _ limit: BlobLimit?
    ) throws {
        try limit?.makeRoom(for: key, byteCount: bytes.count, db)
        let statement = try PreparedStatement(
            db,
            """
            INSERT INTO blob (key, value) VALUES (?, ?)
            ON CONFLICT DO UPDATE SET value = excluded.value WHERE value != excluded.value
            """)
        statement.bind(key, at: 1)
        try bytes.withUnsafeBytes { bytes in
            statement.bind(bytes, at: 2)
            try statement.run()
        }
    }

    private func get<Value: Decodable>(_ type: Value.Type, _ key: String) throws -> Value? {
        // There is one statement, which needs no snapshot.
        let value = try pool.unsafeRead { [coder] db in try Self.get(type, key, db, coder) }
        if value != nil { limit?.use(key) }
        return value
    }

    private static func get<Value: Decodable>(
        _ type: Value.Type, _ key: String, _ db: Database, _ coder: DocumentCoder
    ) throws -> Value? {
        let statement = try PreparedStatement(db, "SELECT value FROM blob WHERE key = ?")
        statement.bind(key, at: 1)
        return try statement.firstRow { row in
            try coder.decode(type, from: Data(borrowing: row.blob(0)))
        }
    }

    /// Changes all feeds in one transaction. If there is a limit, each has one of its own, because
    /// the log of a long transaction would exceed it.
    private func change(_ feeds: [String], _ body: (Feed) -> Feed) throws {
        for feeds in limit == nil ? [feeds] : feeds.map({ [$0] }) {
            try pool.write { [coder, limit] db in
                for feed in feeds {
                    guard let stored = try Self.get(Feed.self, "feed:" + feed, db, coder) else {
                        continue
                    }
                    try Self.put(try coder.encode(body(stored)), "feed:" + feed, db, limit)
                }
            }
        }
    }

    // MARK: The dictionary

    private func storedDictionary() throws -> Data? {
        try pool.unsafeRead { db in
            try PreparedStatement(db, "SELECT value FROM dictionary").firstRow { row in
                Data(row.blob(0))
            }
        }
    }

    private func store(dictionary: Data) throws {
        try pool.write { db in
            let statement = try PreparedStatement(
                db, "INSERT OR REPLACE INTO dictionary (id, value) VALUES (1, ?)")
            try dictionary.withUnsafeBytes { bytes in
                statement.bind(bytes, at: 1)
                try statement.run()
            }
        }
    }
}
