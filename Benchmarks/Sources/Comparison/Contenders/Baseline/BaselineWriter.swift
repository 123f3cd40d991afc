import CLMDBRaw
import Feeds

/// One write: assigns handles, to children before their parents, and puts all records. The numbers
/// of new records ascend, so that they are appended.
struct BaselineWriter: ~Copyable {
    private let environment: BaselineEnvironment
    private let transaction: BaselineTransaction
    private let first: UInt64
    private var next: UInt64
    private var key = HandWriter(capacity: 64)
    private var record = HandWriter()
    private var people: [String: RecordHandle] = [:]

    enum Kind: UInt64 { case last, feed, post, comment, person }

    init(_ environment: BaselineEnvironment, _ transaction: BaselineTransaction) throws {
        self.environment = environment
        self.transaction = transaction
        key.varint(Kind.last.rawValue)
        first =
            try transaction.get(environment.index, key.bytes)?.loadUnaligned(as: UInt64.self) ?? 1
        next = first
    }

    /// Stores the next number.
    consuming func finish() throws {
        if next == first { return }
        key.clear()
        key.varint(Kind.last.rawValue)
        try withUnsafeBytes(of: next) { try transaction.put(environment.index, key.bytes, $0) }
    }

    /// Returns the handle of a node, and whether the node is new.
    private mutating func handle(_ kind: Kind, _ identifier: String) throws -> (
        handle: RecordHandle, isNew: Bool
    ) {
        key.clear()
        key.varint(kind.rawValue)
        key.unprefixed(identifier)
        // Searches the index once: `MDB_NOOVERWRITE` returns the stored value instead of replacing
        // it.
        var name = BaselineTransaction.value(key.bytes)
        var number = next
        let known: UInt64? = try withUnsafeMutableBytes(of: &number) { bytes in
            var value = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
            return try transaction.putNew(environment.index, &name, &value)
                ? nil : value.mv_data.loadUnaligned(as: UInt64.self)
        }
        if let known { return (RecordHandle(known), false) }
        next += 1
        return (RecordHandle(number), true)
    }

    private mutating func put(_ handle: RecordHandle, isNew: Bool) throws {
        try withUnsafeBytes(of: handle.number.bigEndian) { bytes in
            try transaction.put(
                environment.nodes, bytes, record.bytes, flags: isNew ? UInt32(MDB_APPEND) : 0)
        }
    }

    mutating func write(_ feed: Feed) throws {
        var posts: [RecordHandle] = []
        posts.reserveCapacity(feed.posts.count)
        for post in feed.posts { posts.append(try write(post)) }
        let (handle, isNew) = try handle(.feed, feed.id)
        record.clear()
        record.record(feed, posts: posts)
        try put(handle, isNew: isNew)
    }

    private mutating func write(_ post: Post) throws -> RecordHandle {
        let author = try write(post.author)
        var comments: [RecordHandle] = []
        comments.reserveCapacity(post.comments.count)
        for comment in post.comments { comments.append(try write(comment)) }
        let (handle, isNew) = try handle(.post, post.id)
        record.clear()
        record.record(post, author: author, comments: comments)
        try put(handle, isNew: isNew)
        return handle
    }

    private mutating func write(_ comment: Comment) throws -> RecordHandle {
        let author = try write(comment.author)
        let (handle, isNew) = try handle(.comment, comment.id)
        record.clear()
        record.record(comment, author: author)
        try put(handle, isNew: isNew)
        return handle
    }

    /// Writes a person once in a write: the same person has written many posts and comments.
    mutating func write(_ person: Person) throws -> RecordHandle {
        if let written = people[person.id] { return written }
        let (handle, isNew) = try handle(.person, person.id)
        record.clear()
        record.record(person)
        try put(handle, isNew: isNew)
        people[person.id] = handle
        return handle
    }
}

extension BaselineTransaction {
    /// Returns false if the key is there, with its value in `value`.
    func putNew(_ keyspace: MDB_dbi, _ key: inout MDB_val, _ value: inout MDB_val) throws -> Bool {
        let code = mdb_put(pointer, keyspace, &key, &value, UInt32(MDB_NOOVERWRITE))
        if code == MDB_KEYEXIST { return false }
        try BaselineEnvironment.check("mdb_put", code)
        return true
    }
}
