import CLMDBRaw
import Feeds

/// The floor: what reading a tree costs when nothing is general. Raw `mdb_get` by handle and the
/// engine's own record bytes, decoded by hand into the same structs, with no check, no shapes, no
/// limits, no cycles and no index.
struct FloorReader {
    let environment: RawEnvironment

    func timeline(_ handle: UInt64) throws -> Timeline {
        try environment.read { transaction in
            var cursor = try record(handle, transaction)
            return Timeline(
                id: cursor.string(),
                feeds: try (0..<cursor.arrayCount()).map { _ in
                    try feed(cursor.child(), transaction)
                })
        }
    }

    func feed(_ handle: UInt64) throws -> Feed { try environment.read { try feed(handle, $0) } }

    private func record(_ handle: UInt64, _ transaction: OpaquePointer) throws -> FloorCursor {
        var bytes = handle.bigEndian
        var value = MDB_val()
        try withUnsafeMutableBytes(of: &bytes) { bytes in
            var key = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
            try RawEnvironment.check(mdb_get(transaction, environment.nodes, &key, &value))
        }
        return FloorCursor(UnsafeRawPointer(value.mv_data), handle)
    }

    private func feed(_ handle: UInt64, _ transaction: OpaquePointer) throws -> Feed {
        var cursor = try record(handle, transaction)
        return Feed(
            id: cursor.string(), title: cursor.string(),
            posts: try (0..<cursor.arrayCount()).map { _ in try post(cursor.child(), transaction) })
    }

    private func post(_ handle: UInt64, _ transaction: OpaquePointer) throws -> Post {
        var cursor = try record(handle, transaction)
        return Post(
            id: cursor.string(), text: cursor.string(), createdAt: cursor.double(),
            likesCount: cursor.integer(),
            repliesCount: cursor.integer(), isPinned: cursor.bool(),
            author: try person(cursor.child(), transaction),
            comments: try (0..<cursor.arrayCount()).map { _ in
                try comment(cursor.child(), transaction)
            })
    }

    private func comment(_ handle: UInt64, _ transaction: OpaquePointer) throws -> Comment {
        var cursor = try record(handle, transaction)
        return Comment(
            id: cursor.string(), text: cursor.string(), createdAt: cursor.double(),
            likesCount: cursor.integer(),
            isEdited: cursor.bool(), author: try person(cursor.child(), transaction))
    }

    private func person(_ handle: UInt64, _ transaction: OpaquePointer) throws -> Person {
        var cursor = try record(handle, transaction)
        return Person(
            id: cursor.string(), name: cursor.string(), handle: cursor.string(),
            headline: cursor.string(),
            avatar: cursor.string(), followersCount: cursor.integer(),
            followingCount: cursor.integer(),
            isVerified: cursor.bool())
    }
}

/// Walks the values of one record without looking where they end.
struct FloorCursor {
    private var next: UnsafeRawPointer
    private var nextChild: UnsafeRawPointer
    private let handle: UInt64

    init(_ record: UnsafeRawPointer, _ handle: UInt64) {
        self.handle = handle
        next = record + 2
        nextChild = record
        _ = varint()  // shape
        _ = varint()  // dictionary
        let count = varint()
        nextChild = next
        for _ in 0..<count { _ = varint() }
        let length = length()  // identifier
        next += length
    }

    private mutating func byte() -> UInt8 {
        defer { next += 1 }
        return next.load(as: UInt8.self)
    }

    private mutating func varint() -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = byte()
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
    }

    private mutating func length() -> Int {
        let tag = byte()
        if tag & 0xE0 == 0xA0 { return Int(tag & 0x1F) }
        if tag == 0xD9 { return Int(byte()) }
        return Int(byte()) << 8 | Int(byte())
    }

    mutating func string() -> String {
        let count = length()
        defer { next += count }
        return String(decoding: UnsafeRawBufferPointer(start: next, count: count), as: UTF8.self)
    }

    mutating func double() -> Double {
        _ = byte()
        defer { next += 8 }
        return Double(bitPattern: UInt64(bigEndian: next.loadUnaligned(as: UInt64.self)))
    }

    mutating func integer() -> Int {
        let tag = byte()
        if tag < 0x80 { return Int(tag) }
        if tag == 0xCC { return Int(byte()) }
        return Int(byte()) << 8 | Int(byte())
    }

    mutating func bool() -> Bool { byte() == 0xC3 }

    mutating func arrayCount() -> Int {
        let tag = byte()
        if tag & 0xF0 == 0x90 { return Int(tag & 0x0F) }
        return Int(byte()) << 8 | Int(byte())
    }

    /// The handle of the next child: the models refer to each once, in order.
    mutating func child() -> UInt64 {
        next += 3
        swap(&next, &nextChild)
        let raw = varint()
        swap(&next, &nextChild)
        return handle &+ ((raw >> 1) ^ (0 &- (raw & 1)))
    }
}
