/// The feeds that all contenders keep: of 601 nodes, of which 300 are people drawn by Zipf from all
/// people.
package struct FeedSet: Sendable {
    package let people: [Person]
    package private(set) var feeds: [Feed]

    package init(
        seed: UInt64 = 1, feeds count: Int = 100, people: Int = 2_000, posts: Int = 100,
        content: FeedContent = .generated
    ) {
        var stream = FeedStream(seed: seed, people: people, posts: posts, content: content)
        self.people = stream.people.map { Person($0) }
        feeds = (0..<count).map { _ in stream.next() }
    }

    /// Returns the identifiers of feeds by the people they show.
    package func feedsByPerson() -> [String: [String]] {
        var shown: [String: [String]] = [:]
        for feed in feeds {
            for id in feed.peopleIdentifiers { shown[id, default: []].append(feed.id) }
        }
        return shown
    }
}

extension Feed {
    /// Returns the number of nodes of a feed whose people are all different: the feed, posts and
    /// comments, and the author of each.
    package static func nodeCount(posts: Int) -> Int {
        posts * (2 + 2 * FeedGenerator.commentsPerPost) + 1
    }

    /// The authors of posts and comments, each once.
    package var peopleIdentifiers: Set<String> {
        var found: Set<String> = []
        for post in posts {
            found.insert(post.author.id)
            for comment in post.comments { found.insert(comment.author.id) }
        }
        return found
    }

    /// Returns the feed with one node in a hundred changed: the likes of as many posts as comments.
    package func edited(_ number: Int) -> Feed {
        let count = max(1, Self.nodeCount(posts: posts.count) / 200)
        let step = max(1, posts.count / count)
        return copy { feed in
            for index in 0..<min(count, posts.count) {
                feed.posts[(index * step + number) % posts.count].like(number)
            }
        }
    }

    /// Returns the feed without the posts and comments of a person: neither can be read without its
    /// author.
    package func without(person id: String) -> Feed {
        copy { feed in
            feed.posts = posts.filter { $0.author.id != id }.map { post in
                guard post.comments.contains(where: { $0.author.id == id }) else { return post }
                return post.copy { $0.comments = post.comments.filter { $0.author.id != id } }
            }
        }
    }

    /// Returns the feed with another state of a person, wherever the person is shown.
    package func showing(_ person: Person) -> Feed {
        func shown(_ old: Person) -> Person { old.id == person.id ? person : old }
        return Feed(
            id: id, title: title,
            posts: posts.map { post in
                Post(
                    id: post.id, text: post.text, createdAt: post.createdAt,
                    likesCount: post.likesCount,
                    repliesCount: post.repliesCount, isPinned: post.isPinned,
                    author: shown(post.author),
                    comments: post.comments.map { comment in
                        Comment(
                            id: comment.id, text: comment.text, createdAt: comment.createdAt,
                            likesCount: comment.likesCount, isEdited: comment.isEdited,
                            author: shown(comment.author))
                    })
            })
    }
}

extension Post {
    /// Sets the likes of the post and of its first comment.
    fileprivate mutating func like(_ number: Int) {
        self = copy { post in
            post.likesCount = number
            if let first = post.comments.first {
                post.comments[0] = first.copy { $0.likesCount = number }
            }
        }
    }
}

extension Person {
    /// Returns the person with another headline.
    package func edited(_ number: Int) -> Person {
        copy { $0.headline = "headline number \(number)" }
    }
}

extension Feed {
    package func person(_ id: String) -> Person? {
        for post in posts {
            if post.author.id == id { return post.author }
            for comment in post.comments where comment.author.id == id { return comment.author }
        }
        return nil
    }
}
