import Feeds

// Conversions between the models of a feed and records.

extension GenericRecord {
    init(_ feed: Feed) {
        self.init([
            "id": feed.id, "title": feed.title,
            "posts": feed.posts.map { Reference(key: RowKey.post($0.id)) },
        ])
    }

    init(_ post: Post) {
        self.init([
            "id": post.id, "text": post.text, "createdAt": post.createdAt,
            "likesCount": post.likesCount,
            "repliesCount": post.repliesCount, "isPinned": post.isPinned,
            "author": Reference(key: RowKey.person(post.author.id)),
            "comments": post.comments.map { Reference(key: RowKey.comment($0.id)) },
        ])
    }

    init(_ comment: Comment) {
        self.init([
            "id": comment.id, "text": comment.text, "createdAt": comment.createdAt,
            "likesCount": comment.likesCount,
            "isEdited": comment.isEdited,
            "author": Reference(key: RowKey.person(comment.author.id)),
        ])
    }

    init(_ person: Person) {
        self.init([
            "id": person.id, "name": person.name, "handle": person.handle,
            "headline": person.headline,
            "avatar": person.avatar, "followersCount": person.followersCount,
            "followingCount": person.followingCount, "isVerified": person.isVerified,
        ])
    }

    func person() throws -> Person {
        Person(
            id: try value("id"), name: try value("name"), handle: try value("handle"),
            headline: try value("headline"),
            avatar: try value("avatar"), followersCount: try value("followersCount"),
            followingCount: try value("followingCount"), isVerified: try value("isVerified"))
    }

    func comment(author: Person) throws -> Comment {
        Comment(
            id: try value("id"), text: try value("text"), createdAt: try value("createdAt"),
            likesCount: try value("likesCount"), isEdited: try value("isEdited"), author: author)
    }

    func post(author: Person, comments: [Comment]) throws -> Post {
        Post(
            id: try value("id"), text: try value("text"), createdAt: try value("createdAt"),
            likesCount: try value("likesCount"), repliesCount: try value("repliesCount"),
            isPinned: try value("isPinned"), author: author, comments: comments)
    }

    /// Returns all records of a feed by their keys, each once.
    static func records(of feed: Feed) -> [String: GenericRecord] {
        var records = [RowKey.feed(feed.id): GenericRecord(feed)]
        func add(_ person: Person) {
            let key = RowKey.person(person.id)
            if records[key] == nil { records[key] = GenericRecord(person) }
        }
        for post in feed.posts {
            records[RowKey.post(post.id)] = GenericRecord(post)
            add(post.author)
            for comment in post.comments {
                records[RowKey.comment(comment.id)] = GenericRecord(comment)
                add(comment.author)
            }
        }
        return records
    }
}
