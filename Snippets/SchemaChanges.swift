// A model in several releases of an app, without a migration.

import Espalier
import Foundation

enum LastYear {
    struct Message: Codable, NormalizedModel {
        let id: Int
        let text: String
        let mood: String
        var modelIdentifier: String? { "Message:\(id)" }
    }
}

struct Message: Codable, NormalizedModel {
    let id: Int
    let body: String  // was `text`, and is still stored under that name
    let mood: Mood  // was a String
    let badges: [String]?  // new, and therefore optional
    var modelIdentifier: String? { "Message:\(id)" }

    enum CodingKeys: String, CodingKey {
        case id, mood, badges
        case body = "text"
    }
}

enum Mood: String, Codable {
    case calm, glad, unknown

    init(from decoder: any Decoder) throws {  // decodes unknown cases instead of missing
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
    }
}

struct Note: Codable, NormalizedModel {  // was `Message`
    let id: Int
    let text: String
    var modelIdentifier: String? { "Message:\(id)" }
    var projectionIdentifier: String { "Message" }  // lets writes replace all fields
}

struct LenientMessage: NormalizedModel {
    let id: Int
    let stars: Int
    let mood: Int?
    var modelIdentifier: String? { "Message:\(id)" }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        stars = try decoder.decode(Int?.self, forKey: "stars") ?? 3  // a default
        mood = try? decoder.decode(Int.self, forKey: "mood")  // nil for a value of another type
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(stars, forKey: "stars")
        try encoder.encode(mood, forKey: "mood")
    }
}

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    cache.set(LastYear.Message(id: 34, text: "Meow", mood: "wild"))
    let message = await cache.read(Message.self, "Message:34")
    print(message?.body ?? "a miss", message?.mood ?? .calm, message?.badges ?? [])
    // Meow unknown []

    let lenient = await cache.read(LenientMessage.self, "Message:34")
    print(lenient?.stars ?? 0, lenient?.mood ?? 0)  // 3 0

    cache.set(Note(id: 34, text: "Purr"))  // the new version of `Message` removes `mood`
    if case .miss(let reason) = await cache.readOutcome(LastYear.Message.self, "Message:34") {
        print(reason)
        // incomplete: never fetched: Message:34.mood
    }
    cache.set(LastYear.Message(id: 34, text: "Meow", mood: "calm"))
    print(await cache.read(LastYear.Message.self, "Message:34")?.mood ?? "a miss")  // calm
}

let directory = NSTemporaryDirectory() + "espalier-schema-changes"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
