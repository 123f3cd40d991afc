import Espalier

/// A feed of posts, each with its author: `2 * posts + 1` nodes.
struct Feed: Codable, NormalizedModel {
    let id: Int
    let posts: [Post]
    var modelIdentifier: String? { "Feed:\(id)" }

    init(id: Int, posts: Int, edition: Int = 0) {
        self.id = id
        self.posts = (0..<posts).map { Post(id: id * 100_000 + $0, edition: $0 == 0 ? edition : 0) }
    }
}

struct Post: Codable, NormalizedModel {
    let id: Int
    let text: String
    let likes: Int
    let author: Person
    var modelIdentifier: String? { "Post:\(id)" }

    init(id: Int, edition: Int) {
        self.id = id
        text = "edition \(edition) of a post that says about as much as posts do, and then a little more"
        likes = edition
        author = Person(id: id)
    }
}

struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    let avatar: String
    var modelIdentifier: String? { "Person:\(id)" }

    init(id: Int) {
        self.id = id
        name = "Person number \(id)"
        avatar = "https://img.example.com/\(id % 97)/\(id).jpg"
    }
}
