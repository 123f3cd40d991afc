import Espalier
import Feeds

/// This library, with feeds that are declared by the macro or as `Codable` alone.
final class EngineContender<Shown: FeedModel>: Contender {
    private let directory: String
    private let configuration: Configuration
    private let consistency: Consistency
    private var opened: NormalizedCache?
    /// The next write, made before the measured time begins.
    private var prepared: Shown?

    init(
        directory: String, durability: Durability, compression: Compression,
        budget: ByteCount = .gibibytes(8), consistency: Consistency = .latest,
        memory: ByteCount = ByteCount(0)
    ) {
        self.directory = directory
        self.consistency = consistency
        configuration = Configuration(
            budget: budget, durability: durability == .process ? .noSync : .sync,
            compression: compression, memoryBudget: memory)
    }

    func open() throws {
        opened = try NormalizedCache(directory: directory, configuration: configuration)
    }

    func close() throws {
        opened?.close()
        opened = nil
    }

    var cache: NormalizedCache {
        get throws {
            guard let opened else { throw ComparisonError.missing("an open cache") }
            return opened
        }
    }

    func prepare(_ feed: Feed) { prepared = Shown(feed) }

    func write(_ feed: Feed) throws {
        let model = prepared ?? Shown(feed)
        prepared = nil
        try cache.set(model).wait()
    }

    /// Compresses records that were written before there were dictionaries too.
    func settle() throws {
        if configuration.compression != .none { try cache.compact().wait() }
    }

    func read(_ feed: String) throws -> FeedRead? {
        try cache.read(Shown.self, Self.identifier(feed: feed), consistency: consistency).map {
            FeedRead($0.plain)
        }
    }

    /// Reads a feed without using it.
    func peek(_ feed: String) throws -> Feed? {
        try cache.read(Shown.self, Self.identifier(feed: feed), access: .peek)?.plain
    }

    func person(_ id: String, shownIn feed: String) throws -> Person? {
        try cache.read(Shown.PersonModel.self, Self.identifier(person: id)).map(Shown.plain)
    }

    func update(_ person: Person, shownIn feeds: [String]) throws {
        try cache.set(Shown.model(of: person)).wait()
    }

    func delete(person id: String, shownIn feeds: [String]) throws {
        try cache.delete(Self.identifier(person: id)).wait()
    }

    func setCollection(_ people: [Person], forKey key: String) throws {
        try cache.setCollection(people.map(Shown.model), forKey: key).wait()
    }

    func append(_ page: [Person], to current: [Person], forKey key: String) throws {
        try cache.append(page.map(Shown.model), toCollection: key).wait()
    }

    func collection(forKey key: String) throws -> [Person]? {
        try cache.collection(of: Shown.PersonModel.self, forKey: key)?.map(Shown.plain)
    }

    private static func identifier(feed: String) -> String { "Feed:\(feed)" }
    private static func identifier(person: String) -> String { "Person:\(person)" }
}
