import Espalier

// Models as an app has them: written by hand, and stored through `Codable`.
struct Person: Model, NormalizedModel, Codable, Equatable {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Person? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

struct Message: Model, NormalizedModel, Codable, Equatable {
    let id: Int
    let text: String
    let sender: Person
    var modelIdentifier: String? { "Message:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Message? {
        guard let sender = transform(sender) as? Person else { return nil }
        return Message(id: id, text: text, sender: sender)
    }

    func forEach(_ visit: (any Model) -> Void) { visit(sender) }
}

struct Profile: Model, NormalizedModel, Codable, Equatable {
    let person: Person
    let pinned: Message?
    let friends: [Person]
    var modelIdentifier: String? { "Profile:\(person.id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Profile? {
        guard let person = transform(person) as? Person else { return nil }
        return Profile(
            person: person, pinned: pinned.flatMap { transform($0) as? Message },
            friends: friends.compactMap { transform($0) as? Person })
    }

    func forEach(_ visit: (any Model) -> Void) {
        visit(person)
        if let pinned { visit(pinned) }
        friends.forEach(visit)
    }
}
