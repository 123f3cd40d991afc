import Feeds
import Foundation
import GRDB

/// Reads rows level by level, and puts the tree together.
struct RowReading {
    let db: Database
    let decoder: JSONDecoder

    func feed(_ id: String) throws -> Feed? {
        guard let feed = try rows(FeedRow.self, [RowKey.feed(id)]).values.first else { return nil }
        let posts = try rows(PostRow.self, feed.posts.map(\.key))
        let comments = try rows(CommentRow.self, posts.values.flatMap { $0.comments.map(\.key) })
        let authors = posts.values.map(\.author.key) + comments.values.map(\.author.key)
        let people = try rows(Person.self, Array(Set(authors)))
        return Feed(
            id: feed.id, title: feed.title,
            posts: feed.posts.compactMap { reference in
                // A node without its author is left out: it cannot be read.
                guard let post = posts[reference.key], let author = people[post.author.key] else {
                    return nil
                }
                return post.post(
                    author: author,
                    comments: post.comments.compactMap { reference in
                        guard let comment = comments[reference.key],
                            let author = people[comment.author.key]
                        else {
                            return nil
                        }
                        return comment.comment(author: author)
                    })
            })
    }

    func person(_ id: String) throws -> Person? {
        try rows(Person.self, [RowKey.person(id)]).values.first
    }

    func list(_ key: String) throws -> [Person]? {
        guard let list = try rows(ListRow.self, [RowKey.list(key)]).values.first else { return nil }
        let people = try rows(Person.self, Array(Set(list.people.map(\.key))))
        return list.people.compactMap { people[$0.key] }
    }

    /// Returns the rows of one type, by their keys. It decodes them as one array: calling the
    /// decoder for each takes a seventh longer, and `JSONSerialization`, with the casts, as long as
    /// that.
    ///
    /// One statement for many keys takes as long as one for each key, and as one for a list of keys
    /// in JSON.
    private func rows<Row: Decodable>(_ type: Row.Type, _ keys: [String]) throws -> [String: Row] {
        var json = Data("[".utf8)
        json.reserveCapacity(keys.count * 256)
        var found: [String] = []
        found.reserveCapacity(keys.count)
        func add(_ key: String, _ record: UnsafeRawBufferPointer) {
            if !found.isEmpty { json.append(UInt8(ascii: ",")) }
            json.append(contentsOf: record)
            found.append(key)
        }
        try db.forEachRecord(keys, add)
        json.append(UInt8(ascii: "]"))
        let rows = try decoder.decode([Row].self, from: json)
        return Dictionary(zip(found, rows)) { first, _ in first }
    }
}

extension Database {
    /// Returns the stored records of `keys`, in no order, without those that are missing.
    func forEachRecord(
        _ keys: [String], _ body: (_ key: String, _ record: UnsafeRawBufferPointer) throws -> Void
    )
        throws
    {
        for chunk in keys.chunks(of: maximumStatementArgumentCount) {
            let marks = "?" + String(repeating: ",?", count: chunk.count - 1)
            let statement = try PreparedStatement(
                self, "SELECT key, record FROM record WHERE key IN (\(marks))",
                isKept: chunk.count == 1)
            for (index, key) in zip(Int32(1)..., chunk) { statement.bind(key, at: index) }
            try statement.forEachRow { row in try body(row.text(0), row.blob(1)) }
        }
    }
}

extension Array {
    fileprivate func chunks(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map {
            self[$0..<Swift.min($0 + count, self.count)]
        }
    }
}
