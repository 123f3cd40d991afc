// There and back, outside of what is timed.

extension CodableFeed {
    package init(_ feed: Feed) {
        id = feed.id
        title = feed.title
        posts = feed.posts.map(CodablePost.init)
    }

    package var plain: Feed { Feed(id: id, title: title, posts: posts.map(\.plain)) }
}

extension CodablePost {
    init(_ post: Post) {
        id = post.id
        text = post.text
        createdAt = post.createdAt
        likesCount = post.likesCount
        repliesCount = post.repliesCount
        isPinned = post.isPinned
        author = CodablePerson(post.author)
        comments = post.comments.map(CodableComment.init)
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
        id = comment.id
        text = comment.text
        createdAt = comment.createdAt
        likesCount = comment.likesCount
        isEdited = comment.isEdited
        author = CodablePerson(comment.author)
    }

    var plain: Comment {
        Comment(
            id: id, text: text, createdAt: createdAt, likesCount: likesCount, isEdited: isEdited,
            author: author.plain)
    }
}

extension CodablePerson {
    package init(_ person: Person) {
        id = person.id
        name = person.name
        handle = person.handle
        headline = person.headline
        avatar = person.avatar
        followersCount = person.followersCount
        followingCount = person.followingCount
        isVerified = person.isVerified
    }

    package var plain: Person {
        Person(
            id: id, name: name, handle: handle, headline: headline, avatar: avatar,
            followersCount: followersCount,
            followingCount: followingCount, isVerified: isVerified)
    }
}
