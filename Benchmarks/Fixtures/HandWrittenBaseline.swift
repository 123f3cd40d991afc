import CLMDB
import Foundation

/// The hand-written baseline: what reading a tree costs if nothing is general.
///
/// It looks up each record by `mdb_get` and decodes the engine's own record bytes by hand, with no
/// check, no shapes, no limits, no cycles and no index. It is compiled without the compiler's
/// memory safety: safety that the measured code does without must not slow down what the code is
/// measured against.
///
///     let baseline = HandWrittenBaseline(environment)
///     let feed = try baseline.feed(records.handle(of: "Feed:1-0"))
public struct HandWrittenBaseline {
    private let environment: RawEnvironment

    public init(_ environment: RawEnvironment) { self.environment = environment }

    /// Returns the feeds of the timeline with a handle: an identifier, then the feeds.
    public func timeline(_ handle: UInt64) throws -> [HandWrittenFeed] {
        try environment.read { transaction in
            var cursor = try record(handle, transaction)
            _ = cursor.string()
            return try (0..<cursor.arrayCount()).map { _ in
                try feed(cursor.child(), transaction)
            }
        }
    }

    /// Returns the feed with a handle.
    public func feed(_ handle: UInt64) throws -> HandWrittenFeed {
        try environment.read { try feed(handle, $0) }
    }

    private func record(_ handle: UInt64, _ transaction: OpaquePointer) throws -> RecordCursor {
        var bytes = handle.bigEndian
        var value = MDB_val()
        try withUnsafeMutableBytes(of: &bytes) { bytes in
            var key = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
            try RawEnvironment.check(mdb_get(transaction, environment.nodes, &key, &value))
        }
        return RecordCursor(UnsafeRawPointer(value.mv_data), handle)
    }

    private func feed(_ handle: UInt64, _ transaction: OpaquePointer) throws -> HandWrittenFeed {
        var cursor = try record(handle, transaction)
        return HandWrittenFeed(
            id: cursor.string(), title: cursor.string(),
            posts: try (0..<cursor.arrayCount()).map { _ in try post(cursor.child(), transaction) })
    }

    private func post(_ handle: UInt64, _ transaction: OpaquePointer) throws -> HandWrittenPost {
        var cursor = try record(handle, transaction)
        return HandWrittenPost(
            id: cursor.string(), text: cursor.string(), createdAt: cursor.double(),
            likesCount: cursor.integer(), repliesCount: cursor.integer(), isPinned: cursor.bool(),
            author: try person(cursor.child(), transaction),
            comments: try (0..<cursor.arrayCount()).map { _ in
                try comment(cursor.child(), transaction)
            })
    }

    private func comment(_ handle: UInt64, _ transaction: OpaquePointer) throws
        -> HandWrittenComment
    {
        var cursor = try record(handle, transaction)
        return HandWrittenComment(
            id: cursor.string(), text: cursor.string(), createdAt: cursor.double(),
            likesCount: cursor.integer(), isEdited: cursor.bool(),
            author: try person(cursor.child(), transaction))
    }

    private func person(_ handle: UInt64, _ transaction: OpaquePointer) throws -> HandWrittenPerson
    {
        var cursor = try record(handle, transaction)
        return HandWrittenPerson(
            id: cursor.string(), name: cursor.string(), handle: cursor.string(),
            headline: cursor.string(), avatar: cursor.string(), followersCount: cursor.integer(),
            followingCount: cursor.integer(), isVerified: cursor.bool())
    }
}

/// Walks the values of one record, and does not check where they end.
private struct RecordCursor {
    private var next: UnsafeRawPointer
    private var nextChild: UnsafeRawPointer
    /// The near child before, or the record.
    private var lastChild: UInt64

    init(_ record: UnsafeRawPointer, _ handle: UInt64) {
        lastChild = handle
        next = record + 1
        nextChild = record
        _ = varint()  // shape
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

    /// Returns the handle of the next child. The models refer to each child once, in order.
    mutating func child() -> UInt64 {
        next += 3
        swap(&next, &nextChild)
        let raw = varint()
        swap(&next, &nextChild)
        guard raw & 1 == 0 else { return raw >> 1 }
        let distance = raw >> 1
        lastChild &+= (distance >> 1) ^ (0 &- (distance & 1))
        return lastChild
    }
}
