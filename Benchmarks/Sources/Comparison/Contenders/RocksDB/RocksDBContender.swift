import Feeds

/// RocksDB with the hand-written baseline's codec: a record for each node under its identifier.
/// References are identifiers.
final class RocksDBContender: Contender {
    private let directory: String
    private let durability: Durability
    private var opened: RocksStore?

    init(directory: String, durability: Durability) throws {
        self.directory = directory
        self.durability = durability
    }

    func open() throws { opened = try RocksStore(directory: directory, durability: durability) }

    func close() throws { opened = nil }

    private var store: RocksStore {
        get throws {
            guard let opened else { throw ComparisonError.missing("an open database") }
            return opened
        }
    }

    func write(_ feed: Feed) throws { try store.write { writing in writing.put(feed) } }

    func read(_ feed: String) throws -> FeedRead? {
        try store.read { reading in try reading.feed(feed) }.map { feed in FeedRead(feed) }
    }

    func person(_ id: String, shownIn feed: String) throws -> Person? {
        try store.read { reading in try reading.person(id) }
    }

    func update(_ person: Person, shownIn feeds: [String]) throws {
        try store.write { writing in writing.put(person) }
    }

    func delete(person id: String, shownIn feeds: [String]) throws {
        try store.write { writing in writing.delete(person: id) }
    }

    func setCollection(_ people: [Person], forKey key: String) throws {
        let old = try chunkCount(key)
        try store.write { writing in
            for number in 0..<old { writing.deleteChunk(number, list: key) }
            writing.put(people, list: key, chunk: 0)
        }
    }

    func append(_ page: [Person], to current: [Person], forKey key: String) throws {
        let end = try chunkCount(key)
        try store.write { writing in writing.put(page, list: key, chunk: end) }
    }

    private func chunkCount(_ key: String) throws -> Int {
        try store.read { reading in try reading.chunkCount(key) } ?? 0
    }

    func collection(forKey key: String) throws -> [Person]? {
        try store.read { reading in try reading.list(key) }
    }
}
