// A model that encodes and decodes its fields itself.

import Espalier
import Foundation

// snippet.model
enum Mood: String, FieldValue { case calm, curious }

struct Person: NormalizedModel {
    let id: Int
    let name: String
    let mood: Mood?
    let friends: [Person]
    var modelIdentifier: String? { "Person:\(id)" }
}

extension Person {
    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        // Encoded even if nil: the encoded fields are the declared fields.
        try encoder.encode(mood, forKey: "mood")
        try encoder.encode(friends, forKey: "friends")  // references to records of their own
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")  // decoded in the order of encoding, which is fastest
        name = try decoder.decode(forKey: "name")
        mood = try decoder.decode(forKey: "mood")
        friends = try decoder.decode(forKey: "friends")
    }
}
// snippet.end

struct Badge: NormalizedModel {
    let id: Int
    let unread: Int
    var modelIdentifier: String? { "Badge:\(id)" }
}

// snippet.expecting
extension Badge {
    func encode(to encoder: inout RecordEncoder) throws {
        encoder.expect(Badge.self, fields: ["id", "unread"])  // exactly these, in this order
        try encoder.encode(id, forKey: "id")
        try encoder.encode(unread, forKey: "unread")
    }

    init(from decoder: inout RecordDecoder) throws {
        decoder.expect(Badge.self, fields: ["id", "unread"])
        id = try decoder.decode(forKey: "id")
        unread = try decoder.decode(forKey: "unread")
    }
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)
    let grace = Person(id: 2, name: "Grace", mood: nil, friends: [])
    cache.set(Person(id: 1, name: "Ada", mood: .curious, friends: [grace]))
    cache.set(Person(id: 2, name: "Grace Hopper", mood: .calm, friends: []))
    let ada = await cache.read(Person.self, "Person:1")
    print(ada?.mood?.rawValue ?? "a miss", ada?.friends.map(\.name) ?? [])
    // curious ["Grace Hopper"]

    cache.set(Badge(id: 1, unread: 3))
    print(await cache.read(Badge.self, "Badge:1")?.unread ?? 0)  // 3
}

let directory = NSTemporaryDirectory() + "espalier-hand-written-model"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
