// Several types for one record, and responses with only some of the fields.

#if Macros
import Espalier
import Foundation

// snippet.types
@Normalized struct Person {
    let id: Int
    let name: String
    let city: String?
}

@Normalized(type: "Person") struct Badge {  // the same record as another type
    let id: Int
    let name: String
    let unread: Int
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.projections
    cache.set(Person(id: 1, name: "Ada", city: "London"))
    let badge = Badge(id: 1, name: "Ada Lovelace", unread: 3)
    cache.set(badge)
    let person = await cache.read(Person.self, "Person:1")
    print(person?.name ?? "a miss", person?.city ?? "nowhere")  // Ada Lovelace London
    // snippet.end

    // snippet.merging
    let shown = Person(id: 1, name: "Ada", city: "London")
    let merged = shown.merge(badge) as? Person  // in memory, without a cache
    print(merged?.name ?? "another type", merged?.city ?? "nowhere")  // Ada Lovelace London
    // snippet.end

    // snippet.policies
    cache.set(Person(id: 1, name: "Ada", city: nil), policy: .merge)  // nil means: not fetched
    print(await cache.read(Person.self, "Person:1")?.city ?? "nowhere")  // London

    cache.set(Person(id: 1, name: "Ada", city: nil))  // nil means: no city
    print(await cache.read(Person.self, "Person:1")?.city ?? "nowhere")  // nowhere
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-partial-models"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
#endif
