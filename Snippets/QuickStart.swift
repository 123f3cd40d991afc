// Stores a message and the person who sent it, updates the person alone, and reads the message again.

import Espalier
import Foundation

struct Person: Codable, NormalizedModel {
    let id: String
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

struct Message: Codable, NormalizedModel {
    let id: String
    let text: String
    let sender: Person
    var modelIdentifier: String? { "Message:\(id)" }
}

func start(in path: String) async throws -> Message? {
    let cache = try NormalizedCache(directory: path, configuration: Configuration(budget: .mebibytes(50)))
    let ada = Person(id: "1", name: "Ada")
    cache.set(Message(id: "34", text: "Meow", sender: ada))
    cache.set(Person(id: "1", name: "Ada Lovelace"))
    return await cache.read(Message.self, "Message:34")  // sender.name == "Ada Lovelace"
}

print(try await start(in: NSTemporaryDirectory() + "espalier-quick-start")?.sender.name ?? "a miss")
