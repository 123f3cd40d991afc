import Feeds
import Testing

@testable import Comparison

@Suite struct FeedSetTests {
    @Test("The same seed makes the same feeds of 601 nodes")
    func seeded() {
        let first = FeedSet(feeds: 3)
        #expect(first.feeds == FeedSet(feeds: 3).feeds)
        #expect(first.feeds != FeedSet(seed: 2, feeds: 3).feeds)
        for feed in first.feeds {
            let ofPosts = feed.posts.reduce(0) { $0 + 2 + $1.comments.count * 2 }
            #expect(1 + ofPosts == 601)
        }
    }
}
