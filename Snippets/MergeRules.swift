// Partial models whose fields are merged by rules of their own.

import Espalier
import Foundation

// snippet.rules
struct Recipe: Codable, NormalizedModel, Equatable {
    static var writePolicy: WritePolicy { .merge }
    static let mergeRules: MergeRules = [
        "title": .newest(by: "updatedAt"),
        "tags": .union,
        "comments": .append,
        "firstSeen": .keepFirst,
        "likes": .combined { (old: Int, new: Int) in max(old, new) },
    ]

    let id: Int
    var title: String?
    var updatedAt: String?
    var tags: [String]?
    var comments: [String]?
    var firstSeen: String?
    var likes: Int?
    var modelIdentifier: String? { "Recipe:\(id)" }
}
// snippet.hide

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)
    // snippet.show
    // snippet.writes
    cache.set(
        Recipe(
            id: 1, title: "Borscht", updatedAt: "2026-02-03T09:00:00Z", tags: ["soup"],
            comments: ["Good", "Red"], firstSeen: "search", likes: 9))
    // An older response arrives later. It has another page of the comments.
    cache.set(
        Recipe(
            id: 1, title: "Borsch", updatedAt: "2026-02-01T09:00:00Z", tags: ["beets"],
            comments: ["Red", "Hot"], firstSeen: "feed", likes: 7))
    let recipe = await cache.read(Recipe.self, "Recipe:1")
    print(recipe?.title ?? "-", recipe?.tags ?? [])  // Borscht ["soup", "beets"]
    print(recipe?.comments ?? [])  // ["Good", "Red", "Hot"]
    print(recipe?.firstSeen ?? "-", recipe?.likes ?? 0)  // search 9
    // snippet.end
    cache.close()
}

let directory = NSTemporaryDirectory() + "espalier-merge-rules"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
