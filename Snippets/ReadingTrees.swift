// The two forms of a read.

import Espalier
import Foundation

struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.forms
    func name(of person: Int, in cache: NormalizedCache) async -> String? {
        await cache.read(Person.self, "Person:\(person)")?.name  // suspends
    }

    func nameNow(of person: Int, in cache: NormalizedCache) -> String? {
        cache.read(Person.self, "Person:\(person)")?.name  // blocks the thread
    }
    // snippet.end

    // snippet.consistency
    cache.set(Person(id: 1, name: "Ada"))
    let latest = await cache.read(Person.self, "Person:1")
    print(latest?.name ?? "a miss")  // Ada: a read waits for the writes submitted before it

    cache.set(Person(id: 1, name: "Ada Lovelace"))
    // Ada or Ada Lovelace, whichever is committed: the read does not wait.
    let snapshot = await cache.read(Person.self, "Person:1", consistency: .snapshot)
    print(snapshot != nil)  // true
    // snippet.end

    // snippet.age
    let outcome = await cache.readOutcome(Person.self, "Person:1")
    if case .hit(let hit) = outcome {
        print(hit.value.name)  // Ada Lovelace
        let isOld = hit.age ?? .zero > .seconds(600)
        print(isOld ? "fetch it again" : "fresh enough")  // fresh enough
    }
    // snippet.end

    print(await name(of: 1, in: cache) ?? "a miss")  // Ada Lovelace
    print(nameNow(of: 1, in: cache) ?? "a miss")  // Ada Lovelace
}

let directory = NSTemporaryDirectory() + "espalier-reading-trees"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
