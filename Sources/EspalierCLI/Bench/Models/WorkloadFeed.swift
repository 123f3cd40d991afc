import EspalierModels
import EspalierRecords

/// A feed of the eviction workload: 100 posts, 200 comments and the 300 people who wrote them,
/// drawn from all there are.
struct WorkloadFeed: NormalizedModel {
    let id: Int
    let posts: [WorkloadPost]
    var modelIdentifier: String? { Self.identifier(id) }

    static func identifier(_ id: Int) -> String { "Feed:\(id)" }

    static let posts = 100

    init(id: Int, person: () -> WorkloadPerson) {
        self.id = id
        posts = (0..<Self.posts).map { number in
            WorkloadPost(id: id * Self.posts + number, person: person)
        }
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        posts = try decoder.decode(forKey: "posts")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(posts, forKey: "posts")
    }
}

struct WorkloadPost: NormalizedModel {
    let id: Int
    let text: String
    let author: WorkloadPerson
    let comments: [WorkloadComment]
    var modelIdentifier: String? { "Post:\(id)" }

    init(id: Int, person: () -> WorkloadPerson) {
        self.id = id
        text = "post \(id), which says about as much as posts do, and then some"
        author = person()
        comments = (0..<2).map { WorkloadComment(id: id * 2 + $0, author: person()) }
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        author = try decoder.decode(forKey: "author")
        comments = try decoder.decode(forKey: "comments")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(author, forKey: "author")
        try encoder.encode(comments, forKey: "comments")
    }
}

struct WorkloadComment: NormalizedModel {
    let id: Int
    let text: String
    let author: WorkloadPerson
    var modelIdentifier: String? { "Comment:\(id)" }

    init(id: Int, author: WorkloadPerson) {
        self.id = id
        text = "comment \(id), short and to the point"
        self.author = author
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        author = try decoder.decode(forKey: "author")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(author, forKey: "author")
    }
}

struct WorkloadPerson: NormalizedModel {
    let id: Int
    let name: String
    let avatar: String
    var modelIdentifier: String? { "Person:\(id)" }

    init(id: Int) {
        self.id = id
        name = "Person number \(id)"
        avatar = "https://img.example.com/\(id % 97)/\(id).jpg"
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        avatar = try decoder.decode(forKey: "avatar")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(avatar, forKey: "avatar")
    }
}
