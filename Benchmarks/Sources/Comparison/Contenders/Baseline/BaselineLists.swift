import CLMDBRaw
import Feeds

/// Lists of handles, with a chunk for each page that was appended: the cost of appending is that of
/// the page.
///
/// A chunk's key is the length of the list's key, that key, and the chunk's number, big-endian.
struct BaselineLists: ~Copyable {
    private let environment: BaselineEnvironment
    private let transaction: BaselineTransaction
    private var prefix = HandWriter(capacity: 64)

    init(_ environment: BaselineEnvironment, _ transaction: BaselineTransaction, key: String) {
        self.environment = environment
        self.transaction = transaction
        prefix.string(key)
    }

    private func key(_ chunk: UInt32) -> [UInt8] {
        Array(prefix.bytes) + withUnsafeBytes(of: chunk.bigEndian, Array.init)
    }

    /// Calls `body` with each chunk in order.
    borrowing func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try transaction.withCursor(environment.lists) { cursor in
            try key(0).withUnsafeBytes { start in
                var key = BaselineTransaction.value(start)
                var value = MDB_val()
                var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
                while code == 0, isOurs(key) {
                    try body(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
                    code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
                }
                if code != MDB_NOTFOUND { try BaselineEnvironment.check("mdb_cursor_get", code) }
            }
        }
    }

    private func isOurs(_ key: MDB_val) -> Bool {
        UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size).starts(with: prefix.bytes)
    }

    borrowing func removeAll() throws {
        var count: UInt32 = 0
        try forEachChunk { _ in count += 1 }
        for chunk in 0..<count {
            try key(chunk).withUnsafeBytes { try transaction.delete(environment.lists, $0) }
        }
    }

    borrowing func append(_ handles: [RecordHandle]) throws {
        let chunk = try nextChunk()
        try handles.withUnsafeBytes { bytes in
            try key(chunk).withUnsafeBytes { try transaction.put(environment.lists, $0, bytes) }
        }
    }

    private borrowing func nextChunk() throws -> UInt32 {
        try transaction.withCursor(environment.lists) { cursor in
            try key(.max).withUnsafeBytes { end in
                var key = BaselineTransaction.value(end)
                var value = MDB_val()
                let code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
                let before = mdb_cursor_get(
                    cursor, &key, &value, code == MDB_NOTFOUND ? MDB_LAST : MDB_PREV)
                if before == MDB_NOTFOUND { return 0 }
                try BaselineEnvironment.check("mdb_cursor_get", before)
                guard isOurs(key) else { return 0 }
                let number = (key.mv_data + (key.mv_size - 4)).loadUnaligned(as: UInt32.self)
                return UInt32(bigEndian: number) + 1
            }
        }
    }
}
