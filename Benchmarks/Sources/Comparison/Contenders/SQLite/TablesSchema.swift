extension TablesContender {
    /// Tables are their own indexes: identifiers are short, and comments lie beside those of the
    /// same post. References to people and posts have an index, by which a deletion finds them.
    static let schema = """
        CREATE TABLE IF NOT EXISTS person (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, handle TEXT NOT NULL, headline TEXT NOT NULL,
            avatar TEXT NOT NULL, followers_count INTEGER NOT NULL, following_count INTEGER NOT NULL,
            is_verified INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS post (
            id TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL, created_at REAL NOT NULL, likes_count INTEGER NOT NULL,
            replies_count INTEGER NOT NULL, is_pinned INTEGER NOT NULL,
            author TEXT NOT NULL REFERENCES person ON DELETE CASCADE
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS post_author ON post (author);
        CREATE TABLE IF NOT EXISTS comment (
            post TEXT NOT NULL REFERENCES post ON DELETE CASCADE, position INTEGER NOT NULL, id TEXT NOT NULL,
            text TEXT NOT NULL, created_at REAL NOT NULL, likes_count INTEGER NOT NULL, is_edited INTEGER NOT NULL,
            author TEXT NOT NULL REFERENCES person ON DELETE CASCADE,
            PRIMARY KEY (post, position)
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS comment_author ON comment (author);
        CREATE TABLE IF NOT EXISTS feed (id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS feed_post (
            feed TEXT NOT NULL REFERENCES feed ON DELETE CASCADE, position INTEGER NOT NULL,
            post TEXT NOT NULL REFERENCES post ON DELETE CASCADE,
            PRIMARY KEY (feed, position)
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS feed_post_post ON feed_post (post);
        CREATE TABLE IF NOT EXISTS list (key TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS follower (
            key TEXT NOT NULL REFERENCES list ON DELETE CASCADE, position INTEGER NOT NULL,
            person TEXT NOT NULL REFERENCES person ON DELETE CASCADE,
            PRIMARY KEY (key, position)
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS follower_person ON follower (person);
        """
}
