import Foundation
import Hummingbird
import Synchronization

/// The same service without a cache: feeds in a dictionary, encoded for each request. The
/// measurements compare both.
func addRoutes(to router: Router<BasicRequestContext>, dictionary: FeedDictionary) {
    router.get("feed/:id") { _, context in
        let id = try context.parameters.require("id", as: Int.self)
        guard let feed = dictionary.feeds.withLock({ $0[id] }) else { throw HTTPError(.notFound) }
        return try JSONEncoder().encode(feed).response
    }
    router.put("feed") { request, context in
        let feed = try await request.decode(as: Feed.self, context: context)
        dictionary.feeds.withLock { $0[feed.id] = feed }
        return HTTPResponse.Status.noContent
    }
}

final class FeedDictionary: Sendable {
    let feeds = Mutex<[Int: Feed]>([:])
}
