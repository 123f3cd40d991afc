import CRocksDB
import Feeds

/// A batch that is written at once.
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

    /// Writes a person once in a write: the same person has written many posts and comments.
    mutating func put(_ person: Person) {
        guard people.insert(person.id).inserted else { return }
        record.clear()
        record.record(person)
        put(.person, person.id)
    }

    mutating func delete(person id: String) {
        key.clear()
        RocksKey(.person, id).writeKey(to: &key)
        rocksdb_writebatch_delete(
            batch, key.bytes.baseAddress?.assumingMemoryBound(to: CChar.self), key.count)
    }

    /// Writes a page of a list as its last chunk.
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
        rocksdb_writebatch_delete(
            batch, key.bytes.baseAddress?.assumingMemoryBound(to: CChar.self), key.count)
    }
}
