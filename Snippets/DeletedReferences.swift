// Deletes nodes that other records refer to.

import Espalier
import Foundation

// snippet.models
struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

struct Message: Codable, NormalizedModel {
    let id: Int
    let sender: Person  // required
    let mentions: Person?
    let likedBy: [Person]
    var modelIdentifier: String? { "Message:\(id)" }
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.delete
    let (ada, grace) = (Person(id: 1, name: "Ada"), Person(id: 2, name: "Grace"))
    cache.set(Message(id: 34, sender: ada, mentions: grace, likedBy: [ada, grace]))

    cache.delete("Person:2")
    let message = await cache.read(Message.self, "Message:34")
    print(message?.mentions?.name ?? "nobody", message?.likedBy.map(\.name) ?? [])
    // nobody ["Ada"]

    cache.delete("Person:1")
    print(await cache.readOutcome(Message.self, "Message:34").reason ?? "a hit")  // deleted
    print(await cache.readOutcome(Person.self, "Person:1").reason ?? "a hit")  // not found
    // snippet.end

    // snippet.again
    cache.set(Person(id: 2, name: "another Grace"))
    cache.set(ada)
    print(await cache.readOutcome(Message.self, "Message:34").reason ?? "a hit")  // deleted

    cache.set(Message(id: 34, sender: ada, mentions: nil, likedBy: []))
    print(await cache.readOutcome(Message.self, "Message:34").reason ?? "a hit")  // a hit
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-deleted-references"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
