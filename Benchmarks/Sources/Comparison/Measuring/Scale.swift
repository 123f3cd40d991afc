import Feeds

/// The sizes of a run.
struct Scale: Codable, Sendable {
    var feeds = 100
    var people = 2_000
    var posts = 100
    /// The turns of a workload that reads, and of one that writes.
    var readingRounds = 60
    var writingRounds = 20
    var coldRounds = 10
    /// The length of the collection to which a workload appends, and of a page.
    var collection = 10_000
    var page = 20
    /// The numbers of records to which caches grow: for all contenders, and for those that are
    /// measured beyond.
    var growth = [1_000, 10_000, 100_000, 1_000_000]
    var farGrowth: [Int] = []
    /// The duration of each measurement that runs by the clock.
    var seconds = 1.0
    var evictionBudget = 8 << 20
    var evictionFeeds = 1_000
    var evictionReads = 4_000
    /// The budgets that all contenders with a limit fill, and those that the engine fills besides.
    var budgets = [2 << 20, 8 << 20, 50 << 20]
    var engineBudgets = [3 << 19]
    /// The distinct feeds that are streamed for each MiB of budget: twice as many as fit in zstd
    /// frames, and more than ten times as many as fit as JSON.
    var feedsPerMebibyte = 150

    /// The feeds that contenders keep in most workloads.
    var feedSet: FeedSet { FeedSet(feeds: feeds, people: people, posts: posts) }

    static let full = Scale()

    /// Does everything once, in seconds, also in a debug build: shows that it runs and that all
    /// contenders read what was written.
    static let smoke = Scale(
        feeds: 4, people: 40, posts: 6, readingRounds: 2, writingRounds: 2, coldRounds: 1,
        collection: 200, page: 5,
        growth: [100, 1_000], farGrowth: [2_000], seconds: 0.1, evictionBudget: 1 << 20,
        evictionFeeds: 30,
        evictionReads: 60, budgets: [1 << 20], engineBudgets: [3 << 19])

    /// Does everything with the same data and fewer repetitions, in minutes: for trying out a
    /// change. Leaves out what takes longest.
    static let quick = Scale(
        readingRounds: 10, writingRounds: 5, coldRounds: 3, growth: [1_000, 10_000, 100_000],
        seconds: 0.3, evictionReads: 1_000, budgets: [2 << 20, 8 << 20])

    /// The allowed numbers of records: less than a feed's worth is no cache, and more than some
    /// twenty millions exceed the limit of 8 GiB, which is the same for the engine and the
    /// baseline.
    static let largestAllowed = 1_000...20_000_000

    /// Returns a scale whose caches grow by factors of ten to a number of records. Beyond a million
    /// only those contenders grow that are measured there.
    func growing(to largest: Int) -> Scale {
        let powers = sequence(first: 1_000) { $0 * 10 }.prefix { $0 < largest }
        let sizes = powers + [largest]
        var scale = self
        scale.growth = sizes.filter { $0 <= 1_000_000 }
        scale.farGrowth = sizes.filter { $0 > 1_000_000 }
        return scale
    }
}
