// Reads that miss, and their reasons.

import Espalier
import Foundation

struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

struct Message: Codable, NormalizedModel {
    let id: Int
    let sender: Person
    var modelIdentifier: String? { "Message:\(id)" }
}

struct NumberedPerson: Codable, NormalizedModel {
    let id: Int
    let name: Int
    var modelIdentifier: String? { "Person:\(id)" }
}

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.switch
    switch await cache.readOutcome(Message.self, "Message:34") {
    case .hit(let hit): print(hit.value.sender.name)
    case .miss(let reason): print("to be fetched:", reason)  // to be fetched: not found
    }
    // snippet.end

    // snippet.undecodable
    cache.set(Person(id: 1, name: "Ada"))
    let outcome = await cache.readOutcome(NumberedPerson.self, "Person:1")
    print(outcome.reason ?? "a hit")
    // undecodable at Person:1.name: expected an integer that fits Int, found string
    // snippet.end

    // snippet.statistics
    let misses = try cache.statistics().misses
    print(misses["notFound"] ?? 0, misses["undecodable"] ?? 0)  // 1 1
    print(try cache.statistics().missesByType["NumberedPerson"] ?? [:])  // ["undecodable": 1]
    // snippet.end

    // snippet.observe
    let observation = cache.observeMisses { miss in
        if case .notFound = miss.reason { return }
        print("\(miss.type) \(miss.identifier): \(miss.reason.name)")
        // NumberedPerson Person:1: undecodable
    }
    _ = await cache.read(NumberedPerson.self, "Person:1")
    observation.cancel()
    // snippet.end

    // snippet.closed
    cache.close()
    let closed = await cache.readOutcome(Person.self, "Person:1")
    print(closed.reason ?? "a hit")  // unavailable: The cache is closed. Open it again.
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-misses"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
