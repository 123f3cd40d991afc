// A cache from its first write to its last.

#if Macros
import Espalier
import Foundation

// snippet.models
@Normalized struct Person {
    let id: Int
    let name: String
}

@Normalized struct Message {
    let id: Int
    let text: String
    let sender: Person
    let likedBy: [Person]
}
// snippet.end

func example(in directory: String) async throws {
    let (ada, grace) = (Person(id: 1, name: "Ada"), Person(id: 2, name: "Grace"))

    // snippet.open
    let cache = try NormalizedCache(
        directory: directory, configuration: Configuration(budget: .mebibytes(50)))
    // snippet.end

    // snippet.write
    cache.set(Message(id: 34, text: "Meow", sender: ada, likedBy: [grace, ada]))  // returns at once
    // snippet.end

    // snippet.read
    if let message = await cache.read(Message.self, "Message:34") {
        print(message.text, "from", message.sender.name)  // Meow from Ada
    }
    // snippet.end

    // snippet.update
    cache.set(Person(id: 1, name: "Ada Lovelace"))
    let message = await cache.read(Message.self, "Message:34")
    print(message?.likedBy.map(\.name) ?? [])  // ["Grace", "Ada Lovelace"]
    // snippet.end

    // snippet.miss
    switch await cache.readOutcome(Message.self, "Message:35") {
    case .hit(let hit): print(hit.value.text)
    case .miss(let reason): print("nothing to show yet:", reason)  // nothing to show yet: not found
    }
    // snippet.end

    // snippet.close
    try await cache.flush()  // safe on disk
    cache.close()
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-first-cache"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
#endif
