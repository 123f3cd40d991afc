// Keys for nodes, and for models without an identifier.

import Espalier
import Foundation

struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

struct Settings: Codable, NormalizedModel {
    let theme: String
}

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.keys
    cache.setModel(Person(id: 1, name: "Ada"), forKey: "me")  // refers to the node Person:1
    cache.setModel(Settings(theme: "dark"), forKey: "settings")  // holds the model itself

    cache.set(Person(id: 1, name: "Ada Lovelace"))
    let me: ReadOutcome<Person> = await cache.modelOutcome(forKey: "me")
    print(me.value?.name ?? "a miss")  // Ada Lovelace

    cache.deleteModel(forKey: "me")  // deletes the key, not the person
    print(await cache.read(Person.self, "Person:1")?.name ?? "a miss")  // Ada Lovelace
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-keys"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
