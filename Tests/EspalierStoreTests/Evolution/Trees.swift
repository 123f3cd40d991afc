import EspalierModels
import EspalierRecords

/// The first version of a tree. In the second one, a person's age and a note's stars are text, and
/// a feed has a title.
enum TreeV1 {
    struct Person: Codable, NormalizedModel, Equatable {
        var id = 1, age = 36
        var modelIdentifier: String? { "Person:\(id)" }
    }

    /// A value that is stored inline.
    struct Note: Codable, Sendable, Equatable { var stars = 5 }

    struct Message: Codable, NormalizedModel, Equatable {
        var id = 34, sender = Person()
        var modelIdentifier: String? { "Message:\(id)" }
    }

    struct Feed: Codable, NormalizedModel, Equatable {
        var id = 1
        var messages = [Message()]
        var pinned: Message?
        var people: [String: Person] = [:]
        var notes: [Note] = []
        var cover: [String: Note] = [:]
        var modelIdentifier: String? { "Feed:\(id)" }
    }
}

enum TreeV2 {
    struct Person: Codable, NormalizedModel, Equatable {
        var id = 1, age = "36"
        var modelIdentifier: String? { "Person:\(id)" }
    }

    struct Note: Codable, Sendable, Equatable { var stars = "five" }

    struct Message: Codable, NormalizedModel, Equatable {
        var id = 34, sender = Person()
        var modelIdentifier: String? { "Message:\(id)" }
    }

    struct Feed: Codable, NormalizedModel, Equatable {
        var id = 1
        var messages = [Message()]
        var pinned: Message?
        var people: [String: Person] = [:]
        var notes: [Note] = []
        var cover: [String: Note] = [:]
        var title: String?
        var modelIdentifier: String? { "Feed:\(id)" }
    }

    /// A model whose initialiser ignores unreadable fields.
    struct LenientMessage: NormalizedModel, Codable, Equatable {
        var id = 34
        var sender: Person?
        var modelIdentifier: String? { "Message:\(id)" }
        var projectionIdentifier: String { "Message" }

        init(sender: Person?) { self.sender = sender }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            sender = try? container.decode(Person.self, forKey: .sender)
            id = try container.decode(Int.self, forKey: .id)
        }
    }
}

/// The same tree written by hand, with any version of a person and of a note.
enum TreeByHand {
    struct Person<Age: FieldValue & Sendable & Equatable>: NormalizedModel, Equatable {
        var id = 1
        var age: Age
        var modelIdentifier: String? { "Person:\(id)" }
        var projectionIdentifier: String { "Person" }

        init(age: Age) { self.age = age }

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            age = try decoder.decode(forKey: "age")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(age, forKey: "age")
        }
    }

    /// A value that is stored inline.
    struct Note<Stars: FieldValue & Sendable & Equatable>: NormalizedModel, Equatable {
        var stars: Stars

        init(stars: Stars) { self.stars = stars }
        init(from decoder: inout RecordDecoder) throws {
            stars = try decoder.decode(forKey: "stars")
        }
        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(stars, forKey: "stars")
        }
    }

    struct Feed<Sender: NormalizedModel & Equatable, Note: NormalizedModel & Equatable>:
        NormalizedModel, Equatable
    {
        var id = 1
        var senders: [Sender] = []
        var pinned: Sender?
        var people: [String: Sender] = [:]
        var notes: [Note] = []
        var cover: [String: Note] = [:]
        var modelIdentifier: String? { "Feed:\(id)" }
        var projectionIdentifier: String { "Feed" }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            senders = try decoder.decode(forKey: "senders")
            pinned = try decoder.decode(forKey: "pinned")
            people = try decoder.decode(forKey: "people")
            notes = try decoder.decode(forKey: "notes")
            cover = try decoder.decode(forKey: "cover")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(senders, forKey: "senders")
            try encoder.encode(pinned, forKey: "pinned")
            try encoder.encode(people, forKey: "people")
            try encoder.encode(notes, forKey: "notes")
            try encoder.encode(cover, forKey: "cover")
        }
    }

    /// A model whose initialiser ignores unreadable fields.
    struct LenientFeed<Sender: NormalizedModel & Equatable>: NormalizedModel, Equatable {
        var id = 1
        var pinned: Sender?
        var people: [String: Sender] = [:]
        var modelIdentifier: String? { "Feed:\(id)" }
        var projectionIdentifier: String { "Feed" }

        init(from decoder: inout RecordDecoder) throws {
            pinned = try? decoder.decode(Sender?.self, forKey: "pinned")
            people = (try? decoder.decode([String: Sender].self, forKey: "people")) ?? [:]
            id = try decoder.decode(forKey: "id")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(pinned, forKey: "pinned")
            try encoder.encode(people, forKey: "people")
        }
    }
}
