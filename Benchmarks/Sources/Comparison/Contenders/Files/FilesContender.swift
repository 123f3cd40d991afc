import Feeds
import Foundation

/// The design of PINDiskCache: a file of JSON for each feed. If there is a limit, it deletes the
/// least recently used files. Files may be compressed, by a dictionary in a file of its own.
final class FilesContender: Contender {
    private let directory: String
    private let durability: Durability
    private let limit: Int?
    private let coder: DocumentCoder
    private var opened: FileStore?
    /// Has no limit, so that the dictionary is never deleted.
    private var dictionaries: FileStore?

    /// `limit` is in bytes that files take on the disk.
    init(
        directory: String, durability: Durability, format: DocumentCoder.Format, limit: Int? = nil
    ) {
        self.directory = directory
        self.durability = durability
        coder = DocumentCoder(format)
        // The dictionary takes its part of the limit from the beginning.
        let reserve =
            format == .compressedJSON ? FileTable.allocated(ZstdCodec.largestDictionary) : 0
        self.limit = limit.map { $0 - reserve }
    }

    func open() throws {
        let dictionaries = try FileStore(
            directory: directory + "/dictionaries", durability: durability, limit: nil)
        if let dictionary = try dictionaries.read(Self.dictionaryKey) {
            try coder.use(dictionary: dictionary)
        }
        self.dictionaries = dictionaries
        opened = try FileStore(
            directory: directory + "/documents", durability: durability, limit: limit)
    }

    func close() throws { (opened, dictionaries) = (nil, nil) }

    private static let dictionaryKey = "1"

    private var store: FileStore {
        get throws {
            guard let opened else { throw ComparisonError.missing("an open directory") }
            return opened
        }
    }

    func write(_ feed: Feed) throws { try put(feed, "feed:" + feed.id) }

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
        try put(people, "collection:" + key)
    }

    func append(_ page: [Person], to current: [Person], forKey key: String) throws {
        try setCollection(current + page, forKey: key)
    }

    func collection(forKey key: String) throws -> [Person]? {
        try get([Person].self, "collection:" + key)
    }

    /// The bytes that documents take on the disk.
    var byteCount: Int { get throws { try store.byteCount } }

    var documentCount: Int { get throws { try store.count } }

    private func put(_ value: some Encodable, _ key: String) throws {
        let document = try coder.document(of: value)
        if let dictionary = coder.train(with: document) {
            try dictionaries?.write([(Self.dictionaryKey, dictionary)])
            try coder.use(dictionary: dictionary)
        }
        try store.write([(key, try coder.compress(document))])
    }

    private func get<Value: Decodable>(_ type: Value.Type, _ key: String) throws -> Value? {
        try store.read(key).map { bytes in try coder.decode(type, from: bytes) }
    }

    private func change(_ feeds: [String], _ body: (Feed) -> Feed) throws {
        let changed: [(key: String, bytes: Data)] = try feeds.compactMap { feed in
            let key = "feed:" + feed
            return try get(Feed.self, key).map { stored in (key, try coder.encode(body(stored))) }
        }
        try store.write(changed)
    }
}
