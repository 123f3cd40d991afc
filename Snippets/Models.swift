// Models with @Normalized, and what they can do.

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
    let sender: Person  // a node: stored once, however many messages refer to it
    let likers: [Person]
    let quote: Quote?
}

@Normalized struct Quote {  // no id: stored in its message
    let text: String
    let of: Person
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)
    let (ada, grace) = (Person(id: 1, name: "Ada"), Person(id: 2, name: "Grace"))

    // snippet.use
    let message = Message(id: 34, text: "Meow", sender: ada, likers: [grace], quote: nil)
    print(message.modelIdentifier ?? "none")  // Message:34

    cache.set(message)
    print(await cache.read(Message.self, "Message:34") == message)  // true
    // snippet.end

    // snippet.copy
    let edited = message.copy {
        $0.text = "Purr"
        $0.likers.append(ada)
    }
    print(edited.text, edited.likers.count, message.text)  // Purr 2 Meow

    var draft = Message.Builder(message)  // for a change in steps
    draft.quote = Quote(text: "Meow?", of: grace)
    print(draft.build().quote?.of.name ?? "no quote")  // Grace
    // snippet.end

    // snippet.map
    let updated = message.map { child in
        child.modelIdentifier == "Person:2" ? Person(id: 2, name: "Grace Hopper") : child
    }
    print(updated?.likers.map(\.name) ?? [])  // ["Grace Hopper"]

    print(message.map { _ in nil } == nil)  // true: the sender is required
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-models"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
#endif
