/// A feed of the workload as one document.
struct WorkloadBlob: Encodable {
    struct Person: Encodable {
        let id: Int
        let name, avatar: String
    }

    struct Comment: Encodable {
        let id: Int
        let text: String
        let author: Person
    }

    struct Post: Encodable {
        let id: Int
        let text: String
        let author: Person
        let comments: [Comment]
    }

    let id: Int
    let posts: [Post]
}

extension WorkloadFeed {
    var blob: WorkloadBlob {
        WorkloadBlob(
            id: id,
            posts: posts.map { post in
                WorkloadBlob.Post(
                    id: post.id, text: post.text, author: post.author.blob,
                    comments: post.comments.map {
                        WorkloadBlob.Comment(id: $0.id, text: $0.text, author: $0.author.blob)
                    })
            })
    }
}

extension WorkloadPerson {
    fileprivate var blob: WorkloadBlob.Person { WorkloadBlob.Person(id: id, name: name, avatar: avatar) }
}
