import Feeds
import GRDB

/// Reads by joins. CROSS JOIN makes SQLite join in the written order.
struct TablesReading {
    let db: Database

    private static let personColumns = """
        person.id, person.name, person.handle, person.headline, person.avatar, person.followers_count, \
        person.following_count, person.is_verified
        """

    func feed(_ id: String) throws -> Feed? {
        let feed = try PreparedStatement(db, "SELECT title FROM feed WHERE id = ?")
        feed.bind(id, at: 1)
        guard let title = try feed.firstRow({ row in row.text(0) }) else { return nil }
        var people = MadePeople()
        var comments = try comments(feed: id, &people)[...]
        let statement = try PreparedStatement(
            db,
            """
            SELECT \(Self.personColumns), feed_post.position, post.id, post.text, post.created_at, post.likes_count,
                post.replies_count, post.is_pinned
            FROM feed_post CROSS JOIN post ON post.id = feed_post.post CROSS JOIN person ON person.id = post.author
            WHERE feed_post.feed = ? ORDER BY feed_post.position
            """)
        statement.bind(id, at: 1)
        var posts: [Post] = []
        try statement.forEachRow { row in
            let position = row.integer(8)
            let own = comments.prefix { $0.post == position }
            comments.removeFirst(own.count)
            posts.append(
                Post(
                    id: row.text(9), text: row.text(10), createdAt: row.double(11),
                    likesCount: row.integer(12),
                    repliesCount: row.integer(13), isPinned: row.bool(14),
                    author: people.person(row),
                    comments: own.map(\.comment)))
        }
        return Feed(id: id, title: title, posts: posts)
    }

    /// Returns rows in order, each with the position of its post.
    private func comments(feed id: String, _ people: inout MadePeople) throws -> [(
        post: Int, comment: Comment
    )] {
        let statement = try PreparedStatement(
            db,
            """
            SELECT \(Self.personColumns), feed_post.position, comment.id, comment.text, comment.created_at,
                comment.likes_count, comment.is_edited
            FROM feed_post CROSS JOIN comment ON comment.post = feed_post.post
                CROSS JOIN person ON person.id = comment.author
            WHERE feed_post.feed = ? ORDER BY feed_post.position, comment.position
            """)
        statement.bind(id, at: 1)
        var comments: [(post: Int, comment: Comment)] = []
        try statement.forEachRow { row in
            let comment = Comment(
                id: row.text(9), text: row.text(10), createdAt: row.double(11),
                likesCount: row.integer(12),
                isEdited: row.bool(13), author: people.person(row))
            comments.append((row.integer(8), comment))
        }
        return comments
    }

    func person(_ id: String) throws -> Person? {
        let statement = try PreparedStatement(
            db, "SELECT \(Self.personColumns) FROM person WHERE id = ?")
        statement.bind(id, at: 1)
        return try statement.firstRow { row in Person(row, id: id) }
    }

    func list(_ key: String) throws -> [Person]? {
        let list = try PreparedStatement(db, "SELECT 1 FROM list WHERE key = ?")
        list.bind(key, at: 1)
        guard try list.firstRow({ _ in true }) != nil else { return nil }
        let statement = try PreparedStatement(
            db,
            """
            SELECT \(Self.personColumns) FROM follower CROSS JOIN person ON person.id = follower.person
            WHERE follower.key = ? ORDER BY follower.position
            """)
        statement.bind(key, at: 1)
        var people: [Person] = []
        try statement.forEachRow { row in people.append(Person(row, id: row.text(0))) }
        return people
    }
}

/// Makes each person once in a read: half of the nodes of a feed are people, many of them the same.
private struct MadePeople {
    private var people: [String: Person] = [:]

    mutating func person(_ row: PreparedStatement) -> Person {
        let id = row.text(0)
        if let made = people[id] { return made }
        let person = Person(row, id: id)
        people[id] = person
        return person
    }
}

extension Person {
    /// Makes a person from the first columns of a row.
    fileprivate init(_ row: PreparedStatement, id: String) {
        self.init(
            id: id, name: row.text(1), handle: row.text(2), headline: row.text(3),
            avatar: row.text(4),
            followersCount: row.integer(5), followingCount: row.integer(6), isVerified: row.bool(7))
    }
}
