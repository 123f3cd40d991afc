import Feeds

/// The way in which a record refers to a child.
protocol WrittenReference {
    func write(to writer: inout HandWriter)
}

/// The number of a record.
struct RecordHandle: WrittenReference, Hashable {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }
    init(from reader: inout HandReader) { number = reader.fixed() }
    func write(to writer: inout HandWriter) { writer.fixed(number) }
}

extension HandWriter {
    mutating func record<Reference: WrittenReference>(_ feed: Feed, posts: [Reference]) {
        string(feed.id)
        string(feed.title)
        references(posts)
    }

    mutating func record<Reference: WrittenReference>(
        _ post: Post, author: Reference, comments: [Reference]
    ) {
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

    /// Reads the fields up to the reference to the author. The references to the comments follow
    /// it.
    mutating func postFields() -> PostFields {
        PostFields(
            id: string(), text: string(), createdAt: double(), likesCount: integer(),
            repliesCount: integer(),
            isPinned: bool())
    }

    /// Reads the fields up to the reference to the author.
    mutating func commentFields() -> CommentFields {
        CommentFields(
            id: string(), text: string(), createdAt: double(), likesCount: integer(),
            isEdited: bool())
    }
}

/// A post without its children.
struct PostFields {
    let id, text: String
    let createdAt: Double
    let likesCount, repliesCount: Int
    let isPinned: Bool

    func post(author: Person, comments: [Comment]) -> Post {
        Post(
            id: id, text: text, createdAt: createdAt, likesCount: likesCount,
            repliesCount: repliesCount,
            isPinned: isPinned, author: author, comments: comments)
    }
}

/// A comment without its author.
struct CommentFields {
    let id, text: String
    let createdAt: Double
    let likesCount: Int
    let isEdited: Bool

    func comment(author: Person) -> Comment {
        Comment(
            id: id, text: text, createdAt: createdAt, likesCount: likesCount, isEdited: isEdited,
            author: author)
    }
}
