// An edit of a collection as data providers send it: with the surroundings of the index.

import Espalier
import Foundation

struct Person: Codable, Equatable, SimpleModel {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)
    let (ada, grace, mary) = (
        Person(id: 1, name: "Ada"), Person(id: 2, name: "Grace"), Person(id: 3, name: "Mary")
    )
    cache.setCollection([ada, grace], forKey: "friends", context: nil)

    // snippet.edit
    // The sender shows Ada and Grace, and inserts Mary between them.
    let neighbours = CollectionNeighbours(
        count: 2, previous: "Person:1", current: "Person:2", next: nil)
    cache.editCollection(
        .insert([mary], at: 1), forKey: "friends", expecting: neighbours, context: nil
    ) { outcome in
        guard case .outOfDate = outcome else { return }
        cache.setCollection([ada, mary, grace], forKey: "friends", context: nil)
    }
    // snippet.end

    try await cache.flush()
    print(await cache.collection(of: Person.self, forKey: "friends")?.map(\.name) ?? [])
    // ["Ada", "Mary", "Grace"]
}

let directory = NSTemporaryDirectory() + "espalier-edits"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
