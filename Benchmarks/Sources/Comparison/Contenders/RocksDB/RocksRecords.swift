import CRocksDB
import Feeds

/// A record's key: a letter for its type, and its identifier. As a reference it is the same, behind its length.
struct RocksKey: WrittenReference {
    enum Kind: UInt8 {
        case feed = 70, post = 80, comment = 67, person = 85
        case list = 76, chunk = 75
    }

    let kind: Kind
    let identifier: String

    init(_ kind: Kind, _ identifier: String) {
        self.kind = kind
        self.identifier = identifier
    }

    func write(to writer: inout HandWriter) {
        writer.varint(UInt64(identifier.utf8.count + 1))
        writeKey(to: &writer)
    }

    func writeKey(to writer: inout HandWriter) {
        writer.varint(UInt64(kind.rawValue))
        writer.unprefixed(identifier)
    }
}

/// A key where a record has it.
struct RocksReference: ReadReference {
    let key: UnsafeRawBufferPointer

    init(_ key: UnsafeRawBufferPointer) { self.key = key }
    init(from reader: inout HandReader) { key = reader.slice() }
}

/// The records of one snapshot, from the feed on down, one after the other.
struct RocksReading: HandSource {
    var pins: RocksPins
    /// Made once in a read: half of the nodes of a feed are people, many of them the same.
    private var people: [String: Person] = [:]

    init(_ pins: RocksPins) { self.pins = pins }

    private mutating func record(_ reference: RocksReference) throws -> HandReader? {
        try pins.get(reference.key)?.baseAddress.map(HandReader.init)
    }

    mutating func feedRecord(_ reference: RocksReference) throws -> HandReader? { try record(reference) }
    mutating func postRecord(_ reference: RocksReference) throws -> HandReader? { try record(reference) }
    mutating func commentRecord(_ reference: RocksReference) throws -> HandReader? { try record(reference) }

    mutating func person(_ reference: RocksReference) throws -> Person? {
        let key = String(decoding: reference.key, as: UTF8.self)
        if let made = people[key] { return made }
        let person = try freshPerson(reference)
        people[key] = person
        return person
    }

    /// Of a list, in which each is once.
    mutating func freshPerson(_ reference: RocksReference) throws -> Person? {
        guard var record = try record(reference) else { return nil }
        return record.person()
    }

    mutating func feed(_ id: String) throws -> Feed? {
        try Self.key(RocksKey(.feed, id)).withBytes { key in try feed(RocksReference(key)) }
    }

    mutating func person(_ id: String) throws -> Person? {
        try Self.key(RocksKey(.person, id)).withBytes { key in try freshPerson(RocksReference(key)) }
    }

    /// How many chunks a list has; nil where there is no list.
    mutating func chunkCount(_ list: String) throws -> Int? {
        try Self.key(RocksKey(.list, list)).withBytes { key in
            guard var record = try record(RocksReference(key)) else { return nil }
            return record.count()
        }
    }

    mutating func list(_ name: String) throws -> [Person]? {
        guard let count = try chunkCount(name) else { return nil }
        var people: [Person] = []
        for number in 0..<count {
            var key = HandWriter(capacity: 64)
            key.chunkKey(name, number)
            guard var chunk = try key.withBytes({ key in try record(RocksReference(key)) }) else { continue }
            for _ in 0..<chunk.count() {
                if let person = try freshPerson(RocksReference(from: &chunk)) { people.append(person) }
            }
        }
        return people
    }

    private static func key(_ key: RocksKey) -> HandWriter {
        var writer = HandWriter(capacity: 64)
        key.writeKey(to: &writer)
        return writer
    }
}

extension HandWriter {
    /// Of one page that was appended to a list.
    mutating func chunkKey(_ list: String, _ number: Int) {
        varint(UInt64(RocksKey.Kind.chunk.rawValue))
        string(list)
        fixed(UInt64(number).bigEndian)
    }
}

/// What is written at once.
struct RocksWriting: ~Copyable {
    let batch: OpaquePointer = rocksdb_writebatch_create()
    private var key = HandWriter(capacity: 64)
    private var record = HandWriter()
    private var people: Set<String> = []

    deinit { rocksdb_writebatch_destroy(batch) }

    private func putKeyAndRecord() {
        rocksdb_writebatch_put(
            batch, key.bytes.baseAddress?.assumingMemoryBound(to: CChar.self), key.count,
            record.bytes.baseAddress?.assumingMemoryBound(to: CChar.self), record.count)
    }

    private mutating func put(_ kind: RocksKey.Kind, _ identifier: String) {
        key.clear()
        RocksKey(kind, identifier).writeKey(to: &key)
        putKeyAndRecord()
    }

    mutating func put(_ feed: Feed) {
        record.clear()
        record.record(feed, posts: feed.posts.map { RocksKey(.post, $0.id) })
        put(.feed, feed.id)
        for post in feed.posts {
            record.clear()
            record.record(
                post, author: RocksKey(.person, post.author.id),
                comments: post.comments.map { RocksKey(.comment, $0.id) })
            put(.post, post.id)
            put(post.author)
            for comment in post.comments {
                record.clear()
                record.record(comment, author: RocksKey(.person, comment.author.id))
                put(.comment, comment.id)
                put(comment.author)
            }
        }
    }

    /// Once in a write: the same person has written many things.
    mutating func put(_ person: Person) {
        guard people.insert(person.id).inserted else { return }
        record.clear()
        record.record(person)
        put(.person, person.id)
    }

    mutating func delete(person id: String) {
        key.clear()
        RocksKey(.person, id).writeKey(to: &key)
        rocksdb_writebatch_delete(batch, key.bytes.baseAddress?.assumingMemoryBound(to: CChar.self), key.count)
    }

    /// A page of a list, as the chunk that comes last.
    mutating func put(_ page: [Person], list: String, chunk number: Int) {
        for person in page { put(person) }
        record.clear()
        record.references(page.map { RocksKey(.person, $0.id) })
        key.clear()
        key.chunkKey(list, number)
        putKeyAndRecord()
        record.clear()
        record.varint(UInt64(number + 1))
        put(.list, list)
    }

    mutating func deleteChunk(_ number: Int, list: String) {
        key.clear()
        key.chunkKey(list, number)
        rocksdb_writebatch_delete(batch, key.bytes.baseAddress?.assumingMemoryBound(to: CChar.self), key.count)
    }
}
