import Feeds
import Foundation
import GRDB

/// The cache of Apollo iOS as it is: rows of JSON become records without types, from which models
/// are made. A write is merged into the stored records.
final class GenericRowsContender: Contender {
    private let file: SQLiteFile

    init(directory: String, durability: Durability) throws {
        file = SQLiteFile(directory: directory, durability: durability, schema: RowTable.schema)
    }

    func open() throws { try file.open() }
    func close() throws { try file.close() }

    private var pool: DatabasePool { get throws { try file.pool } }

    // MARK: Writing

    func write(_ feed: Feed) throws { try merge(GenericRecord.records(of: feed)) }

    func update(_ person: Person, shownIn feeds: [String]) throws {
        try merge([RowKey.person(person.id): GenericRecord(person)])
    }

    func delete(person id: String, shownIn feeds: [String]) throws {
        try pool.write { db in try RowTable.delete(RowKey.person(id), in: db) }
    }

    func setCollection(_ people: [Person], forKey key: String) throws {
        try append(people, to: [], forKey: key)
    }

    func append(_ page: [Person], to current: [Person], forKey key: String) throws {
        var records = Dictionary(page.map { (RowKey.person($0.id), GenericRecord($0)) }) {
            first, _ in first
        }
        let references = (current + page).map { GenericRecord.Reference(key: RowKey.person($0.id)) }
        records[RowKey.list(key)] = GenericRecord(["people": references])
        try merge(records)
    }

    private func merge(_ records: [String: GenericRecord]) throws {
        try pool.write { db in
            let stored = try Self.records(Array(records.keys), in: db)
            var rows: [(key: String, json: Data)] = []
            for (key, record) in records {
                guard var merged = stored[key] else {
                    rows.append((key, try record.json()))
                    continue
                }
                if merged.merge(record) { rows.append((key, try merged.json())) }
            }
            try RowTable.put(rows, in: db)
        }
    }

    // MARK: Reading

    private static func records(_ keys: [String], in db: Database) throws -> [String: GenericRecord]
    {
        var found: [String: GenericRecord] = [:]
        try db.forEachRecord(keys) { key, record in
            found[key] = try GenericRecord(json: Data(record))
        }
        return found
    }

    func read(_ feed: String) throws -> FeedRead? {
        try pool.read { db in try Self.feed(feed, in: db) }.map { feed in FeedRead(feed) }
    }

    private static func feed(_ id: String, in db: Database) throws -> Feed? {
        guard let feed = try records([RowKey.feed(id)], in: db).values.first else { return nil }
        let keys = try feed.references("posts")
        let posts = try records(keys, in: db)
        let comments = try records(
            try posts.values.flatMap { try $0.references("comments") }, in: db)
        let authors =
            try posts.values.map { try $0.reference("author") }
            + comments.values.map { try $0.reference("author") }
        let people = try records(Array(Set(authors)), in: db).mapValues { try $0.person() }
        return Feed(
            id: try feed.value("id"), title: try feed.value("title"),
            posts: try keys.compactMap { key in
                // A node without its author is left out: it cannot be read.
                guard let post = posts[key], let author = people[try post.reference("author")]
                else { return nil }
                let written = try post.references("comments").compactMap { key -> Comment? in
                    guard let comment = comments[key],
                        let author = people[try comment.reference("author")]
                    else {
                        return nil
                    }
                    return try comment.comment(author: author)
                }
                return try post.post(author: author, comments: written)
            })
    }

    func person(_ id: String, shownIn feed: String) throws -> Person? {
        try pool.read { db in try Self.records([RowKey.person(id)], in: db).values.first?.person() }
    }

    func collection(forKey key: String) throws -> [Person]? {
        try pool.read { db in
            guard let list = try Self.records([RowKey.list(key)], in: db).values.first else {
                return nil
            }
            let keys = try list.references("people")
            let people = try Self.records(Array(Set(keys)), in: db)
            return try keys.compactMap { try people[$0]?.person() }
        }
    }
}
