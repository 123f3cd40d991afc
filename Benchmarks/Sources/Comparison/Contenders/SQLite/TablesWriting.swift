import Feeds
import GRDB

/// Writes a feed row by row. Rows that are stored and the same stay as they are, and so do the
/// indexes and the log.
struct TablesWriting {
    private let db: Database
    private let people: PersonWriting
    private let posts: PreparedStatement
    private let comments: PreparedStatement
    private let surplusComments: PreparedStatement
    private let places: PreparedStatement
    private var written: Set<String> = []

    init(_ db: Database) throws {
        self.db = db
        people = try PersonWriting(db)
        posts = try PreparedStatement(
            db,
            """
            INSERT INTO post (id, text, created_at, likes_count, replies_count, is_pinned, author)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET text = excluded.text, created_at = excluded.created_at,
                likes_count = excluded.likes_count, replies_count = excluded.replies_count,
                is_pinned = excluded.is_pinned, author = excluded.author
            WHERE (text, created_at, likes_count, replies_count, is_pinned, author) != (excluded.text,
                excluded.created_at, excluded.likes_count, excluded.replies_count, excluded.is_pinned, excluded.author)
            """)
        comments = try PreparedStatement(
            db,
            """
            INSERT INTO comment (post, position, id, text, created_at, likes_count, is_edited, author)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET id = excluded.id, text = excluded.text, created_at = excluded.created_at,
                likes_count = excluded.likes_count, is_edited = excluded.is_edited, author = excluded.author
            WHERE (id, text, created_at, likes_count, is_edited, author) != (excluded.id, excluded.text,
                excluded.created_at, excluded.likes_count, excluded.is_edited, excluded.author)
            """)
        surplusComments = try PreparedStatement(
            db, "DELETE FROM comment WHERE post = ? AND position >= ?")
        places = try PreparedStatement(
            db,
            """
            INSERT INTO feed_post (feed, position, post) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET post = excluded.post WHERE post != excluded.post
            """)
    }

    mutating func write(_ feed: Feed) throws {
        let statement = try PreparedStatement(
            db,
            """
            INSERT INTO feed (id, title) VALUES (?, ?)
            ON CONFLICT DO UPDATE SET title = excluded.title WHERE title != excluded.title
            """)
        statement.bind(feed.id, at: 1)
        statement.bind(feed.title, at: 2)
        try statement.run()
        places.bind(feed.id, at: 1)
        for (position, post) in feed.posts.enumerated() {
            try write(post)
            places.bind(position, at: 2)
            places.bind(post.id, at: 3)
            try places.run()
        }
        let surplus = try PreparedStatement(
            db, "DELETE FROM feed_post WHERE feed = ? AND position >= ?")
        surplus.bind(feed.id, at: 1)
        surplus.bind(feed.posts.count, at: 2)
        try surplus.run()
    }

    private mutating func write(_ post: Post) throws {
        try write(post.author)
        posts.bind(post.id, at: 1)
        posts.bind(post.text, at: 2)
        posts.bind(post.createdAt, at: 3)
        posts.bind(post.likesCount, at: 4)
        posts.bind(post.repliesCount, at: 5)
        posts.bind(post.isPinned, at: 6)
        posts.bind(post.author.id, at: 7)
        try posts.run()
        comments.bind(post.id, at: 1)
        for (position, comment) in post.comments.enumerated() {
            try write(comment.author)
            comments.bind(position, at: 2)
            comments.bind(comment.id, at: 3)
            comments.bind(comment.text, at: 4)
            comments.bind(comment.createdAt, at: 5)
            comments.bind(comment.likesCount, at: 6)
            comments.bind(comment.isEdited, at: 7)
            comments.bind(comment.author.id, at: 8)
            try comments.run()
        }
        surplusComments.bind(post.id, at: 1)
        surplusComments.bind(post.comments.count, at: 2)
        try surplusComments.run()
    }

    private mutating func write(_ person: Person) throws {
        guard written.insert(person.id).inserted else { return }
        try people.write(person)
    }
}

struct PersonWriting {
    private let statement: PreparedStatement

    init(_ db: Database) throws {
        statement = try PreparedStatement(
            db,
            """
            INSERT INTO person (id, name, handle, headline, avatar, followers_count, following_count, is_verified)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET name = excluded.name, handle = excluded.handle, headline = excluded.headline,
                avatar = excluded.avatar, followers_count = excluded.followers_count,
                following_count = excluded.following_count, is_verified = excluded.is_verified
            WHERE (name, handle, headline, avatar, followers_count, following_count, is_verified) != (excluded.name,
                excluded.handle, excluded.headline, excluded.avatar, excluded.followers_count,
                excluded.following_count, excluded.is_verified)
            """)
    }

    func write(_ person: Person) throws {
        statement.bind(person.id, at: 1)
        statement.bind(person.name, at: 2)
        statement.bind(person.handle, at: 3)
        statement.bind(person.headline, at: 4)
        statement.bind(person.avatar, at: 5)
        statement.bind(person.followersCount, at: 6)
        statement.bind(person.followingCount, at: 7)
        statement.bind(person.isVerified, at: 8)
        try statement.run()
    }
}

struct ListWriting {
    let db: Database
    let key: String

    func clear() throws {
        let statement = try PreparedStatement(db, "DELETE FROM follower WHERE key = ?")
        statement.bind(key, at: 1)
        try statement.run()
    }

    /// Returns the position behind the last element.
    func end() throws -> Int {
        let statement = try PreparedStatement(
            db, "SELECT position FROM follower WHERE key = ? ORDER BY position DESC LIMIT 1")
        statement.bind(key, at: 1)
        return try statement.firstRow { row in row.integer(0) + 1 } ?? 0
    }

    func append(_ page: [Person], from start: Int) throws {
        let list = try PreparedStatement(
            db, "INSERT INTO list (key) VALUES (?) ON CONFLICT DO NOTHING")
        list.bind(key, at: 1)
        try list.run()
        let people = try PersonWriting(db)
        let places = try PreparedStatement(
            db, "INSERT INTO follower (key, position, person) VALUES (?, ?, ?)")
        places.bind(key, at: 1)
        for (offset, person) in page.enumerated() {
            try people.write(person)
            places.bind(start + offset, at: 2)
            places.bind(person.id, at: 3)
            try places.run()
        }
    }
}
