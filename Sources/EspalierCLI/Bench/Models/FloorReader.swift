import EspalierLMDB

/// The floor: what reading the feed costs when nothing is general. Hand-written Swift over LMDB and
/// the same value bytes, decoding into the same structs, with no check, no shapes, no limits, no
/// cycles and no index.
///
/// The one place outside the byte readers that uses raw pointers: what is measured against must not
/// be slowed by safety that the measured code does without.
struct FloorReader {
    let environment: Environment
    let nodes: Keyspace
    let entry: UInt64

    func read() throws -> HandWrittenFeed {
        try environment.read { transaction in try feed(entry, transaction.snapshot) }
    }

    private func record<R>(
        _ handle: UInt64, _ source: Snapshot, _ body: (inout FloorCursor) throws -> R
    ) throws -> R {
        let result = try source.withValue(nodes, handle) { span in
            try unsafe span.withUnsafeBytes { bytes in
                // a record is never empty
                var cursor = unsafe FloorCursor(bytes.baseAddress!, handle)
                return try body(&cursor)
            }
        }
        guard let result else { throw BenchError.floorLacksRecord }
        return result
    }

    private func feed(_ handle: UInt64, _ source: Snapshot) throws -> HandWrittenFeed {
        try record(handle, source) { cursor in
            let id = cursor.string()
            let title = cursor.string()
            let posts = try (0..<cursor.arrayCount()).map { _ in try post(cursor.child(), source) }
            return HandWrittenFeed(id: id, title: title, posts: posts)
        }
    }

    private func post(_ handle: UInt64, _ source: Snapshot) throws -> HandWrittenPost {
        try record(handle, source) { cursor in
            let id = cursor.string()
            let text = cursor.string()
            let createdAt = cursor.double()
            let likesCount = cursor.integer()
            let repliesCount = cursor.integer()
            let isPinned = cursor.bool()
            let author = try person(cursor.child(), source)
            let comments = try (0..<cursor.arrayCount()).map { _ in
                try comment(cursor.child(), source)
            }
            return HandWrittenPost(
                id: id, text: text, createdAt: createdAt, likesCount: likesCount,
                repliesCount: repliesCount,
                isPinned: isPinned, author: author, comments: comments)
        }
    }

    private func comment(_ handle: UInt64, _ source: Snapshot) throws -> HandWrittenComment {
        try record(handle, source) { cursor in
            let id = cursor.string()
            let text = cursor.string()
            let createdAt = cursor.double()
            let likesCount = cursor.integer()
            let isEdited = cursor.bool()
            return HandWrittenComment(
                id: id, text: text, createdAt: createdAt, likesCount: likesCount,
                isEdited: isEdited,
                author: try person(cursor.child(), source))
        }
    }

    private func person(_ handle: UInt64, _ source: Snapshot) throws -> HandWrittenPerson {
        try record(handle, source) { cursor in
            HandWrittenPerson(
                id: cursor.string(), name: cursor.string(), handle: cursor.string(),
                headline: cursor.string(),
                avatar: cursor.string(), followersCount: cursor.integer(),
                followingCount: cursor.integer(),
                isVerified: cursor.bool())
        }
    }
}

/// Walks the values of one record without looking where they end.
@safe
struct FloorCursor {
    private var next: UnsafeRawPointer
    private var nextChild: UnsafeRawPointer
    private let handle: UInt64

    init(_ record: UnsafeRawPointer, _ handle: UInt64) {
        self.handle = handle
        unsafe next = unsafe record + 2
        unsafe nextChild = unsafe record
        _ = varint()  // shape
        _ = varint()  // dictionary
        let count = varint()
        unsafe nextChild = unsafe next
        for _ in 0..<count { _ = varint() }
        skipString()  // identifier
    }

    private mutating func byte() -> UInt8 {
        defer { unsafe next += 1 }
        return unsafe next.load(as: UInt8.self)
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

    private mutating func skipString() {
        let count = length()
        unsafe next += count
    }

    mutating func string() -> String {
        let count = length()
        defer { unsafe next += count }
        return unsafe String(
            decoding: UnsafeRawBufferPointer(start: next, count: count), as: UTF8.self)
    }

    mutating func double() -> Double {
        _ = byte()
        defer { unsafe next += 8 }
        return unsafe Double(bitPattern: UInt64(bigEndian: next.loadUnaligned(as: UInt64.self)))
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
        unsafe next += 3
        unsafe swap(&next, &nextChild)
        let raw = varint()
        unsafe swap(&next, &nextChild)
        return handle &+ ((raw >> 1) ^ (0 &- (raw & 1)))
    }
}
