import Espalier
import Feeds

extension Operation {
    static let writing = [
        write("write-feed", Feed.self),
        write("write-feed-codable", CodableFeed.self),
        // Writes so little that no more dictionaries are trained meanwhile.
        Operation("write-small-feed-compressed", tolerance: trained) {
            let stage = try Stage(compression: .standard, feeds: 4)
            return { number in
                let feed = Operation.feed(number, posts: 25)
                return { try stage.cache.set(feed).wait() }
            }
        },
        Operation("write-feed-again") {
            let stage = try Stage(feeds: 1)
            return { _ in
                let feed = Stage.feed(0)
                return { try stage.cache.set(feed).wait() }
            }
        },
        Operation("write-feed-edited") {
            let stage = try Stage(feeds: 1)
            return { number in
                let feed = Stage.feed(0).edited(number)
                return { try stage.cache.set(feed).wait() }
            }
        },
        Operation("write-posts") {
            let stage = try Stage()
            return { number in
                let posts = Operation.feed(number, posts: 20).posts
                return { for post in posts { try stage.cache.set(post).wait() } }
            }
        },
        Operation("write-posts-codable") {
            let stage = try Stage()
            return { number in
                let posts = CodableFeed(Operation.feed(number, posts: 20)).posts
                return { for post in posts { try stage.cache.set(post).wait() } }
            }
        },
        Operation("write-people") {
            let stage = try Stage(feeds: 1)
            return { number in
                let people = Stage.feed(0).posts.prefix(20).map { $0.author.edited(number) }
                return { for person in people { try stage.cache.set(person).wait() } }
            }
        },
        Operation("delete-people") {
            let stage = try Stage()
            return { number in
                let feed = Operation.feed(number, posts: 20)
                try stage.cache.set(feed).wait()
                return {
                    for post in feed.posts {
                        try stage.cache.delete("Person:\(post.author.id)").wait()
                    }
                }
            }
        },
    ]

    /// Dictionaries are trained on samples: two caches rarely have the same.
    static let trained = 0.05

    private static func write<Shown: FeedModel>(_ name: String, _ type: Shown.Type) -> Operation {
        Operation(name) {
            let stage = try Stage()
            return { number in
                let feed = Shown(Operation.feed(number))
                return { try stage.cache.set(feed).wait() }
            }
        }
    }
}
