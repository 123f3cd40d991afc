// Follows the changes of each commit by identifier.

import Espalier
import Foundation

struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.changes
    let changes = cache.changes()  // changes from now on

    try await cache.set(Person(id: 1, name: "Ada")).committed
    // An unchanged model produces no change set.
    try await cache.set(Person(id: 1, name: "Ada")).committed
    try await cache.delete("Person:1").committed
    cache.close()  // ends the sequence

    for await change in changes { print(change.written, change.deleted) }
    // ["Person:1"] []
    // [] ["Person:1"]
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-changes"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
