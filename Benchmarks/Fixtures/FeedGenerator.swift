/// Makes feeds from a seed: the same in every run.
///
/// A feed of 100 posts has 601 nodes: itself, its posts, two comments for each of them, and the 300
/// authors. Its records take 131 bytes each, and its JSON takes 119 kB.
///
///     var generator = FeedGenerator(seed: 1)
///     let feed = generator.feed(posts: 100)
public struct FeedGenerator: Sendable {
    public static let postsPerFeed = 100
    public static let commentsPerPost = 2

    /// Where posts, comments and headlines take their words from.
    public enum Texts: Sendable {
        /// Words of a small vocabulary, each drawn by itself.
        case vocabulary
        /// Runs of consecutive words of a text, from places drawn at random. The text has more
        /// words than the longest run, which is that of a post.
        case runs(of: [String])
    }

    /// The form of the identifiers of feeds, posts, comments and people.
    public enum Identifiers: Sendable {
        case numbers
        /// UUIDs, each the hash of the number that stands for it otherwise.
        case uuids
    }

    private static let wordsPerPost = 18

    private var random: SplitMix64
    private let seed: UInt64
    private let texts: Texts
    private let identifiers: Identifiers
    private var nextPerson: UInt64
    private var nextPost: UInt64
    private var date = 700_000_000.0

    public init(
        seed: UInt64, texts: Texts = .vocabulary, identifiers: Identifiers = .numbers
    ) {
        if case .runs(let words) = texts { precondition(words.count > Self.wordsPerPost) }
        self.seed = seed
        self.texts = texts
        self.identifiers = identifiers
        random = SplitMix64(state: seed)
        nextPerson = seed * 1_000_000
        nextPost = seed * 1_000_000
    }

    /// Returns a feed whose identifier is the seed and `number`, and whose authors are in no other.
    public mutating func feed(number: Int = 0, posts: Int) -> HandWrittenFeed {
        feed(number: number, posts: posts) { $0.person() }
    }

    /// Returns a feed whose identifier is the seed and `number`, with authors from `person`.
    public mutating func feed(
        number: Int, posts: Int, person: (inout FeedGenerator) -> HandWrittenPerson
    ) -> HandWrittenFeed {
        HandWrittenFeed(
            id: identifier(feed: number), title: "Feed \(seed)",
            posts: (0..<posts).map { index in
                nextPost += 1
                date += 61.5
                return HandWrittenPost(
                    id: identifier(.post, nextPost), text: words(Self.wordsPerPost),
                    createdAt: date,
                    likesCount: Int(random.next() % 500), repliesCount: Self.commentsPerPost,
                    isPinned: index == 0, author: person(&self),
                    comments: (0..<Self.commentsPerPost).map { comment($0, person(&self)) })
            })
    }

    private mutating func comment(_ number: Int, _ author: HandWrittenPerson)
        -> HandWrittenComment
    {
        HandWrittenComment(
            id: identifier(.comment, nextPost * 10 + UInt64(number)), text: words(9),
            createdAt: date + Double(number), likesCount: Int(random.next() % 50),
            isEdited: random.next() % 10 == 0, author: author)
    }

    /// Returns a person who was not returned before.
    public mutating func person() -> HandWrittenPerson {
        nextPerson += 1
        return HandWrittenPerson(
            id: identifier(.person, nextPerson), name: "\(pick(Self.given)) \(pick(Self.family))",
            handle: "user_\(nextPerson)", headline: words(4),
            avatar: "https://img.example.com/\(nextPerson % 97)/\(nextPerson).jpg",
            followersCount: Int(random.next() % 10_000), followingCount: Int(random.next() % 100),
            isVerified: random.next() % 20 == 0)
    }

    private mutating func pick(_ from: [String]) -> String {
        from[Int(random.next() % UInt64(from.count))]
    }

