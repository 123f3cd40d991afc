import Espalier

// The same types are JSON for clients and records for the cache, by `Codable` alone.

struct Person: Codable, NormalizedModel, Sendable {
    let id: Int
    var name: String
    var modelIdentifier: String? { "Person:\(id)" }
    var projectionIdentifier: String { "Person" }
}

struct Comment: Codable, NormalizedModel, Sendable {
    let id: Int
    let author: Person
    let text: String
    var modelIdentifier: String? { "Comment:\(id)" }
    var projectionIdentifier: String { "Comment" }
}

struct Post: Codable, NormalizedModel, Sendable {
    let id: Int
    let author: Person
    let text: String
    let comments: [Comment]
    var modelIdentifier: String? { "Post:\(id)" }
    var projectionIdentifier: String { "Post" }
}

struct Feed: Codable, NormalizedModel, Sendable {
    let id: Int
    let title: String
    let posts: [Post]
    var modelIdentifier: String? { "Feed:\(id)" }
    var projectionIdentifier: String { "Feed" }
}
