import ArgumentParser
import Espalier
import Feeds
import Foundation

struct Writing: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            """
            Writes feeds of 601 nodes: new, the same again, one node in a hundred changed; beside \
            raw puts of the same records.
            """
    )

    @Option(help: "Feeds written by each.")
    var rounds = 100

    @Option(help: "Posts of a feed, six nodes each.")
    var posts = 100

    @Option(help: "The only way to run, for a profiler.")
    var only: String?

    func run() throws {
        let scratch = try Scratch()
        let warmUp = rounds / 10
        let isAgain = only.map(Self.again.contains) ?? false
        let feeds = (0..<(isAgain ? min(10, rounds) : rounds + warmUp)).map { round in
            var sample = Sample(seed: UInt64(round + 1))
            return sample.feed(posts: posts)
        }
        // A profiler is to see what it asks for, and little else.
        let records = try only == nil || only == Self.rawPuts ? recordsOf(feeds, scratch) : []
        let raw = try RawEnvironment(directory: scratch.path + "/raw")
        let cache = try scratch.cache("cache")
        defer { cache.close() }
        let codable = try scratch.cache("codable")
        defer { codable.close() }

        if isAgain { for feed in feeds { try cache.set(feed).wait() } }
        var contenders = Contenders()
        contenders.only = only
        contenders.add(Self.rawPuts) { try raw.write(records[$0]) }
        contenders.add("a new feed") { try cache.set(feeds[$0]).wait() }
        contenders.add("the same again") { try cache.set(feeds[$0 % feeds.count]).wait() }
        contenders.add("one node in a hundred changed") {
            try cache.set(feeds[$0 % feeds.count].edited($0)).wait()
        }
        let bridged = only == nil || only == Self.codable ? feeds.map(CodableFeed.init) : []
        contenders.add(Self.codable) { try codable.set(bridged[$0]).wait() }
        contenders.add("JSONEncoder alone") { _ = try JSONEncoder().encode(feeds[$0]) }
        let times = try contenders.run(rounds: rounds, warmUp: warmUp)
        for (name, time) in zip(contenders.names, times) {
            print(String(format: "%8.1f us %6.2f  ", time, time / times[0]) + name)
        }
    }

    private static let rawPuts = "raw puts of records and index"
    private static let codable = "a new feed, Codable"
    /// What is measured of feeds that the cache has.
    private static let again = ["the same again", "one node in a hundred changed"]

    /// The records of each feed, as the engine has them in its file.
    private func recordsOf(_ feeds: [Feed], _ scratch: Scratch) throws -> [RawRecords] {
        let cache = try scratch.cache("sample")
        for feed in feeds { try cache.set(feed).wait() }
        let perFeed = try cache.statistics().nodes / feeds.count
        let all = try RawRecords(copying: cache)
        cache.close()
        return stride(from: 0, to: all.nodes.count, by: perFeed).map { start in
            RawRecords(
                nodes: Array(all.nodes[start..<start + perFeed]),
                index: Array(all.index[start..<start + perFeed]))
        }
    }
}
