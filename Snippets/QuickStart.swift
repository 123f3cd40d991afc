// Stores a message and the person who sent it, updates the person alone, and reads the message again.

import Espalier
import Foundation

struct Person: Codable, NormalizedModel { let modelIdentifier: String?, name: String }
struct Message: Codable, NormalizedModel { let modelIdentifier: String?, text: String, sender: Person }

let cache = try NormalizedCache(directory: NSTemporaryDirectory() + "quick-start")
let ada = Person(modelIdentifier: "Person:1", name: "Ada")
cache.set(Message(modelIdentifier: "Message:34", text: "Meow", sender: ada))
cache.set(Person(modelIdentifier: "Person:1", name: "Ada Lovelace"))
print(cache.read(Message.self, "Message:34")?.sender.name ?? "a miss")  // Ada Lovelace
cache.close()
