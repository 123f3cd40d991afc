// A budget, what the cache evicts to keep to it, and its statistics.

import Espalier
import Foundation

struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

struct Message: Codable, NormalizedModel {
    let id: Int
    let text: String
    let sender: Person
    var modelIdentifier: String? { "Message:\(id)" }
}

func example(in directory: String) async throws {
    // snippet.open
    let cache = try NormalizedCache(
        directory: directory, configuration: Configuration(budget: .mebibytes(1)))
    // snippet.end

    // snippet.pin
    let me = Person(id: 1, name: "Ada")
    cache.set(me)
    try await cache.pin("Person:1").committed  // never evicted, nor anything below it
    // snippet.end

    // snippet.events
    let events = cache.events()  // events from now on
    // snippet.end

    // snippet.fill
    for id in 1...8_000 {
        let text = (0..<10).map { _ in UUID().uuidString }.joined()  // does not compress
        cache.set(Message(id: id, text: text, sender: Person(id: 2 + id % 10, name: "Grace")))
        if id % 100 == 0 { _ = await cache.read(Message.self, "Message:1") }  // an access
    }
    print(await cache.read(Message.self, "Message:1", access: .peek) != nil)  // true
    print(await cache.read(Message.self, "Message:2", access: .peek) != nil)  // false
    print(await cache.read(Person.self, "Person:1", access: .peek) != nil)  // true
    // snippet.end

    // snippet.statistics
    try await cache.flush()  // all writes are committed
    let statistics = try cache.statistics()
    print(statistics.directoryBytes <= statistics.budget)  // true
    print(statistics.evictions.records > statistics.records)  // true
    print(statistics.hitRate ?? 0, statistics.droppedWrites)  // 0.9879518072289156 [:]
    // snippet.end

    // snippet.budget
    try await cache.setBudget(.mebibytes(2)).committed  // for all processes, permanently
    print(cache.budget)  // 2097152 bytes
    // snippet.end

    // snippet.evict
    try await cache.evict("Message:1").committed  // now, whatever its age
    try await cache.evict(to: .kibibytes(200)).committed  // the oldest trees
    cache.unpin("Person:1")
    // snippet.end

    cache.close()
    // snippet.listen
    for await case .evicted(let eviction) in events where eviction.reason == .explicit {
        print(eviction.identifier)  // Message:1
        break
    }
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-budget"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
