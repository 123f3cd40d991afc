// Tickets of writes, and errors.

import Espalier
import Foundation

struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

struct Note: Codable, NormalizedModel {
    let text: String
}

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.await
    cache.set(Person(id: 1, name: "Ada"))  // the ticket may be discarded
    try await cache.set(Person(id: 2, name: "Grace")).committed  // returns after the commit
    // snippet.end

    // snippet.fail
    do {
        try await cache.set(Note(text: "no identifier")).committed
    } catch let error as CacheError where error.code == .noIdentifier {
        print(error.code)  // noIdentifier: the error's description says what to do
    }
    // snippet.end

    // snippet.several
    cache.set([Person(id: 1, name: "Ada"), Person(id: 2, name: "Grace")])  // both or neither
    // snippet.end
    try await cache.flush()
}

let directory = NSTemporaryDirectory() + "espalier-tickets"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
