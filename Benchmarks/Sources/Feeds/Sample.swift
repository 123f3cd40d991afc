/// Makes trees from a seed: the same in every run.
package struct Sample {
    package static let postsPerFeed = 100
    package static let commentsPerPost = 2

    private var random: SplitMix64
    private let seed: UInt64
    private var nextPerson: UInt64
    private var nextPost: UInt64
    private var date = 700_000_000.0

    package init(seed: UInt64) {
        self.seed = seed
        random = SplitMix64(state: seed)
        nextPerson = seed * 1_000_000
        nextPost = seed * 1_000_000
    }

    /// Six nodes a post, one a feed, and the root.
    package mutating func timeline(posts: Int) -> Timeline {
        var feeds: [Feed] = []
        var left = posts
        while left > 0 {
            feeds.append(feed(number: feeds.count, posts: min(left, Self.postsPerFeed)))
            left -= Self.postsPerFeed
        }
        return Timeline(id: "\(seed)", feeds: feeds)
    }

    /// A feed whose people are in no other.
    package mutating func feed(number: Int = 0, posts: Int) -> Feed {
        feed(number: number, posts: posts) { $0.person() }
    }

    package mutating func feed(number: Int, posts: Int, person: (inout Sample) -> Person) -> Feed {
        Feed(
            id: "\(seed)-\(number)", title: "Feed \(seed)",
            posts: (0..<posts).map { index in
                nextPost += 1
                date += 61.5
                return Post(
                    id: "\(nextPost)", text: words(18), createdAt: date,
                    likesCount: Int(random.next() % 500),
                    repliesCount: Self.commentsPerPost, isPinned: index == 0, author: person(&self),
                    comments: (0..<Self.commentsPerPost).map { comment($0, person(&self)) })
            })
    }

    private mutating func comment(_ number: Int, _ author: Person) -> Comment {
        Comment(
            id: "\(nextPost * 10 + UInt64(number))", text: words(9),
            createdAt: date + Double(number),
            likesCount: Int(random.next() % 50), isEdited: random.next() % 10 == 0, author: author)
    }

    package mutating func person() -> Person {
        nextPerson += 1
        return Person(
            id: "\(nextPerson)", name: "\(pick(Self.given)) \(pick(Self.family))",
            handle: "user_\(nextPerson)",
            headline: words(4),
            avatar: "https://img.example.com/\(nextPerson % 97)/\(nextPerson).jpg",
            followersCount: Int(random.next() % 10_000), followingCount: Int(random.next() % 100),
            isVerified: random.next() % 20 == 0)
    }

    private mutating func pick(_ from: [String]) -> String {
        from[Int(random.next() % UInt64(from.count))]
    }

    private mutating func words(_ count: Int) -> String {
        (0..<count).map { _ in pick(Self.vocabulary) }.joined(separator: " ")
    }

    private static let given = [
        "Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Tony", "Radia", "Leslie",
    ]
    private static let family = [
        "Lovelace", "Hopper", "Turing", "Dijkstra", "Liskov", "Knuth", "Hoare", "Perlman",
    ]
    private static let vocabulary = [
        "cache", "tree", "record", "graph", "feed", "swift", "page", "cursor", "budget", "evict",
        "stale", "fresh",
        "under", "over", "quick", "brown", "normal", "form", "wall", "branch", "leaf", "root",
        "trained", "flat",
    ]
}
