import ArgumentParser
import Espalier
import Feeds
import Foundation

struct Reading: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Reads trees of 7 to 10,000 nodes: engine, hand-written baseline and JSONDecoder."
    )

    @Option(help: "How often each way reads the tree of 601 nodes; other sizes in proportion.")
    var rounds = 1_000

    @Option(help: "Posts of the tree, six nodes each; all sizes when left out.")
    var posts: Int?

    @Option(help: "The only way to run, for a profiler.")
    var only: String?

    func run() throws {
        print("nodes   base us    macro   to base   Codable   to base   JSON us  macro to JSON")
        for posts in posts.map({ [$0] }) ?? [1, 2, 17, 100, 500, 1_667] { try measure(posts) }
    }

    private func measure(_ posts: Int) throws {
        let scratch = try Scratch()
        var sample = Sample(seed: 1)
        let timeline = sample.timeline(posts: posts)
        let identifier = "Timeline:\(timeline.id)"
        let written = try scratch.cache("cache")
        try written.set(timeline).wait()
        let nodes = try written.statistics().nodes
        let records = try RawRecords(copying: written)
        written.close()
        let baseline = HandWrittenBaseline(try scratch.environment(with: records))
        let root = try records.handle(of: identifier)
        let cache = try scratch.cache("cache")
        defer { cache.close() }
        let blob = try JSONEncoder().encode(timeline)
        guard try baseline.timeline(root).map(Feed.init(converting:)) == timeline.feeds,
            try cache.hit(Timeline.self, identifier) == timeline,
            try JSONDecoder().decode(Timeline.self, from: blob) == timeline
        else { throw BenchmarkError.differs("what was read") }

        var contenders = Contenders()
        contenders.only = only
        contenders.add("hand-written baseline") { _ in _ = try baseline.timeline(root) }
        contenders.add("macro") { _ in _ = try cache.hit(Timeline.self, identifier) }
        contenders.add("Codable") { _ in _ = try cache.hit(CodableTimeline.self, identifier) }
        contenders.add("JSONDecoder") { _ in _ = try JSONDecoder().decode(Timeline.self, from: blob)
        }
        let rounds = max(30, rounds * 100 / max(posts, 10))
        let times = try contenders.run(rounds: rounds, warmUp: rounds / 10)
        print(
            String(
                format: "%5d %10.1f %7.1f %9.2f %9.1f %9.2f %9.1f %14.3f", nodes, times[0],
                times[1],
                times[1] / times[0], times[2], times[2] / times[0], times[3], times[1] / times[3]))
    }
}
