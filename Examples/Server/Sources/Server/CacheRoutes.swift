import Espalier
import Foundation
import Hummingbird

/// The routes of a service that keeps feeds in a cache. Several processes can serve the same
/// directory: what one stores, the others answer with.
func addRoutes(to router: Router<BasicRequestContext>, cache: NormalizedCache) {
    // JSON straight from records: no model is made.
    router.get("feed/:id") { _, context in
        let id = try context.parameters.require("id")
        guard let json = await cache.json(of: "Feed:\(id)") else { throw HTTPError(.notFound) }
        return json.response
    }
    router.put("feed") { request, context in
        let feed = try await request.decode(as: Feed.self, context: context)
        try await cache.set(feed).committed(timeout: .seconds(2))
        return HTTPResponse.Status.noContent
    }
    // A person changed here is changed in every feed.
    router.put("person") { request, context in
        let person = try await request.decode(as: Person.self, context: context)
        try await cache.set(person).committed(timeout: .seconds(2))
        return HTTPResponse.Status.noContent
    }
    router.get("person/:id") { _, context in
        let id = try context.parameters.require("id", as: Int.self)
        guard let json = await cache.json(of: Person.modelIdentifier(id: id)) else {
            throw HTTPError(.notFound)
        }
        return json.response
    }
    router.delete("person/:id") { _, context in
        let id = try context.parameters.require("id", as: Int.self)
        try await cache.delete(Person.modelIdentifier(id: id)).committed(timeout: .seconds(2))
        return HTTPResponse.Status.noContent
    }
    // A page of a list costs what its elements cost, however long the list is.
    router.get("people") { request, _ in
        let page = request.uri.queryParameters.get("page", as: Int.self) ?? 0
        guard (0..<1_000_000).contains(page) else { throw HTTPError(.badRequest) }
        guard
            let json = await cache.json(ofCollection: "people", range: page * 20..<page * 20 + 20)
        else { throw HTTPError(.notFound) }
        return json.response
    }
    router.post("people") { request, context in
        let people = try await request.decode(as: [Person].self, context: context)
        try await cache.appendNew(people, toCollection: "people").committed(timeout: .seconds(2))
        return HTTPResponse.Status.noContent
    }
    router.get("health") { _, _ in
        let blocked = try cache.statistics().writerBlockedFor ?? .zero
        return blocked < .seconds(1) ? HTTPResponse.Status.ok : .serviceUnavailable
    }
    router.get("metrics") { _, _ in try cache.statistics().prometheusText() }
}

extension Data {
    /// A response with this JSON text.
    var response: Response {
        Response(
            status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(data: self)))
    }
}
