// Models that refer back to each other.

import Espalier
import Foundation

// snippet.models
struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    let friends: [Person]
    var modelIdentifier: String? { "Person:\(id)" }
}

struct Thread: Codable, NormalizedModel {
    let id: Int
    let posts: [Post]
    var modelIdentifier: String? { "Thread:\(id)" }
}

struct Post: Codable, NormalizedModel {
    let id: Int
    let thread: Thread  // required
    var modelIdentifier: String? { "Post:\(id)" }
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.cut
    // The first occurrence of Ada counts. The inner one only ends the tree.
    let grace = Person(id: 2, name: "Grace", friends: [Person(id: 1, name: "Ada", friends: [])])
    cache.set(Person(id: 1, name: "Ada", friends: [grace]))
    if case .hit(let hit) = await cache.readOutcome(Person.self, "Person:1") {
        print(hit.value.friends[0].friends.count, hit.isCut)
        // 0 true: Grace's friend Ada is omitted
    }
    if case .hit(let hit) = await cache.readOutcome(Person.self, "Person:2") {
        print(hit.value.friends[0].name, hit.isCut)  // Ada true: Ada's friend Grace is omitted
    }
    // snippet.end

    // snippet.required
    cache.set(Thread(id: 1, posts: [Post(id: 7, thread: Thread(id: 1, posts: []))]))
    let outcome = await cache.readOutcome(Thread.self, "Thread:1")
    print(outcome.reason ?? "a hit")
    // cyclic at Post:7.thread: a required field refers back to a record being read

    let post = await cache.read(Post.self, "Post:7")
    print(post?.thread.posts.count ?? -1)
    // 0: in a read that starts at the post, the thread's list omits the post
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-back-references"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
