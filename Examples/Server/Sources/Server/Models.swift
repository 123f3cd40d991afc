import Espalier

// `.codable` gives JSON and records the same names and defaults.

@Normalized(.codable) struct Person {
    let id: Int
    let name: String
    @Stored(default: "") let headline: String
}

@Normalized(.codable) struct Post {
    let id: Int
    let author: Person
    let text: String
    @Stored(default: []) let comments: [Comment]
}

@Normalized(.codable) struct Comment {
    let id: Int
    let author: Person
    let text: String
}

@Normalized(.codable) struct Feed {
    let id: Int
    let title: String
    let posts: [Post]
}
