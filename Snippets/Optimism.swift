// Changes that are shown before the server has confirmed them.

#if Macros

import Espalier

@Normalized struct Post {
    let id: Int
    let text: String
    let likes: Int
}

struct Server: Sendable {
    func like(_ id: Int) async throws -> Post { Post(id: id, text: "", likes: 1) }
}

func like(_ post: Post, _ cache: NormalizedCache, _ server: Server) async {
    // snippet.change
    let liked = Post(id: post.id, text: post.text, likes: post.likes + 1)
    let change = cache.optimistically(id: "like \(post.id)") { $0.set(liked) }
    do {
        change.confirm(with: try await server.like(post.id))
    } catch {
        change.rollback()
    }
    // snippet.end
}

func restart(_ cache: NormalizedCache) throws {
    // snippet.restart
    for pending in try cache.optimisticChanges() where pending.id.hasPrefix("like ") {
        pending.change.rollback()
    }
    let confirmed = cache.confirmed.read(Post.self, "Post:1")  // without pending changes
    // snippet.end
    _ = confirmed
}

#endif
