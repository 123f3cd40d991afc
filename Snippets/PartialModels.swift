// Several types over one record, and responses that have only some of the fields.

import Espalier
import Foundation

// snippet.types
struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    let city: String?
    var modelIdentifier: String? { "Person:\(id)" }
}

struct Badge: Codable, NormalizedModel {  // the same record, seen through another type
    let id: Int
    let name: String
    let unread: Int
    var modelIdentifier: String? { "Person:\(id)" }
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.projections
    cache.set(Person(id: 1, name: "Ada", city: "London"))
    cache.set(Badge(id: 1, name: "Ada Lovelace", unread: 3))
    let person = await cache.read(Person.self, "Person:1")
    print(person?.name ?? "a miss", person?.city ?? "nowhere")  // Ada Lovelace London
    // snippet.end

    // snippet.policies
    cache.set(Person(id: 1, name: "Ada", city: nil), policy: .merge)  // nil: not fetched
    print(await cache.read(Person.self, "Person:1")?.city ?? "nowhere")  // London

    cache.set(Person(id: 1, name: "Ada", city: nil))  // nil: she has none
    print(await cache.read(Person.self, "Person:1")?.city ?? "nowhere")  // nowhere
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-partial-models"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
