import Espalier

/// A feed of an app: 83 posts with their authors, and two comments each with theirs; 499 nodes.
struct Feed: Model, Codable, NormalizedModel, Equatable {
    let id: Int
    let posts: [Post]
    var modelIdentifier: String? { "Feed:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Feed? {
        Feed(id: id, posts: posts.compactMap { transform($0) as? Post })
    }

    func forEach(_ visit: (any Model) -> Void) { for post in posts { visit(post) } }

    /// All people except `person` differ from feed to feed.
    init(number: Int, showing person: Person?) {
        let posts = (0..<83).map { index in
            let first = number * 1_000 + index * 10
            return Post(
                id: first, text: "Post \(first) of a feed",
                author: index == 40 && person != nil
                    ? person! : Person(id: first + 1, name: "Author \(first)"),
                comments: [
                    Comment(
                        id: first, text: "First!",
                        author: Person(id: first + 2, name: "Reader \(first)")),
                    Comment(
                        id: first + 1, text: "Second.",
                        author: Person(id: first + 3, name: "Other \(first)")),
                ])
        }
        self.init(id: number, posts: posts)
    }

    init(id: Int, posts: [Post]) {
        self.id = id
        self.posts = posts
    }
}

struct Post: Model, Codable, NormalizedModel, Equatable {
    let id: Int
    let text: String
    let author: Person
    let comments: [Comment]
    var modelIdentifier: String? { "Post:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Post? {
        guard let author = transform(author) as? Person else { return nil }
        return Post(
            id: id, text: text, author: author,
            comments: comments.compactMap { transform($0) as? Comment })
    }

    func forEach(_ visit: (any Model) -> Void) {
        visit(author)
        for comment in comments { visit(comment) }
    }
}

struct Comment: Model, Codable, NormalizedModel, Equatable {
    let id: Int
    let text: String
    let author: Person
    var modelIdentifier: String? { "Comment:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Comment? {
        guard let author = transform(author) as? Person else { return nil }
        return Comment(id: id, text: text, author: author)
    }

    func forEach(_ visit: (any Model) -> Void) { visit(author) }
}

struct Person: Model, Codable, NormalizedModel, Equatable {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Person? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}
