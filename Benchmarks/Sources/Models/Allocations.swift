import ArgumentParser
import CAllocations
import Espalier
import Feeds
import Foundation

struct Allocations: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            """
            Counts heap allocations of reading a feed of 601 nodes, beside those of the models \
            themselves.
            """
    )

    func run() throws {
        let scratch = try Scratch()
        var sample = Sample(seed: 1)
        let feed = sample.feed(posts: 100)
        let identifier = "Feed:\(feed.id)"
        let cache = try scratch.cache("cache")
        defer { cache.close() }
        try cache.set(feed).wait()
        for _ in 0..<10 { _ = try cache.hit(Feed.self, identifier) }
        let before = allocation_count()
        let read = try cache.hit(Feed.self, identifier)
        let counted = Int(allocation_count() - before)
        let nodes = try cache.statistics().nodes
        let own = read.allocations
        print(
            "\(nodes) nodes: \(counted) allocations, \(own) for the strings and arrays of the models"
        )
        print(String(format: "beyond them, a node: %.3f", Double(counted - own) / Double(nodes)))
    }
}

extension String {
    /// Up to 15 bytes stand in the string itself.
    fileprivate var allocations: Int { utf8.count > 15 ? 1 : 0 }
}

extension Array {
    fileprivate var allocations: Int { isEmpty ? 0 : 1 }
}

extension Feed {
    fileprivate var allocations: Int {
        posts.reduce(id.allocations + title.allocations + posts.allocations) { $0 + $1.allocations }
    }
}

extension Post {
    fileprivate var allocations: Int {
        comments.reduce(
            id.allocations + text.allocations + comments.allocations + author.allocations
        ) {
            $0 + $1.id.allocations + $1.text.allocations + $1.author.allocations
        }
    }
}

extension Person {
    fileprivate var allocations: Int {
        [id, name, handle, headline, avatar].reduce(0) { $0 + $1.allocations }
    }
}
