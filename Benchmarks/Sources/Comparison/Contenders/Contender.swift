import Feeds

/// One way to keep feeds, written as an app would write it that had chosen this way, and as well as
/// that way allows.
///
/// What a call wrote is as durable when it returns as `Durability` says. Reads may come from
/// several threads at a time, also while another one writes; writes come one after the other.
protocol Contender: AnyObject {
    /// Opens what is in its directory, or makes it. Everything else is called in between this and
    /// `close`.
    func open() throws
    func close() throws

    /// Told of what is written next, outside of what is timed: a contender whose models are of
    /// other types makes them.
    func prepare(_ feed: Feed)
    /// A feed, which is new or replaces another state of itself.
    func write(_ feed: Feed) throws
    /// Brings everything into the form that it has after a while: called when all is written that
    /// is then read.
    func settle() throws
    /// Makes the models of a feed; nil where it is missing.
    func read(_ feed: String) throws -> FeedRead?

    /// One node. `feed` is one that shows it, for those that keep feeds whole.
    func person(_ id: String, shownIn feed: String) throws -> Person?
    /// Another state of a person. `feeds` are all that show the person: who keeps feeds whole is
    /// told for nothing.
    func update(_ person: Person, shownIn feeds: [String]) throws
    /// Deletes a person, and with it what can't be without: its posts and comments.
    func delete(person id: String, shownIn feeds: [String]) throws

    func setCollection(_ people: [Person], forKey key: String) throws
    /// `current` is the list as it is, which the app shows and has in memory.
    func append(_ page: [Person], to current: [Person], forKey key: String) throws
    func collection(forKey key: String) throws -> [Person]?
}

/// A feed that was read: its models are made, of whatever types the contender has.
struct FeedRead {
    /// The same as plain models, to compare; not timed.
    let plain: () -> Feed

    init(_ plain: @escaping @autoclosure () -> Feed) { self.plain = plain }
}

extension Contender {
    func prepare(_ feed: Feed) {}
    func settle() throws {}
}

/// What a write survives when its call returns. Each contender is set up for the same.
enum Durability: String, CaseIterable, Codable {
    /// The end of the process: what was written is the operating system's. Nothing waits for the
    /// disk.
    case process
    /// Loss of power: each write waits for the disk, and nothing that was written is lost.
    case power
}

enum ComparisonError: Error, CustomStringConvertible {
    case missing(String)
    case differs(String, String)
    case system(String, Int32)
    case rocksDB(String)

    var description: String {
        switch self {
        case .missing(let what): "\(what) is not there"
        case .differs(let name, let what): "\(name): \(what) is not what was written"
        case .system(let call, let code): "\(call) failed with error \(code)"
        case .rocksDB(let message): "RocksDB: \(message)"
        }
    }
}
