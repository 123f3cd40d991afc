import EspalierModels
import EspalierRecords

/// A message of the demo's feed. It can't be without its sender; its attachment and those who like
/// it may go.
struct Message: Codable, NormalizedModel, Equatable {
    let id, text: String
    let sender: Person
    let attachment: Attachment?
    let likes: [Person]
    var modelIdentifier: String? { "Message:\(id)" }
}

/// Somebody who writes messages and likes those of others.
struct Person: Codable, NormalizedModel, Equatable {
    let id, name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

/// A file that messages show; several may show the same.
struct Attachment: Codable, NormalizedModel, Equatable {
    let id, title: String
    var modelIdentifier: String? { "Attachment:\(id)" }
}

/// A screenful of messages, as one tree.
struct Feed: Codable, NormalizedModel, Equatable {
    let id: String
    let messages: [Message]
    var modelIdentifier: String? { "Feed:\(id)" }
}

extension Message {
    /// For the reader of the demo; a test sees to it that it is the one above.
    static let declaration = """
        struct Message: Codable, NormalizedModel {
            let id, text: String
            let sender: Person
            let attachment: Attachment?
            let likes: [Person]
            var modelIdentifier: String? { "Message:\\(id)" }
        }
        """

    /// This and every model below it, shared ones as often as they stand here.
    var modelCount: Int { 2 + (attachment == nil ? 0 : 1) + likes.count }

    /// This and the different models below it.
    var nodeCount: Int {
        1 + (attachment == nil ? 0 : 1) + Set([sender.id] + likes.map(\.id)).count
    }

    func shows(_ person: String) -> Bool { sender.id == person || isLiked(by: person) }

    func isLiked(by person: String) -> Bool { likes.contains { $0.id == person } }
}

// What plain Swift has to do so that models change everywhere: what the cache gives is compared
// with it.
extension Message {
    func updating(_ person: Person) -> Message {
        Message(
            id: id, text: text, sender: sender.id == person.id ? person : sender,
            attachment: attachment,
            likes: likes.map { $0.id == person.id ? person : $0 })
    }

    func removing(attachment removed: String) -> Message {
        Message(
            id: id, text: text, sender: sender,
            attachment: attachment?.id == removed ? nil : attachment, likes: likes)
    }

    /// Nil without its sender.
    func removing(person removed: String) -> Message? {
        guard sender.id != removed else { return nil }
        return Message(
            id: id, text: text, sender: sender, attachment: attachment,
            likes: likes.filter { $0.id != removed })
    }
}
