import Feeds
import Foundation
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

    @Test("A stream makes the feeds of a set, of every content", arguments: FeedContent.allCases)
    func streamed(content: FeedContent) {
        let set = FeedSet(seed: 3, feeds: 4, people: 50, posts: 10, content: content)
        var stream = FeedStream(seed: 3, people: 50, posts: 10, content: content)
        let again = (0..<4).map { _ in stream.next() }
        #expect(again == set.feeds)
        let identifiers = set.feeds.flatMap { feed in
            [feed.id] + feed.posts.flatMap { post in [post.id] + post.comments.map(\.id) }
        }
        #expect(Set(identifiers).count == identifiers.count)
        #expect(Set(set.people.map(\.id)).count == 50)
        let texts = Set(set.feeds.flatMap(\.posts).map(\.text))
        #expect(texts.count == 40)
    }

    @Test("Contents differ in texts or in identifiers alone")
    func contents() throws {
        func feed(_ content: FeedContent) -> Feed {
            FeedSet(feeds: 1, people: 50, posts: 10, content: content).feeds[0]
        }
        let (generated, prose, uuids) = (feed(.generated), feed(.prose), feed(.uuids))
        #expect(prose.posts.map(\.id) == generated.posts.map(\.id))
        #expect(prose.posts.map(\.text) != generated.posts.map(\.text))
        #expect(uuids.posts.map(\.text) == generated.posts.map(\.text))
        #expect(uuids.id == "c42c5a1a-a382-4138-b7ad-5fdd5756bd3d")
        #expect(uuids.posts[0].id == "aca798a8-2857-4f4f-ba9b-a9f29de15620")
        let identifiers =
            [uuids.id] + uuids.posts.map(\.id) + uuids.posts.map(\.author.id)
            + uuids.posts.flatMap(\.comments).map(\.id)
        for identifier in identifiers {
            let uuid = try #require(UUID(uuidString: identifier))
            #expect(uuid.uuidString.lowercased() == identifier)
            #expect(Array(identifier)[14] == "4")
        }
    }

    @Test("Prose is plain text, and posts are runs of its words")
    func prose() {
        let text = Prose.words.joined(separator: " ")
        #expect((40_000...80_000).contains(text.utf8.count))
        #expect(text.hasPrefix("An espalier is a tree") && !text.contains("#"))
        #expect(text.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
        for post in FeedSet(feeds: 1, people: 50, posts: 10, content: .prose).feeds[0].posts {
            #expect(post.text.split(separator: " ").count == 18)
            #expect(text.contains(post.text))
        }
    }
}
