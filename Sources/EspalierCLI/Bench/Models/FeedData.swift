import Foundation

/// The feed of the design's measurements: 601 nodes, of which 100 posts, 200 comments and 300
/// people, in 131 bytes a record and 119 kB of JSON; seeded, so that every run stores the same
/// bytes.
struct FeedData {
    struct Person {
        let id, name, handle, headline, avatar: String
        let followersCount, followingCount: Int
        let isVerified: Bool
    }

    struct Comment {
        let id, text: String
        let createdAt: Double
        let likesCount: Int
        let isEdited: Bool
        let author: Person
    }

    struct Post {
        let id, text: String
        let createdAt: Double
        let likesCount, repliesCount: Int
        let isPinned: Bool
        let author: Person
        let comments: [Comment]
    }

    let id: String
    let title: String
    let posts: [Post]

    static let commentsPerPost = 2

    /// A feed of `posts` posts, which are six nodes each, and itself.
    init(seed: UInt64, posts count: Int) {
        var random = SplitMix64(state: seed)
        let base = seed * 1_000_000
        var nextPerson = base
        func person(_ random: inout SplitMix64) -> Person {
            nextPerson += 1
            let name = "\(Self.pick(Self.given, &random)) \(Self.pick(Self.family, &random))"
            return Person(
                id: "\(nextPerson)", name: name, handle: "user_\(nextPerson)",
                headline: Self.words(4, &random),
                avatar: "https://img.example.com/\(nextPerson % 97)/\(nextPerson).jpg",
                followersCount: Int(random.next() % 10_000),
                followingCount: Int(random.next() % 100),
                isVerified: random.next() % 20 == 0)
        }
        var date = 700_000_000.0 + Double(seed)
        posts = (0..<count).map { number in
            date += 61.5
            let author = person(&random)
            let comments = (0..<Self.commentsPerPost).map { index in
                Comment(
                    id: "\(base + UInt64(number * 10 + index))", text: Self.words(9, &random),
                    createdAt: date + Double(index), likesCount: Int(random.next() % 50),
                    isEdited: random.next() % 10 == 0, author: person(&random))
            }
            return Post(
                id: "\(base + UInt64(number))", text: Self.words(18, &random), createdAt: date,
                likesCount: Int(random.next() % 500), repliesCount: comments.count,
                isPinned: number == 0,
                author: author,
                comments: comments)
        }
        id = "\(seed)"
        title = "Feed \(seed)"
    }

    private static let given = [
        "Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Tony", "Radia", "Leslie", "Frances",
    ]
    private static let family = [
        "Lovelace", "Hopper", "Turing", "Dijkstra", "Liskov", "Knuth", "Hoare", "Perlman",
        "Lamport",
    ]
    private static let vocabulary = [
        "cache", "tree", "record", "graph", "feed", "swift", "page", "cursor", "budget", "evict",
        "stale", "fresh",
        "under", "over", "quick", "brown", "normal", "form", "wall", "branch", "leaf", "root",
        "trained", "flat",
    ]

    private static func pick(_ from: [String], _ random: inout SplitMix64) -> String {
        from[Int(random.next() % UInt64(from.count))]
    }

    private static func words(_ count: Int, _ random: inout SplitMix64) -> String {
        (0..<count).map { _ in pick(vocabulary, &random) }.joined(separator: " ")
    }
}

/// Sebastiano Vigna's SplitMix64.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
