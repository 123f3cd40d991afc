import Feeds
import GRDB

/// Normalized tables with foreign keys, read by joins: the design of a developer who starts from
/// SQL.
final class TablesContender: Contender {
    private let file: SQLiteFile

    init(directory: String, durability: Durability) throws {
        file = SQLiteFile(directory: directory, durability: durability, schema: Self.schema)
    }

    func open() throws { try file.open() }
    func close() throws { try file.close() }

    private var pool: DatabasePool { get throws { try file.pool } }

    func write(_ feed: Feed) throws {
        try pool.write { db in
            var writing = try TablesWriting(db)
            try writing.write(feed)
        }
    }

    func read(_ feed: String) throws -> FeedRead? {
        try pool.read { db in try TablesReading(db: db).feed(feed) }.map { feed in FeedRead(feed) }
    }

    /// One statement needs no transaction around it.
    func person(_ id: String, shownIn feed: String) throws -> Person? {
        try pool.unsafeRead { db in try TablesReading(db: db).person(id) }
    }

    func update(_ person: Person, shownIn feeds: [String]) throws {
        try pool.write { db in try PersonWriting(db).write(person) }
    }

    func delete(person id: String, shownIn feeds: [String]) throws {
        try pool.write { db in
            let statement = try PreparedStatement(db, "DELETE FROM person WHERE id = ?")
            statement.bind(id, at: 1)
            try statement.run()
        }
    }

    func setCollection(_ people: [Person], forKey key: String) throws {
        try pool.write { db in
            let lists = ListWriting(db: db, key: key)
            try lists.clear()
            try lists.append(people, from: 0)
        }
    }

    func append(_ page: [Person], to current: [Person], forKey key: String) throws {
        try pool.write { db in
            let lists = ListWriting(db: db, key: key)
            try lists.append(page, from: try lists.end())
        }
    }

    func collection(forKey key: String) throws -> [Person]? {
        try pool.read { db in try TablesReading(db: db).list(key) }
    }
}