    private mutating func words(_ count: Int) -> String {
        switch texts {
        case .vocabulary: (0..<count).map { _ in pick(Self.vocabulary) }.joined(separator: " ")
        case .runs(let words):
            words[Int(random.next() % UInt64(words.count - count))...].prefix(count)
                .joined(separator: " ")
        }
    }

    private func identifier(feed number: Int) -> String {
        switch identifiers {
        case .numbers: "\(seed)-\(number)"
        case .uuids: HashedUUID.text(.feed, seed << 32 | UInt64(number))
        }
    }

    private func identifier(_ kind: HashedUUID.Kind, _ number: UInt64) -> String {
        switch identifiers {
        case .numbers: "\(number)"
        case .uuids: HashedUUID.text(kind, number)
        }
    }

    private static let given = [
        "Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Tony", "Radia", "Leslie",
    ]
    private static let family = [
        "Lovelace", "Hopper", "Turing", "Dijkstra", "Liskov", "Knuth", "Hoare", "Perlman",
    ]
    private static let vocabulary = [
        "cache", "tree", "record", "graph", "feed", "swift", "page", "cursor", "budget", "evict",
        "stale", "fresh", "under", "over", "quick", "brown", "normal", "form", "wall", "branch",
        "leaf", "root", "trained", "flat",
    ]
}

/// UUIDs that look random and are the same in every run: the hash of a number and of what it
/// numbers.
enum HashedUUID {
    enum Kind: UInt64 {
        case feed, post, comment, person
    }

    /// Returns a UUID of version 4 in small letters. The number is less than 2^62.
    static func text(_ kind: Kind, _ number: UInt64) -> String {
        var random = SplitMix64(state: number | kind.rawValue << 62)
        let high = random.next() & ~0xF000 | 0x4000
        let low = random.next() & (.max >> 2) | 1 << 63
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for digit in 0..<32 {
            if [8, 12, 16, 20].contains(digit) { text.append(UInt8(ascii: "-")) }
            let half = digit < 16 ? high : low
            text.append(Self.digits[Int(half >> (60 - UInt64(digit % 16) * 4) & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
}

/// People who are in no feed, as a collection or a paced writer stores them.
package enum CollectionPeople {
    /// Beyond the numbers of the people in feeds.
    private static let base = 1 << 50

    /// Returns the person with a number. The same number is the same person.
    package static func person(_ number: Int, name: String? = nil) -> HandWrittenPerson {
        HandWrittenPerson(
            id: "\(base + number)", name: name ?? "Person number \(number)",
            handle: "user_\(number)", headline: "prunes pear trees",
            avatar: "https://img.example.com/\(number % 97)/\(number).jpg",
            followersCount: number % 10_000, followingCount: number % 100,
            isVerified: number % 20 == 0)
    }

    package static func identifier(_ number: Int) -> String { "Person:\(base + number)" }
}

extension HandWrittenPerson {
    /// Returns the same person with another name.
    package func renamed(_ name: String) -> HandWrittenPerson {
        HandWrittenPerson(
            id: id, name: name, handle: handle, headline: headline, avatar: avatar,
            followersCount: followersCount, followingCount: followingCount, isVerified: isVerified)
    }
}

extension HandWrittenFeed {
    /// Returns the same feed with one like more for some of its posts, spread over the feed.
    package func liked(posts count: Int) -> HandWrittenFeed {
        var posts = posts
        for index in stride(from: 0, to: posts.count, by: max(1, posts.count / max(1, count)))
            .prefix(count)
        {
            posts[index] = posts[index].liked()
        }
        return HandWrittenFeed(id: id, title: title, posts: posts)
    }
}

extension HandWrittenPost {
    fileprivate func liked() -> HandWrittenPost {
        HandWrittenPost(
            id: id, text: text, createdAt: createdAt, likesCount: likesCount + 1,
            repliesCount: repliesCount, isPinned: isPinned, author: author, comments: comments)
    }
}
