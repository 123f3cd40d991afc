import EspalierModels
import EspalierRecords

enum Mood: String, FieldValue { case glad, sad }

struct Hall: NormalizedModel {
    var id: String
    var people: [Person]

    init(_ id: String, people: [Person]) {
        self.id = id
        self.people = people
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        people = try decoder.decode(forKey: "people")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(people, forKey: "people")
    }
}

/// A remark whose text is a mood.
struct MoodyRemark: NormalizedModel {
    var modelIdentifier: String? { nil }
    init(from decoder: inout RecordDecoder) throws {
        _ = try decoder.decode(Mood.self, forKey: "text")
    }
    func encode(to encoder: inout RecordEncoder) throws {}
}

/// A message whose initialiser tolerates a missing sender.
struct Lenient: NormalizedModel {
    var modelIdentifier: String? { "m:1" }
    init(from decoder: inout RecordDecoder) throws {
        _ = try? decoder.decode(Person.self, forKey: "sender")
    }
    func encode(to encoder: inout RecordEncoder) throws {}
}

struct LenientCodable: IdentifiedModel, Codable {
    var modelIdentifier: String? { "m:1" }
    enum Keys: String, CodingKey { case sender }
    init(from decoder: any Decoder) throws {
        _ = try? decoder.container(keyedBy: Keys.self).decode(NicknameStrict.self, forKey: .sender)
    }
    func encode(to encoder: any Encoder) throws {}
}

struct NicknameStrict: IdentifiedModel, Codable {
    var id: String
    var name: String
    var modelIdentifier: String? { id }
}

/// A person whose initialiser tolerates a missing name.
struct Nickname: NormalizedModel {
    var modelIdentifier: String? { "p:1" }
    init(from decoder: inout RecordDecoder) throws {
        _ = try? decoder.decode(String.self, forKey: "name")
    }
    func encode(to encoder: inout RecordEncoder) throws {}
}

struct NicknameCodable: IdentifiedModel, Codable {
    var modelIdentifier: String? { "p:1" }
    enum Keys: String, CodingKey { case name }
    init(from decoder: any Decoder) throws {
        _ = try? decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .name)
    }
    func encode(to encoder: any Encoder) throws {}
}

/// A node with any number of children.
struct Knot: NormalizedModel {
    var id: String
    var text: String
    var links: [Knot]

    init(_ id: String, text: String, links: [Knot] = []) {
        self.id = id
        self.text = text
        self.links = links
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        links = try decoder.decode(forKey: "links")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(links, forKey: "links")
    }
}
