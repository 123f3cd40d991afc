import Feeds
import Foundation
import GRDB

/// Keeps whole feeds, encoded by Foundation, each as one value of one table. To change a feed, it
/// decodes and encodes all of it, in all feeds that show the change.
final class BlobContender: Contender {
    enum Format: Sendable {
        case json, propertyList
    }

    private let file: SQLiteFile
    private let coder: BlobCoder

    init(directory: String, durability: Durability, format: Format) throws {
        file = SQLiteFile(
            directory: directory, durability: durability,
            schema:
                "CREATE TABLE IF NOT EXISTS blob (key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL)"
        )
        coder = BlobCoder(format)
    }

    func open() throws { try file.open() }
    func close() throws { try file.close() }

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
        let bytes = try coder.encode(value)
        try pool.write { db in try Self.put(bytes, key, db) }
    }

    private static func put(_ bytes: Data, _ key: String, _ db: Database) throws {
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

    /// One statement needs no transaction around it.
    private func get<Value: Decodable>(_ type: Value.Type, _ key: String) throws -> Value? {
        try pool.unsafeRead { [coder] db in try Self.get(type, key, db, coder) }
    }

    private static func get<Value: Decodable>(
        _ type: Value.Type, _ key: String, _ db: Database, _ coder: BlobCoder
    ) throws -> Value? {
        let statement = try PreparedStatement(db, "SELECT value FROM blob WHERE key = ?")
        statement.bind(key, at: 1)
        return try statement.firstRow { row in
            try coder.decode(type, from: Data(borrowing: row.blob(0)))
        }
    }

    private func change(_ feeds: [String], _ body: (Feed) -> Feed) throws {
        try pool.write { [coder] db in
            for feed in feeds {
                guard let stored = try Self.get(Feed.self, "feed:" + feed, db, coder) else {
                    continue
                }
                try Self.put(try coder.encode(body(stored)), "feed:" + feed, db)
            }
        }
    }
}

/// The coders of one format. Several threads may use Foundation's coders at a time.
private struct BlobCoder: Sendable {
    private let format: BlobContender.Format
    private let jsonEncoder = JSONEncoder()
    private let jsonDecoder = JSONDecoder()
    private let listEncoder = PropertyListEncoder()
    private let listDecoder = PropertyListDecoder()

    init(_ format: BlobContender.Format) {
        self.format = format
        jsonEncoder.outputFormatting = .withoutEscapingSlashes
        listEncoder.outputFormat = .binary
    }

    func encode(_ value: some Encodable) throws -> Data {
        switch format {
        case .json: try jsonEncoder.encode(value)
        case .propertyList: try listEncoder.encode(value)
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
        switch format {
        case .json: try jsonDecoder.decode(type, from: bytes)
        case .propertyList: try listDecoder.decode(type, from: bytes)
        }
    }
}
