import Feeds
import Synchronization

/// The ceiling: models in a dictionary. No way to have a feed at hand is faster, and nothing is on
/// the disk.
final class MemoryContender: Contender {
    private struct Contents {
        var feeds: [String: Feed] = [:]
        var people: [String: Person] = [:]
        var collections: [String: [Person]] = [:]
    }

    private let contents = Mutex(Contents())

    func open() throws {}
    func close() throws {}

    func write(_ feed: Feed) throws { contents.withLock { $0.feeds[feed.id] = feed } }

    func read(_ feed: String) throws -> FeedRead? {
        contents.withLock { $0.feeds[feed] }.map { found in FeedRead(found) }
    }

    func person(_ id: String, shownIn feed: String) throws -> Person? {
        contents.withLock { contents in
            if let person = contents.people[id] { return person }
            return contents.feeds[feed]?.person(id)
        }
    }

    func update(_ person: Person, shownIn feeds: [String]) throws {
        contents.withLock { contents in
            contents.people[person.id] = person
            for feed in feeds { contents.feeds[feed] = contents.feeds[feed]?.showing(person) }
        }
    }

    func delete(person id: String, shownIn feeds: [String]) throws {
        contents.withLock { contents in
            contents.people[id] = nil
            for feed in feeds { contents.feeds[feed] = contents.feeds[feed]?.without(person: id) }
        }
    }

    func setCollection(_ people: [Person], forKey key: String) throws {
        contents.withLock { $0.collections[key] = people }
    }

    func append(_ page: [Person], to current: [Person], forKey key: String) throws {
        contents.withLock { $0.collections[key, default: []] += page }
    }

    func collection(forKey key: String) throws -> [Person]? {
        contents.withLock { $0.collections[key] }
    }
}
