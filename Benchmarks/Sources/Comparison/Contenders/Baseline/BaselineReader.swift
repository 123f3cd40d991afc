import Feeds

/// Reads the records of one transaction, from the feed downwards, one after the other.
struct BaselineReader {
    let environment: BaselineEnvironment
    let transaction: BaselineTransaction
    /// Each person, made once in a read: half of the nodes of a feed are people, many of them the
    /// same.
    private var people: [RecordHandle: Person] = [:]

    init(_ environment: BaselineEnvironment, _ transaction: BaselineTransaction) {
        self.environment = environment
        self.transaction = transaction
    }

    func handle(_ kind: BaselineWriter.Kind, _ identifier: String) throws -> RecordHandle? {
        var key = HandWriter(capacity: 64)
        key.varint(kind.rawValue)
        key.unprefixed(identifier)
        return try key.withBytes { key in
            try transaction.get(environment.index, key).map {
                RecordHandle($0.loadUnaligned(as: UInt64.self))
            }
        }
    }

    private func record(_ handle: RecordHandle) throws -> HandReader? {
        try withUnsafeBytes(of: handle.number.bigEndian) { key in
            try transaction.get(environment.nodes, key)?.baseAddress.map(HandReader.init)
        }
    }

    mutating func feed(_ handle: RecordHandle) throws -> Feed? {
        guard var record = try record(handle) else { return nil }
        let id = record.string()
        let title = record.string()
        let count = record.count()
        var posts: [Post] = []
        posts.reserveCapacity(count)
        for _ in 0..<count {
            if let post = try post(RecordHandle(from: &record)) { posts.append(post) }
        }
        return Feed(id: id, title: title, posts: posts)
    }

    /// Returns nil also if the author is missing, without whom a post cannot be read.
    private mutating func post(_ handle: RecordHandle) throws -> Post? {
        guard var record = try record(handle) else { return nil }
        let fields = record.postFields()
        guard let author = try person(RecordHandle(from: &record)) else { return nil }
        let count = record.count()
        var comments: [Comment] = []
        comments.reserveCapacity(count)
        for _ in 0..<count {
            if let comment = try comment(RecordHandle(from: &record)) { comments.append(comment) }
        }
        return fields.post(author: author, comments: comments)
    }

    private mutating func comment(_ handle: RecordHandle) throws -> Comment? {
        guard var record = try record(handle) else { return nil }
        let fields = record.commentFields()
        guard let author = try person(RecordHandle(from: &record)) else { return nil }
        return fields.comment(author: author)
    }

    private mutating func person(_ handle: RecordHandle) throws -> Person? {
        if let made = people[handle] { return made }
        let person = try freshPerson(handle)
        people[handle] = person
        return person
    }

    /// Makes a person of a list, in which each person stands once.
    func freshPerson(_ handle: RecordHandle) throws -> Person? {
        guard var record = try record(handle) else { return nil }
        return record.person()
    }
}
