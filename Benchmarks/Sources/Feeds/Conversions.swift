// Conversions between the ways to declare a feed. They are never part of what is timed.

extension Feed {
    package init(_ feed: HandWrittenFeed) {
        self.init(id: feed.id, title: feed.title, posts: feed.posts.map(Post.init))
    }
}

extension Post {
    init(_ post: HandWrittenPost) {
        self.init(
            id: post.id, text: post.text, createdAt: post.createdAt, likesCount: post.likesCount,
            repliesCount: post.repliesCount, isPinned: post.isPinned, author: Person(post.author),
            comments: post.comments.map(Comment.init))
    }
}

extension Comment {
    init(_ comment: HandWrittenComment) {
        self.init(
            id: comment.id, text: comment.text, createdAt: comment.createdAt,
            likesCount: comment.likesCount, isEdited: comment.isEdited,
            author: Person(comment.author))
    }
}

extension Person {
    package init(_ person: HandWrittenPerson) {
        self.init(
            id: person.id, name: person.name, handle: person.handle, headline: person.headline,
            avatar: person.avatar, followersCount: person.followersCount,
            followingCount: person.followingCount, isVerified: person.isVerified)
    }
}

extension CodableFeed {
    package init(_ feed: Feed) {
        self.init(id: feed.id, title: feed.title, posts: feed.posts.map(CodablePost.init))
    }

    package var plain: Feed { Feed(id: id, title: title, posts: posts.map(\.plain)) }
}

extension CodablePost {
    init(_ post: Post) {
        self.init(
            id: post.id, text: post.text, createdAt: post.createdAt, likesCount: post.likesCount,
            repliesCount: post.repliesCount, isPinned: post.isPinned,
            author: CodablePerson(post.author), comments: post.comments.map(CodableComment.init))
    }

    var plain: Post {
        Post(
            id: id, text: text, createdAt: createdAt, likesCount: likesCount,
            repliesCount: repliesCount,
            isPinned: isPinned, author: author.plain, comments: comments.map(\.plain))
    }
}

extension CodableComment {
    init(_ comment: Comment) {
        self.init(
            id: comment.id, text: comment.text, createdAt: comment.createdAt,
            likesCount: comment.likesCount, isEdited: comment.isEdited,
            author: CodablePerson(comment.author))
    }

    var plain: Comment {
        Comment(
            id: id, text: text, createdAt: createdAt, likesCount: likesCount, isEdited: isEdited,
            author: author.plain)
    }
}

extension CodablePerson {
    package init(_ person: Person) {
        self.init(
            id: person.id, name: person.name, handle: person.handle, headline: person.headline,
            avatar: person.avatar, followersCount: person.followersCount,
            followingCount: person.followingCount, isVerified: person.isVerified)
    }

    package var plain: Person {
        Person(
            id: id, name: name, handle: handle, headline: headline, avatar: avatar,
            followersCount: followersCount,
            followingCount: followingCount, isVerified: isVerified)
    }
}
