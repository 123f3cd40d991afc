import Feeds

/// The models of rows in JSON: nodes whose children are references.
struct RowReference: Codable {
    let key: String

    init(_ key: String) { self.key = key }

    private enum CodingKeys: String, CodingKey {
        case key = "$ref"
    }
}

struct FeedRow: Codable {
    let id, title: String
    let posts: [RowReference]

    init(_ feed: Feed) {
        id = feed.id
        title = feed.title
        posts = feed.posts.map { RowReference(RowKey.post($0.id)) }
    }
}

struct PostRow: Codable {
    let id, text: String
    let createdAt: Double
    let likesCount, repliesCount: Int
    let isPinned: Bool
    let author: RowReference
    let comments: [RowReference]

    init(_ post: Post) {
        id = post.id
        text = post.text
        createdAt = post.createdAt
        likesCount = post.likesCount
        repliesCount = post.repliesCount
        isPinned = post.isPinned
        author = RowReference(RowKey.person(post.author.id))
        comments = post.comments.map { RowReference(RowKey.comment($0.id)) }
    }

    func post(author: Person, comments: [Comment]) -> Post {
        Post(
            id: id, text: text, createdAt: createdAt, likesCount: likesCount,
            repliesCount: repliesCount,
            isPinned: isPinned, author: author, comments: comments)
    }
}

struct CommentRow: Codable {
    let id, text: String
    let createdAt: Double
    let likesCount: Int
    let isEdited: Bool
    let author: RowReference

    init(_ comment: Comment) {
        id = comment.id
        text = comment.text
        createdAt = comment.createdAt
        likesCount = comment.likesCount
        isEdited = comment.isEdited
        author = RowReference(RowKey.person(comment.author.id))
    }

    func comment(author: Person) -> Comment {
        Comment(
            id: id, text: text, createdAt: createdAt, likesCount: likesCount, isEdited: isEdited,
            author: author)
    }
}

/// A list of people. The row of a person is the person itself.
struct ListRow: Codable {
    let people: [RowReference]

    init(_ people: [Person]) { self.people = people.map { RowReference(RowKey.person($0.id)) } }
}

/// Rows of all types are in one table, so their keys start with the type.
enum RowKey {
    static func feed(_ id: String) -> String { "Feed:" + id }
    static func post(_ id: String) -> String { "Post:" + id }
    static func comment(_ id: String) -> String { "Comment:" + id }
    static func person(_ id: String) -> String { "Person:" + id }
    static func list(_ key: String) -> String { "List:" + key }
}
