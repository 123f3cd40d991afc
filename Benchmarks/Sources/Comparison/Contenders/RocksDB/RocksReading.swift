import Feeds

/// Reads the records of one snapshot, level by level: reading many keys at once takes two thirds of
/// the time of reading each by itself.
struct RocksReading {
    var pins: RocksPins

    init(_ pins: RocksPins) { self.pins = pins }

    mutating func feed(_ id: String) throws -> Feed? {
        guard var record = try RocksKey(.feed, id).withBytes({ key in try pins.get(key) }) else {
            return nil
        }
        let id = record.string()
        let title = record.string()
        var people = ReferredPeople()
        var posts: [(fields: PostFields, author: Int, comments: Range<Int>)] = []
        var references: [UnsafeRawBufferPointer] = []
        for case var record? in try pins.get(record.slices()) {
            let fields = record.postFields()
            let author = people.place(of: record.slice())
            let start = references.count
            references += record.slices()
            posts.append((fields, author, start..<references.count))
        }
        let comments = try pins.get(references).map { record in
            record.map { record in
                var record = record
                return (fields: record.commentFields(), author: people.place(of: record.slice()))
            }
        }
        let made = try pins.get(people.references).map(Self.person)
        return Feed(
            id: id, title: title,
            posts: posts.compactMap { post in
                // A node without its author is left out: it cannot be read.
                guard let author = made[post.author] else { return nil }
                return post.fields.post(
                    author: author,
                    comments: comments[post.comments].compactMap { comment in
                        guard let comment, let author = made[comment.author] else { return nil }
                        return comment.fields.comment(author: author)
                    })
            })
    }

    mutating func person(_ id: String) throws -> Person? {
        try RocksKey(.person, id).withBytes { key in Self.person(try pins.get(key)) }
    }

    private static func person(_ record: HandReader?) -> Person? {
        guard var record else { return nil }
        return record.person()
    }

    /// Returns how many chunks a list has, or nil if there is no list.
    mutating func chunkCount(_ list: String) throws -> Int? {
        guard var record = try RocksKey(.list, list).withBytes({ key in try pins.get(key) }) else {
            return nil
        }
        return record.count()
    }

    mutating func list(_ name: String) throws -> [Person]? {
        guard let count = try chunkCount(name) else { return nil }
        var references: [UnsafeRawBufferPointer] = []
        for number in 0..<count {
            var key = HandWriter(capacity: 64)
            key.chunkKey(name, number)
            guard var chunk = try key.withBytes({ key in try pins.get(key) }) else { continue }
            references += chunk.slices()
        }
        return try pins.get(references).compactMap(Self.person)
    }
}

/// Makes each person once: half of the nodes of a feed are people, many of them the same.
private struct ReferredPeople {
    private(set) var references: [UnsafeRawBufferPointer] = []
    private var places: [String: Int] = [:]

    mutating func place(of reference: UnsafeRawBufferPointer) -> Int {
        let key = String(decoding: reference, as: UTF8.self)
        if let place = places[key] { return place }
        places[key] = references.count
        references.append(reference)
        return references.count - 1
    }
}

extension HandReader {
    /// Reads a list of references at the current position of the record.
    fileprivate mutating func slices() -> [UnsafeRawBufferPointer] {
        let count = count()
        var slices: [UnsafeRawBufferPointer] = []
        slices.reserveCapacity(count)
        for _ in 0..<count { slices.append(slice()) }
        return slices
    }
}
