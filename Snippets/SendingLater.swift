// Operations that an app sends to a server when there is a network.

#if Macros

import Espalier
import Foundation

@Normalized struct Comment {
    let id: String
    let text: String
    var isSent = false
}

struct SendComment: Codable, Sendable {
    let id: String
    let text: String
}

struct CommentServer: Sendable {
    struct Refusal: Error {}

    func send(_ operation: SendComment, idempotencyKey: String) async throws -> Comment {
        Comment(id: operation.id, text: operation.text, isSent: true)
    }
}

func add(_ comment: Comment, _ cache: NormalizedCache) throws {
    // snippet.add
    let outbox = cache.outbox("comments", of: SendComment.self)
    let operation = SendComment(id: comment.id, text: comment.text)
    try outbox.add(operation, key: "Post:7", id: comment.id) { batch in
        batch.append([comment], toCollection: "comments of Post:7")
    }
    // snippet.end
}

func drain(_ outbox: Outbox<SendComment>, _ server: CommentServer) async throws {
    // snippet.drain
    let report = try await outbox.drain(retry: .exponential(jitter: 0.25)) { error in
        switch error {
        case is URLError: .stop
        case is CommentServer.Refusal: .giveUp
        default: .tryAgain
        }
    } send: { operation, queued in
        .sent(try await server.send(operation, idempotencyKey: queued.id))
    }
    print("sent \(report.sent)")
    // snippet.end
}

func follow(_ outbox: Outbox<SendComment>) async {
    // snippet.follow
    for await operations in outbox.updates() {
        let refused = operations.filter(\.isDead)
        print("\(operations.count - refused.count) wait, \(refused.count) were refused")
    }
    // snippet.end
}

func again(_ outbox: Outbox<SendComment>) async throws {
    // snippet.dead
    for queued in try outbox.operations() where queued.isDead {
        try await outbox.retry(queued.id).committed  // or drop(queued.id)
    }
    // snippet.end
}

#endif
