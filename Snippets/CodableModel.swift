// A Codable model inside a model with the macro.

#if Macros
import Espalier
import Foundation

// snippet.models
struct Place: Codable, Hashable, NormalizedModel {
    let id: Int
    let city: String
    var modelIdentifier: String? { "Place:\(id)" }
}

@Normalized struct Visit {
    let id: Int
    let place: Place  // a node, too
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.use
    let visit = Visit(id: 1, place: Place(id: 1, city: "London"))
    cache.set(visit)
    cache.set(Place(id: 1, city: "Turin"))
    let stored = await cache.read(Visit.self, "Visit:1")
    print(stored?.place.city ?? "a miss", stored == visit)  // Turin false
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-codable-model"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
#endif
