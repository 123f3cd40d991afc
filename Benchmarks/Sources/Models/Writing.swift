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

    /// What the engine writes for each feed, taken from its file.
    private func recordsOf(_ feeds: [Feed], _ scratch: Scratch) throws -> [RawRecords] {
        let cache = try scratch.cache("sample")
        for feed in feeds { try cache.set(feed).wait() }
        let perFeed = try cache.statistics().nodes / feeds.count
        cache.close()
        let contents = try scratch.copy(of: "sample").contents()
        let byHandle = Dictionary(
            contents.index.map { ($0.value, $0) }, uniquingKeysWith: { first, _ in first })
        return try stride(from: 0, to: contents.nodes.count, by: perFeed).map { start in
            let nodes = Array(contents.nodes[start..<start + perFeed])
            let index = try nodes.map { node in
                guard let entry = byHandle[node.key] else {
                    throw RawEnvironment.Failure.lacksRecord("\(node.key)")
                }
                return entry
            }
            return RawRecords(nodes: nodes, index: index)
        }
    }
}
