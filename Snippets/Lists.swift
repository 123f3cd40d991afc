// Collections: ordered lists under a key.

import Espalier
import Foundation

struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)
    let (ada, grace, mary) = (
        Person(id: 1, name: "Ada"), Person(id: 2, name: "Grace"), Person(id: 3, name: "Mary")
    )
    func names(_ people: [Person]?) -> [String] { people?.map(\.name) ?? ["a miss"] }

    // snippet.set
    cache.setCollection([ada, grace], forKey: "friends")
    let friends = await cache.collection(of: Person.self, forKey: "friends")
    print(names(friends))  // ["Ada", "Grace"]
    // snippet.end

    // snippet.edit
    cache.append([mary], toCollection: "friends")
    cache.insert([mary], at: 0, inCollection: "friends")  // elements may repeat
    cache.move(from: 3, to: 1, inCollection: "friends")
    print(names(await cache.collection(of: Person.self, forKey: "friends")))
    // ["Mary", "Mary", "Ada", "Grace"]

    cache.remove(at: 0, fromCollection: "friends")
    cache.set(Person(id: 3, name: "Mary Shelley"))
    print(names(await cache.collection(of: Person.self, forKey: "friends")))
    // ["Mary Shelley", "Ada", "Grace"]
    // snippet.end

    // snippet.delete
    cache.delete("Person:1")  // removes her from every collection
    print(names(await cache.collection(of: Person.self, forKey: "friends")))
    // ["Mary Shelley", "Grace"]

    cache.deleteCollection(forKey: "friends")  // deletes no person
    print(names(await cache.collection(of: Person.self, forKey: "friends")))  // ["a miss"]
    print(await cache.read(Person.self, "Person:2")?.name ?? "a miss")  // Grace
    // snippet.end

    // snippet.errors
    do {
        try await cache.remove(at: 9, fromCollection: "friends").committed
    } catch let error as CacheError where error.code == .notFound || error.code == .outOfRange {
        print(error)  // There is no collection under this key. Set it, or append to it, first.
    }
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-lists"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
