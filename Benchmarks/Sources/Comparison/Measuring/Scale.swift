/// How much is measured.
struct Scale: Codable, Sendable {
    var feeds = 100
    var people = 2_000
    var posts = 100
    /// Turns of a workload that reads, and of one that writes.
    var readingRounds = 60
    var writingRounds = 20
    var coldRounds = 10
    /// Of the collection that is appended to, and of a page.
    var collection = 10_000
    var page = 20
    /// Records that caches grow to, for all and for those that are measured beyond.
    var growth = [1_000, 10_000, 100_000, 1_000_000]
    var farGrowth = [10_000_000]
    /// Of each measurement that runs by the clock.
    var seconds = 1.0
    var evictionBudget = 8 << 20
    var evictionFeeds = 1_000
    var evictionReads = 4_000

    static let full = Scale()

    /// Everything once, in seconds, also in a debug build: shows that it runs and that all contenders read what was written.
    static let smoke = Scale(
        feeds: 4, people: 40, posts: 6, readingRounds: 2, writingRounds: 2, coldRounds: 1, collection: 200, page: 5,
        growth: [100, 1_000], farGrowth: [2_000], seconds: 0.1, evictionBudget: 1 << 20, evictionFeeds: 30,
        evictionReads: 60)
}
