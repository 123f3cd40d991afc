// Fetches from the cache and the network.

#if Macros

import Espalier

@Normalized(maxAge: .minutes(10)) struct Headline {
    let id: Int
    let text: String
}

struct NewsServer: Sendable {
    func headline(_ id: Int) async throws -> Headline { Headline(id: id, text: "") }
    func headlines() async throws -> [Headline] { [] }
}

struct ServerError: Error { let status: Int }

func show(_ headline: Headline, isOld: Bool = false) {}
func show(_ headlines: [Headline]) {}

func example(_ cache: NormalizedCache, _ server: NewsServer) async throws {
    // snippet.fetch
    let headline = try await cache.fetch(Headline.self, "Headline:1", policy: .cacheThenNetwork) {
        try await server.headline(1)
    }
    show(headline)
    // snippet.end

    // snippet.sequence
    let answers = cache.fetches(Headline.self, "Headline:1", policy: .cacheAndNetwork) {
        try await server.headline(1)
    }
    for try await answer in answers { show(answer.value, isOld: answer.isExpired) }
    // snippet.end

    // snippet.collection
    let headlines = try await cache.fetchCollection(
        of: Headline.self, forKey: "news", policy: .staleWhileRevalidate
    ) {
        try await server.headlines()
    }
    show(headlines)
    // snippet.end

    // snippet.retry
    let retry = RetryPolicy.exponential(
        maximumAttempts: 4, firstDelay: .seconds(1), maximumDelay: .seconds(30), jitter: 0.25)
    let retried = try await cache.fetch(
        Headline.self, "Headline:1", policy: .networkThenCache, retry: retry,
        when: { ($0 as? ServerError)?.status != 404 }
    ) {
        try await server.headline(1)
    }
    show(retried)
    // snippet.end
}

@MainActor
func example(_ provider: DataProvider<Headline>, _ server: NewsServer) async throws {
    // snippet.provider
    try await provider.fetch("Headline:1", policy: .staleWhileRevalidate) {
        try await server.headline(1)
    }
    // snippet.end
}

#endif
