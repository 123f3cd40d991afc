#if Macros
import Espalier

@Normalized struct Person {
    let id: Int
    let name: String
}

@Normalized struct Message {
    let id: Int
    let text: String
    let sender: Person
    var isSent = true
}

@Normalized struct Profile {
    let id: Int
    let person: Person
    let latest: Message?
}

/// What the app asks the server to do. The outbox keeps it until the server has done it.
struct SendMessage: Codable, Sendable {
    let id: Int
    let text: String
}
#endif
