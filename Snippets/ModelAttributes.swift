// Identifiers, stored names and default values of models with the macro.

#if Macros
import Espalier
import Foundation

// snippet.identifiers
@Normalized(type: "person") struct Contact {  // person:7, even if the type is renamed
    let id: Int
    let name: String
}

@Normalized(identifier: \.urn) struct Company {  // urn:company:3
    let urn: String
    let name: String
}

@Normalized struct Day {  // Day:2026-48
    let year: Int
    let week: Int
    var id: String { "\(year)-\(week)" }
}

@Normalized struct Order {  // Order:42
    struct Number: RawRepresentable, Codable, Hashable { let rawValue: Int }
    let id: Number
}
// snippet.end

// snippet.first
@Normalized struct Post {  // last year's type
    let id: Int
    @Stored("display_name") let name: String
}
// snippet.end

enum Today {
    // snippet.stored
    enum Tone: String, FieldValue { case plain, loud }

    @Normalized struct Post {
        let id: Int
        @Stored("display_name") let name: String
        @Stored(default: 0) let likes: Int
        @Stored("labels", default: []) let tags: [String]
        @Stored(default: Tone.plain) let tone: Tone
        @NotStored var isExpanded = false
        @NotStored var draft: String?
        let version = 2  // a constant is not stored
    }
    // snippet.end
}

// snippet.keys
@Normalized struct Profile: Codable {
    let id: Int
    let name: String
    var draft: String?  // omitted by the keys, and not stored

    enum CodingKeys: String, CodingKey {
        case id
        case name = "display_name"
    }
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.named
    let (contact, company) = (
        Contact(id: 7, name: "Ada"), Company(urn: "urn:company:3", name: "Looms")
    )
    print(contact.modelIdentifier ?? "none", company.modelIdentifier ?? "none")
    // person:7 urn:company:3
    // snippet.end
    let (day, order) = (Day(year: 2026, week: 48), Order(id: Order.Number(rawValue: 42)))
    print(day.modelIdentifier ?? "none", order.modelIdentifier ?? "none")  // Day:2026-48 Order:42

    // snippet.read
    cache.set(Post(id: 1, name: "Ada"))
    let post = await cache.read(Today.Post.self, "Post:1")
    print(post?.name ?? "a miss", post?.likes ?? -1, post?.tags ?? ["none"])  // Ada 0 []
    // snippet.end

    cache.set(Profile(id: 1, name: "Ada", draft: "..."))
    let profile = await cache.read(Profile.self, "Profile:1")
    print(profile?.name ?? "a miss", profile?.draft ?? "no draft")  // Ada no draft
}

let directory = NSTemporaryDirectory() + "espalier-model-attributes"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
#endif
