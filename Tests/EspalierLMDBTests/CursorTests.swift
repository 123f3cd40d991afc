import EspalierLMDB
import Testing

@Suite("Cursors")
struct CursorTests {
    let environment: Environment
    let nodes: Keyspace

    init() throws {
        environment = try Scratch().open()
        nodes = environment.nodes
        try environment.write { transaction in
            for number in stride(from: UInt64(10), through: 5_000, by: 10) {
                try transaction.append(nodes, number, [UInt8](repeating: 1, count: 40))
            }
        }
    }

    func number(_ cursor: borrowing Cursor) -> UInt64 {
        cursor.withEntry { key, _ in copy(key).reduce(0) { $0 << 8 | UInt64($1) } }
    }

    @Test("Each move of a cursor leads to the entry that key order demands")
    func moving() throws {
        let visited = try environment.read { transaction in
            try transaction.withCursor(nodes) { cursor -> [UInt64?] in
                [
                    try cursor.next() ? number(cursor) : nil,
                    try cursor.next() ? number(cursor) : nil,
                    try cursor.previous() ? number(cursor) : nil,
                    try cursor.previous() ? number(cursor) : nil,
                    try cursor.last() ? number(cursor) : nil,
                    try cursor.next() ? number(cursor) : nil,
                    try cursor.first() ? number(cursor) : nil,
                    try cursor.seek(atOrAfter: UInt64(20)) ? number(cursor) : nil,
                    try cursor.seek(atOrAfter: UInt64(21)) ? number(cursor) : nil,
                    try cursor.seek(atOrAfter: [UInt8]()) ? number(cursor) : nil,
                    try cursor.seek(atOrAfter: UInt64(5_001)) ? number(cursor) : nil,
                    try cursor.seek(atOrBefore: UInt64(20)) ? number(cursor) : nil,
                    try cursor.seek(atOrBefore: UInt64(29)) ? number(cursor) : nil,
                    try cursor.seek(atOrBefore: UInt64(5_001)) ? number(cursor) : nil,
                    try cursor.seek(atOrBefore: UInt64(9)) ? number(cursor) : nil,
                ]
            }
        }
        #expect(
            visited == [10, 20, 10, nil, 5_000, nil, 10, 20, 30, 10, nil, 20, 20, 5_000, nil])
        let edges = try environment.read { transaction in
            (
                empty: try transaction.withCursor(environment.index) { try $0.next() },
                last: try transaction.withCursor(nodes) { try $0.previous() ? number($0) : nil }
            )
        }
        #expect(edges.empty == false)
        #expect(edges.last == 5_000)
    }

    @Test("`forEach` visits all entries in order, starts at a key, and stops on request")
    func forEach() throws {
        try environment.read { transaction in
            var seen: [[UInt8]] = []
            try transaction.forEach(in: nodes) { key, value in
                seen.append(copy(key))
                return value.byteCount == 40
            }
            #expect(seen.count == 500)
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
            var count = 0
            try transaction.forEach(in: nodes, from: UInt64(4_901)) { _, _ in
                count += 1; return true
            }
            #expect(count == 10)
            try transaction.forEach(in: nodes) { _, _ in
                count += 1; return count < 15
            }
            #expect(count == 15)
        }
    }

    @Test(
        "A cursor that deletes entries on its way visits each entry once", arguments: [1, 2, 3, 7])
    func deleting(every step: Int) throws {
        try environment.write { transaction in
            var visited: [UInt64] = []
            try transaction.withCursor(nodes) { cursor in
                while try cursor.next() {
                    visited.append(number(cursor))
                    if visited.count % step == 0 { try cursor.deleteCurrent() }
                }
            }
            #expect(visited == Array(stride(from: 10, through: 5_000, by: 10)))
            try #expect(transaction.statistics(of: nodes).entries == 500 - 500 / step)
        }
    }

    @Test("A cursor that deletes entries on its way backwards visits each entry once")
    func deletingBackwards() throws {
        try environment.write { transaction in
            var visited = 0
            try transaction.withCursor(nodes) { cursor in
                while try cursor.previous() {
                    visited += 1
                    try cursor.deleteCurrent()
                }
            }
            #expect(visited == 500)
            try #expect(transaction.statistics(of: nodes).pages == 0)
        }
    }

    @Test("A cursor of a read transaction cannot delete")
    func readCannotDelete() throws {
        let error = code {
            try environment.read { transaction in
                try transaction.withCursor(nodes) { cursor in
                    _ = try cursor.first()
                    try cursor.deleteCurrent()
                }
            }
        }
        #expect(error == .notWritable)
    }
}
