// Nodes, with records of their own, and values that are stored in their parent.

#if Macros
import Espalier
import Foundation

// snippet.models
@Normalized struct Person {  // a node: it has an identifier
    let id: Int
    let name: String
}

struct Place: Codable, Hashable {  // a plain value: stored in its parent
    let city: String
}

@Normalized struct Quote {  // an inline model, which contains a node
    let text: String
    let of: Person
}

@Normalized enum Attachment {  // an enum, with a node in a payload
    case link(String)
    case card(Person)
}

@Normalized struct Message {
    let id: Int
    let sender: Person
    let place: Place?
    let quote: Quote?
    let attachments: [Attachment]
    let reactions: [String: Person]
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.records
    let (ada, grace) = (Person(id: 1, name: "Ada"), Person(id: 2, name: "Grace"))
    cache.set(
        Message(
            id: 34, sender: ada, place: Place(city: "London"),
            quote: Quote(text: "Meow", of: grace),
            attachments: [.link("https://example.org"), .card(grace)], reactions: ["heart": ada]))
    try await cache.flush()
    print(try cache.statistics().nodes)  // 3: the message, Ada, Grace

    cache.set(Person(id: 2, name: "Grace Hopper"))
    let message = await cache.read(Message.self, "Message:34")
    print(message?.quote?.of.name ?? "a miss")  // Grace Hopper
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-model-kinds"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
#endif
