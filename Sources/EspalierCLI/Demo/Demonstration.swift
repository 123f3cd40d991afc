import EspalierStore
import Foundation

/// The demo: stores a feed, looks at it, changes and deletes in it, reopens it; fills another one
/// until it evicts.
///
/// Everything shown is read from the cache, and compared with `feed`, to which plain Swift does
/// what the cache is asked to do.
@MainActor
struct Demonstration {
    let narration: Narration
    let directory: DemoDirectory
    let data: SocialFeed
    var cache: NormalizedCache
    /// What the cache has to give.
    var feed: [Message]
    let clock = ContinuousClock()

    static let collection = "feed"

    init(_ narration: Narration, in directory: DemoDirectory, _ data: SocialFeed) throws(CacheError)
    {
        self.narration = narration
        self.directory = directory
        self.data = data
        cache = try NormalizedCache(directory: directory.path)
        feed = data.messages
    }

    mutating func run() async throws {
        defer { cache.close() }
        try introduce()
        try await store()
        try await look()
        try await rename(to: SocialFeed.heroRenamed)
        try await deleteAttachment()
        try await delete(SocialFeed.guest)
        try await reopen()
        try await evict()
        try conclude()
    }

    private func introduce() throws {
        try narration.say(
            """
            Espalier keeps trees of Swift models on disk, normalized: each model with an identifier is one record, a \
            tree goes in and a whole tree comes out. What RocketData does for models in memory it does on disk, and \
            what Apollo does for GraphQL it does for any Codable types, as these of the demo. Person and Attachment are \
            declared the same way:
            """)
        try narration.blank()
        for line in Message.declaration.split(separator: "\n") { try narration.code(String(line)) }
    }

    /// The whole feed, and how long reading it took.
    func read() async throws -> (messages: [Message], time: Duration) {
        let start = clock.now
        let outcome = await cache.collectionOutcome(of: Message.self, forKey: Self.collection)
        let time = clock.now - start
        switch outcome {
        case .hit(let hit): return (hit.value, time)
        case .miss(let reason): throw CommandFailure("the demo's feed can't be read: \(reason)")
        }
    }

    func message(_ identifier: String) async throws -> Message {
        switch await cache.readOutcome(Message.self, identifier) {
        case .hit(let hit): return hit.value
        case .miss(let reason): throw CommandFailure("\(identifier) can't be read: \(reason)")
        }
    }
}
