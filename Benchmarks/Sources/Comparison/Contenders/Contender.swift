import Feeds

/// One way to keep feeds, written as an app would write it that has chosen this way, and as well as
/// the way allows.
///
/// When a call returns, its write is as durable as `Durability` says. Several threads may read at a
/// time, also while another one writes; writes come one after the other.
protocol Contender: AnyObject {
    /// Opens the contender's directory, or creates it. All other calls come between this one and
    /// `close`.
    func open() throws
    func close() throws

    /// Prepares for the next write, outside of the measured time: a contender with models of other
    /// types makes them here.
    func prepare(_ feed: Feed)
    /// Writes a feed, which is new or replaces another state of itself.
    func write(_ feed: Feed) throws
    /// Brings everything into the form that it has after a while. Called when everything is written
    /// that is then read.
    func settle() throws
    /// Makes the models of a feed. Returns nil if the feed is missing.
    func read(_ feed: String) throws -> FeedRead?

    /// Reads one node. `feed` is a feed that shows it, for contenders that keep feeds whole.
    func person(_ id: String, shownIn feed: String) throws -> Person?
    /// Writes another state of a person. `feeds` are all that show the person, for contenders that
    /// keep feeds whole.
    func update(_ person: Person, shownIn feeds: [String]) throws
    /// Deletes a person with its posts and comments, which cannot be read without it.
    func delete(person id: String, shownIn feeds: [String]) throws

    func setCollection(_ people: [Person], forKey key: String) throws
    /// Appends a page to a list. `current` is the list so far, which the app shows and has in
    /// memory.
    func append(_ page: [Person], to current: [Person], forKey key: String) throws
    func collection(forKey key: String) throws -> [Person]?
}

/// A feed that was read: its models are made, of whatever types the contender has.
struct FeedRead {
    /// Returns the feed as plain models for comparison; not measured.
    let plain: () -> Feed

    init(_ plain: @escaping @autoclosure () -> Feed) { self.plain = plain }
}

extension Contender {
    func prepare(_ feed: Feed) {}
    func settle() throws {}
}

/// What a write survives when its call returns. Each contender is configured for the same.
enum Durability: String, CaseIterable, Codable {
    /// The end of the process: the operating system has the write. Nothing waits for the disk.
    case process
    /// Loss of power: each write waits for the disk, and no write is lost.
    case power
}

enum ComparisonError: Error, CustomStringConvertible {
    case missing(String)
    case differs(String, String)
    case system(String, Int32)
    case rocksDB(String)
    case zstd(String)

    var description: String {
        switch self {
        case .missing(let what): "\(what) is not there"
        case .differs(let name, let what): "\(name): \(what) is not what was written"
        case .system(let call, let code): "\(call) failed with error \(code)"
        case .rocksDB(let message): "RocksDB: \(message)"
        case .zstd(let message): "zstd: \(message)"
        }
    }
}
