@_exported public import EspalierFixtures

/// Makes trees from a seed: the same in every run.
package struct Sample {
    private var generator: FeedGenerator
    private let seed: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        generator = FeedGenerator(seed: seed)
    }

    /// Returns a timeline: six nodes a post, one a feed, and the root.
    package mutating func timeline(posts: Int) -> Timeline {
        var feeds: [Feed] = []
        var left = posts
        while left > 0 {
            feeds.append(feed(number: feeds.count, posts: min(left, FeedGenerator.postsPerFeed)))
            left -= FeedGenerator.postsPerFeed
        }
        return Timeline(id: "\(seed)", feeds: feeds)
    }

    /// Returns a feed whose authors are in no other.
    package mutating func feed(number: Int = 0, posts: Int) -> Feed {
        Feed(converting: generator.feed(number: number, posts: posts))
    }

    /// Returns a person who was not returned before.
    package mutating func person() -> Person { Person(converting: generator.person()) }
}
