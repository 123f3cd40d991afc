// Reads a record of last year's type as this year's type.

import Espalier
import Foundation

// snippet.types
enum LastYear {
    struct Person: Codable, NormalizedModel {
        let id: Int
        let name: String
        let fax: String
        var modelIdentifier: String? { "Person:\(id)" }
    }
}

struct Person: Codable, NormalizedModel {  // without fax, and with two new fields
    let id: Int
    let name: String
    let pronouns: String?
    let badges: [String]
    var modelIdentifier: String? { "Person:\(id)" }
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.read
    cache.set(LastYear.Person(id: 1, name: "Ada", fax: "0"))
    if case .miss(let reason) = await cache.readOutcome(Person.self, "Person:1") {
        print(reason)
        // incomplete: never fetched: Person:1.badges
    }
    // snippet.end

    // snippet.lenient
    struct LenientPerson: Codable, NormalizedModel {
        let id: Int
        let name: String
        let pronouns: String?  // nil if the record lacks it
        let badges: [String]?  // optional, because it is new
        var modelIdentifier: String? { "Person:\(id)" }
    }

    let person = await cache.read(LenientPerson.self, "Person:1")
    print(person?.name ?? "a miss", person?.badges ?? [])  // Ada []
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-changed-models"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
