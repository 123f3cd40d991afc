import Feeds

/// How a record names another one that it has as its child, when it is written.
protocol WrittenReference {
    func write(to writer: inout HandWriter)
}

/// How a record names another one that it has as its child, when it is read.
protocol ReadReference {
    init(from reader: inout HandReader)
}

/// The number of a record.
struct RecordHandle: WrittenReference, ReadReference, Hashable {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }
    init(from reader: inout HandReader) { number = reader.fixed() }
    func write(to writer: inout HandWriter) { writer.fixed(number) }
}

extension String: WrittenReference {
    func write(to writer: inout HandWriter) { writer.string(self) }
}

extension HandWriter {
    mutating func record<Reference: WrittenReference>(_ feed: Feed, posts: [Reference]) {
        string(feed.id)
        string(feed.title)
        references(posts)
    }

    mutating func record<Reference: WrittenReference>(_ post: Post, author: Reference, comments: [Reference]) {
        string(post.id)
        string(post.text)
        double(post.createdAt)
        integer(post.likesCount)
        integer(post.repliesCount)
        bool(post.isPinned)
        author.write(to: &self)
        references(comments)
    }

    mutating func record(_ comment: Comment, author: some WrittenReference) {
        string(comment.id)
        string(comment.text)
        double(comment.createdAt)
        integer(comment.likesCount)
        bool(comment.isEdited)
        author.write(to: &self)
    }

    mutating func record(_ person: Person) {
        string(person.id)
        string(person.name)
        string(person.handle)
        string(person.headline)
        string(person.avatar)
        integer(person.followersCount)
        integer(person.followingCount)
        bool(person.isVerified)
    }

    mutating func references(_ list: [some WrittenReference]) {
        varint(UInt64(list.count))
        for reference in list { reference.write(to: &self) }
    }
}

extension HandReader {
    mutating func person() -> Person {
        Person(
            id: string(), name: string(), handle: string(), headline: string(), avatar: string(),
            followersCount: integer(), followingCount: integer(), isVerified: bool())
    }
}

/// Where records are found, for as long as one state of the store is read: bytes stay where they are until it ends.
protocol HandSource {
    associatedtype Reference: ReadReference
    mutating func feedRecord(_ reference: Reference) throws -> HandReader?
    mutating func postRecord(_ reference: Reference) throws -> HandReader?
    mutating func commentRecord(_ reference: Reference) throws -> HandReader?
    mutating func person(_ reference: Reference) throws -> Person?
}

extension HandSource {
    mutating func feed(_ reference: Reference) throws -> Feed? {
        guard var record = try feedRecord(reference) else { return nil }
        let id = record.string()
        let title = record.string()
        let count = record.count()
        var posts: [Post] = []
        posts.reserveCapacity(count)
        for _ in 0..<count {
            if let post = try post(Reference(from: &record)) { posts.append(post) }
        }
        return Feed(id: id, title: title, posts: posts)
    }

    /// Nil also where the author is missing, without whom it can't be.
    private mutating func post(_ reference: Reference) throws -> Post? {
        guard var record = try postRecord(reference) else { return nil }
        let id = record.string()
        let text = record.string()
        let createdAt = record.double()
        let likesCount = record.integer()
        let repliesCount = record.integer()
        let isPinned = record.bool()
        guard let author = try person(Reference(from: &record)) else { return nil }
        let count = record.count()
        var comments: [Comment] = []
        comments.reserveCapacity(count)
        for _ in 0..<count {
            if let comment = try comment(Reference(from: &record)) { comments.append(comment) }
        }
        return Post(
            id: id, text: text, createdAt: createdAt, likesCount: likesCount, repliesCount: repliesCount,
            isPinned: isPinned, author: author, comments: comments)
    }

    private mutating func comment(_ reference: Reference) throws -> Comment? {
        guard var record = try commentRecord(reference) else { return nil }
        let id = record.string()
        let text = record.string()
        let createdAt = record.double()
        let likesCount = record.integer()
        let isEdited = record.bool()
        guard let author = try person(Reference(from: &record)) else { return nil }
        return Comment(
            id: id, text: text, createdAt: createdAt, likesCount: likesCount, isEdited: isEdited, author: author)
    }
}
