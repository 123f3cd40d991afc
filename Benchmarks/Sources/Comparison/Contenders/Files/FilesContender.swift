import Feeds
import Foundation

/// The design of PINDiskCache: a JSON file for each feed. If there is a limit, it deletes the least
/// recently used files.
final class FilesContender: Contender {
    private let directory: String
    private let durability: Durability
    private let limit: Int?
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()
    private var opened: FileStore?

    /// `limit` is in bytes.
    init(directory: String, durability: Durability, limit: Int? = nil) throws {
        self.directory = directory
        self.durability = durability
        self.limit = limit
        encoder.outputFormatting = .withoutEscapingSlashes
    }

    func open() throws {
        opened = try FileStore(directory: directory, durability: durability, limit: limit)
    }

    func close() throws { opened = nil }

    private var store: FileStore {
        get throws {
            guard let opened else { throw ComparisonError.missing("an open directory") }
            return opened
        }
    }

    func write(_ feed: Feed) throws {
        try store.write([("feed:" + feed.id, try encoder.encode(feed))])
    }

    func read(_ feed: String) throws -> FeedRead? {
        try get(Feed.self, "feed:" + feed).map { feed in FeedRead(feed) }
    }

    func person(_ id: String, shownIn feed: String) throws -> Person? {
        try get(Feed.self, "feed:" + feed)?.person(id)
    }

    func update(_ person: Person, shownIn feeds: [String]) throws {
        try change(feeds) { $0.showing(person) }
    }

    func delete(person id: String, shownIn feeds: [String]) throws {
        try change(feeds) { $0.without(person: id) }
    }

    func setCollection(_ people: [Person], forKey key: String) throws {
        try store.write([("collection:" + key, try encoder.encode(people))])
    }

    func append(_ page: [Person], to current: [Person], forKey key: String) throws {
        try setCollection(current + page, forKey: key)
    }

    func collection(forKey key: String) throws -> [Person]? {
        try get([Person].self, "collection:" + key)
    }

    /// The bytes of the files.
    var byteCount: Int { get throws { try store.byteCount } }

    private func get<Value: Decodable>(_ type: Value.Type, _ key: String) throws -> Value? {
        try store.read(key).map { bytes in try decoder.decode(type, from: bytes) }
    }

    private func change(_ feeds: [String], _ body: (Feed) -> Feed) throws {
        let changed: [(key: String, bytes: Data)] = try feeds.compactMap { feed in
            let key = "feed:" + feed
            return try get(Feed.self, key).map { stored in (key, try encoder.encode(body(stored))) }
        }
        try store.write(changed)
    }
}
