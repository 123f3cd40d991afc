import ArgumentParser
import Espalier
import Feeds
import Foundation

/// Answers with the JSON of a tree: straight from records, and by a model and `JSONEncoder`.
struct Answering: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answers with JSON: json(of:) beside a model and JSONEncoder.")

    @Option(help: "How often each way answers with the tree of 601 nodes.")
    var rounds = 500

    func run() throws {
        print("nodes   bytes   model and JSONEncoder us   json(of:) us   ratio")
        for posts in [1, 17, 100] { try measure(posts) }
    }

    private func measure(_ posts: Int) throws {
        let scratch = try Scratch()
        var sample = Sample(seed: 1)
        let timeline = sample.timeline(posts: posts)
        let identifier = "Timeline:\(timeline.id)"
        let cache = try scratch.cache("cache")
        defer { cache.close() }
        try cache.set(timeline).wait()
        let nodes = try cache.statistics().nodes
        guard let body = cache.json(of: identifier),
            try JSONDecoder().decode(Timeline.self, from: body) == timeline
        else { throw BenchmarkError.differs("the JSON of the tree") }
        var contenders = Contenders()
        contenders.add("model and JSONEncoder") { _ in
            _ = try JSONEncoder().encode(cache.hit(Timeline.self, identifier))
        }
        contenders.add("json(of:)") { _ in _ = cache.json(of: identifier) }
        let rounds = max(100, rounds * 100 / max(posts, 10))
        let times = try contenders.run(rounds: rounds, warmUp: rounds / 10)
        print(
            String(
                format: "%5d %7d %26.1f %14.1f %7.2f", nodes, body.count, times[0], times[1],
                times[0] / times[1]))
    }
}
