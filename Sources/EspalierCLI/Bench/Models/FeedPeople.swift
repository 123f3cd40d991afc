/// People of no feed, each of them new.
struct FeedPeople {
    private var count = 0

    /// Beyond what feeds call theirs.
    private static let base = 1 << 50

    mutating func next(_ amount: Int) -> [HandWrittenPerson] {
        defer { count += amount }
        return (count..<count + amount).map { number in
            HandWrittenPerson(
                id: "\(Self.base + number)", name: "Person number \(number)",
                handle: "user_\(number)",
                headline: "prunes pear trees",
                avatar: "https://img.example.com/\(number % 97)/\(number).jpg",
                followersCount: number % 10_000, followingCount: number % 100,
                isVerified: number % 20 == 0)
        }
    }

    static func identifier(_ number: Int) -> String { "Person:\(base + number)" }
}

extension HandWrittenPerson {
    func renamed(_ name: String) -> HandWrittenPerson {
        HandWrittenPerson(
            id: id, name: name, handle: handle, headline: headline, avatar: avatar,
            followersCount: followersCount,
            followingCount: followingCount, isVerified: isVerified)
    }
}

extension HandWrittenFeed {
    /// With another like for so many posts, spread over it.
    func liked(posts count: Int) -> HandWrittenFeed {
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
            repliesCount: repliesCount,
            isPinned: isPinned, author: author, comments: comments)
    }
}
