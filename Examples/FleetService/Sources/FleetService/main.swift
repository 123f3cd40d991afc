import EspalierFleet
import EspalierRedis
import Foundation
import Hummingbird
import Logging

// FleetService PORT REDIS... serves feeds that all hosts on the same Redis servers share.
let arguments = CommandLine.arguments.dropFirst()
guard let port = arguments.first.flatMap({ Int($0) }), arguments.count > 1 else {
    FileHandle.standardError.write(Data("usage: FleetService PORT REDIS-PORT...\n".utf8))
    exit(64)
}
let cache = try SharedCache(
    FleetConfiguration(
        servers: arguments.dropFirst().compactMap { Int($0) }.map {
            RedisAddress(host: "127.0.0.1", port: $0)
        }),
    logger: Logger(label: "cache"))

/// Returns a response with JSON text.
@Sendable func response(_ text: Data) -> Response {
    Response(
        status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(data: text)))
}

/// Returns a response with the JSON text of `value`.
@Sendable func json(_ value: some Encodable) throws -> Response {
    response(try JSONEncoder().encode(value))
}

struct PersonChange: Decodable {
    let name: String
}

let router = Router()
router.get("feeds/:id") { _, context in
    let id = try context.parameters.require("id", as: Int.self)
    // Straight from records: no models are made for it.
    guard let text = await cache.json(of: "Feed:\(id)") else { throw HTTPError(.notFound) }
    return response(text)
}
router.put("feeds/:id") { request, context in
    let feed = try await request.decode(as: Feed.self, context: context)
    guard try context.parameters.require("id", as: Int.self) == feed.id else {
        throw HTTPError(.badRequest, message: "The feed has another id.")
    }
    try await cache.set(feed)
    return HTTPResponse.Status.noContent
}
router.get("people/:id") { _, context in
    let id = try context.parameters.require("id", as: Int.self)
    guard let text = await cache.json(of: "Person:\(id)") else { throw HTTPError(.notFound) }
    return response(text)
}
// A person changed here is changed in every feed, on every host.
router.put("people/:id") { request, context in
    let id = try context.parameters.require("id", as: Int.self)
    let change = try await request.decode(as: PersonChange.self, context: context)
    do {
        let person = try await cache.update(Person.self, "Person:\(id)") { person in
            var person = person
            person.name = change.name
            return person
        }
        return try json(person)
    } catch FleetError.miss {
        throw HTTPError(.notFound)
    } catch is FleetError {
        // Servers are gone or busy: the client may try again.
        throw HTTPError(.serviceUnavailable)
    }
}
router.get("statistics") { _, _ in try json(cache.statistics) }

var logger = Logger(label: "service")
logger.logLevel = .notice
let application = Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
    logger: logger)
try await application.runService()
cache.close()
