// Records that expire, and what reads accept.

#if Macros

import Espalier

@Normalized(maxAge: .hours(1)) struct Weather {
    let id: String
    let degrees: Double
}

@Normalized struct Feed {
    let id: Int
    let places: [Weather]
}

struct Server: Sendable {
    func feed(_ identifier: String) async throws -> Feed { Feed(id: 1, places: []) }
}

func show(_ feed: Feed?) {}
func showAge(_ age: Duration) {}

func example(_ cache: NormalizedCache, _ feed: Feed, _ server: Server) async throws {
    // snippet.write
    cache.set(feed)  // each place may be an hour old
    cache.set(feed, maxAge: .minutes(10))  // all records of this write: ten minutes
    // snippet.end

    // snippet.read
    switch await cache.readOutcome(Feed.self, "Feed:1") {
    case .hit(let hit): show(hit.value)
    case .miss(.expired(_, let age)):
        show(await cache.read(Feed.self, "Feed:1", accepting: .stale))
        showAge(age)
    case .miss: break
    }
    // snippet.end

    // snippet.revalidate
    cache.onExpired(Feed.self) { [weak cache] identifier in
        let feed = try await server.feed(identifier)
        cache?.set(feed)
    }
    show(await cache.read(Feed.self, "Feed:1", accepting: .staleWhileRevalidate))
    // snippet.end
}

#endif
