import Feeds
import Foundation
import GRDB

/// The design of Apollo iOS's cache, with rows that are decoded as their types, where Apollo has
/// records without types: each node is one row of JSON under its key, with references to its
/// children, and is read level by level.
final class RowsContender: Contender {
    private let file: SQLiteFile
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    init(directory: String, durability: Durability) throws {
        file = SQLiteFile(directory: directory, durability: durability, schema: RowTable.schema)
        encoder.outputFormatting = .withoutEscapingSlashes
    }

    func open() throws { try file.open() }
    func close() throws { try file.close() }

    private var pool: DatabasePool { get throws { try file.pool } }

    private func reading<Result>(_ body: (RowReading) throws -> Result) throws -> Result {
        try pool.read { db in try body(RowReading(db: db, decoder: decoder)) }
    }

    func write(_ feed: Feed) throws {
        var rows = EncodedRows(encoder)
        try rows.add(feed)
        try put(rows)
    }

    func read(_ feed: String) throws -> FeedRead? {
        try reading { rows in try rows.feed(feed) }.map { feed in FeedRead(feed) }
    }

    func person(_ id: String, shownIn feed: String) throws -> Person? {
        try reading { rows in try rows.person(id) }
    }

    func update(_ person: Person, shownIn feeds: [String]) throws {
        var rows = EncodedRows(encoder)
        try rows.add(person)
        try put(rows)
    }

    func delete(person id: String, shownIn feeds: [String]) throws {
        try pool.write { db in try RowTable.delete(RowKey.person(id), in: db) }
    }

    func setCollection(_ people: [Person], forKey key: String) throws {
        try append(people, to: [], forKey: key)
    }

    /// The list's row has all references, and is written whole.
    func append(_ page: [Person], to current: [Person], forKey key: String) throws {
        var rows = EncodedRows(encoder)
        for person in page { try rows.add(person) }
        try rows.add(ListRow(current + page), RowKey.list(key))
        try put(rows)
    }

    func collection(forKey key: String) throws -> [Person]? {
        try reading { rows in try rows.list(key) }
    }

    /// Replaces stored rows that differ, which SQLite finds out without decoding. Apollo loads and
    /// decodes the stored rows first, to merge: a rewrite of a feed would also cost a read of it.
    private func put(_ rows: EncodedRows) throws {
        try pool.write { db in try RowTable.put(rows.rows, in: db) }
    }
}

/// The table of rows.
enum RowTable {
    // The rows are small: a table that is its own index saves each lookup a second search.
    static let schema = """
        CREATE TABLE IF NOT EXISTS record (key TEXT PRIMARY KEY NOT NULL, record BLOB NOT NULL) WITHOUT ROWID
        """

    static func put(_ rows: [(key: String, json: Data)], in db: Database) throws {
        let statement = try PreparedStatement(db, upsert)
        for row in rows {
            statement.bind(row.key, at: 1)
            try row.json.withUnsafeBytes { json in
                statement.bind(json, at: 2)
                try statement.run()
            }
        }
    }

    static func delete(_ key: String, in db: Database) throws {
        let statement = try PreparedStatement(db, "DELETE FROM record WHERE key = ?")
        statement.bind(key, at: 1)
        try statement.run()
    }

    private static let upsert = """
        INSERT INTO record (key, record) VALUES (?, ?)
        ON CONFLICT DO UPDATE SET record = excluded.record WHERE record != excluded.record
        """
}

/// The rows of a write, encoded before the transaction begins. A person is encoded once.
private struct EncodedRows {
    private(set) var rows: [(key: String, json: Data)] = []
    private var people: Set<String> = []
    private let encoder: JSONEncoder

    init(_ encoder: JSONEncoder) { self.encoder = encoder }

    mutating func add(_ row: some Encodable, _ key: String) throws {
        rows.append((key, try encoder.encode(row)))
    }

    mutating func add(_ person: Person) throws {
        guard people.insert(person.id).inserted else { return }
        try add(person, RowKey.person(person.id))
    }

    mutating func add(_ feed: Feed) throws {
        try add(FeedRow(feed), RowKey.feed(feed.id))
        for post in feed.posts {
            try add(PostRow(post), RowKey.post(post.id))
            try add(post.author)
            for comment in post.comments {
                try add(CommentRow(comment), RowKey.comment(comment.id))
                try add(comment.author)
            }
        }
    }
}
