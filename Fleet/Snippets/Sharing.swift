// One cache for the servers of a fleet.

import Espalier
import EspalierFleet
import EspalierRedis

struct Person: Codable, NormalizedModel, Sendable {
    let id: Int
    var name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

struct Feed: Codable, NormalizedModel, Sendable {
    let id: Int
    let people: [Person]
    var modelIdentifier: String? { "Feed:\(id)" }
}

func share(_ feed: Feed) async throws {
    var configuration = FleetConfiguration(servers: [
        RedisAddress(host: "cache-1"), RedisAddress(host: "cache-2"),
    ])
    configuration.near = .directory("/var/cache/service")
    let cache = try SharedCache(configuration)

    try await cache.set(feed)  // on the servers, then near
    let shown = await cache.read(Feed.self, "Feed:7")  // near, if no host has changed it
    try await cache.update(Person.self, "Person:1") { person in
        var person = person
        person.name = "Ada"
        return person  // every host shows it in milliseconds
    }
    print(shown as Any)
}
