import EspalierModels
import EspalierRecords

struct Person: NormalizedModel, Hashable {
    var id: String
    var name: String

    init(_ id: String, _ name: String) {
        self.id = id
        self.name = name
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
    }
}

/// Another projection of a person, with the same name and a badge.
struct Card: NormalizedModel, Hashable {
    var id: String
    var name: String?
    var badge: Int?

    init(_ id: String, name: String?, badge: Int?) {
        self.id = id
        self.name = name
        self.badge = badge
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        badge = try decoder.decode(forKey: "badge")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(badge, forKey: "badge")
    }
}

/// A message that requires its sender.
struct Message: NormalizedModel, Hashable {
    var id: String
    var sender: Person
    var reader: Person?

    init(_ id: String, from sender: Person, to reader: Person? = nil) {
        self.id = id
        self.sender = sender
        self.reader = reader
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        sender = try decoder.decode(forKey: "sender")
        reader = try decoder.decode(forKey: "reader")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(sender, forKey: "sender")
        try encoder.encode(reader, forKey: "reader")
    }
}

struct Feed: NormalizedModel, Hashable {
    var id: String
    var messages: [Message] = []
    var people: [String: Person] = [:]
    var pinned: Message?
    var cover: Cover?

    init(
        _ id: String, messages: [Message] = [], people: [String: Person] = [:],
        pinned: Message? = nil,
        cover: Cover? = nil
    ) {
        self.id = id
        self.messages = messages
        self.people = people
        self.pinned = pinned
        self.cover = cover
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        messages = try decoder.decode(forKey: "messages")
        people = try decoder.decode(forKey: "people")
        pinned = try decoder.decode(forKey: "pinned")
        cover = try decoder.decode(forKey: "cover")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(messages, forKey: "messages")
        try encoder.encode(people, forKey: "people")
        try encoder.encode(pinned, forKey: "pinned")
        try encoder.encode(cover, forKey: "cover")
    }
}

/// A node if it has an identifier, and inline otherwise. It requires its subject.
struct Cover: NormalizedModel, Hashable {
    var id: String?
    var caption: String
    var subject: Person

    init(_ caption: String, of subject: Person, id: String? = nil) {
        self.id = id
        self.caption = caption
        self.subject = subject
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        caption = try decoder.decode(forKey: "caption")
        subject = try decoder.decode(forKey: "subject")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(caption, forKey: "caption")
        try encoder.encode(subject, forKey: "subject")
    }
}

/// A node if it has an identifier, and inline otherwise. Its subject is optional.
struct Remark: NormalizedModel, Hashable {
    var id: String?
    var text: String
    var subject: Person?

    init(_ text: String, on subject: Person? = nil, id: String? = nil) {
        self.id = id
        self.text = text
        self.subject = subject
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        subject = try decoder.decode(forKey: "subject")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(subject, forKey: "subject")
    }
}
