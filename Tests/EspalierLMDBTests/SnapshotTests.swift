import EspalierLMDB
import Testing

@Suite("Snapshots")
struct SnapshotTests {
    let environment: Environment
    let nodes: Keyspace

    init() throws {
        environment = try Scratch().open()
        nodes = environment.nodes
        try environment.write { try $0.put(nodes, UInt64(1), [1]) }
    }

    @Test("A snapshot reads the same values as its transaction")
    func reads() throws {
        try environment.read { transaction in
            let snapshot = transaction.snapshot
            #expect(snapshot.isOpen)
            try #expect(snapshot.value(nodes, UInt64(1)) == [1])
            try #expect(snapshot.statistics(of: nodes).entries == 1)
            try #expect(snapshot.withCursor(nodes) { try $0.next() })
        }
    }

    @Test("A snapshot throws .transactionEnded even while its slot serves another read")
    func stale() throws {
        let stale = try environment.read { $0.snapshot }
        func expectEnded() {
            #expect(!stale.isOpen)
            #expect(code { _ = try stale.value(nodes, UInt64(1)) } == .transactionEnded)
            #expect(code { _ = try stale.contains(nodes, UInt64(1)) } == .transactionEnded)
            #expect(code { _ = try stale.pages() } == .transactionEnded)
            #expect(code { try stale.withCursor(nodes) { _ in } } == .transactionEnded)
        }
        expectEnded()
        try environment.read { other in
            try #expect(other.value(nodes, UInt64(1)) == [1])
            try #expect(
                environment.readers().count == 1, "the slot was not reused, so this proves nothing")
            expectEnded()
        }
        environment.close()
        expectEnded()
    }

    @Test("A snapshot of a write sees its changes and ends with the commit")
    func ofWrite() throws {
        var transaction = try environment.beginWrite()
        let snapshot = transaction.snapshot
        try transaction.put(nodes, UInt64(2), [2])
        try #expect(snapshot.value(nodes, UInt64(2)) == [2])
        try transaction.commit()
        #expect(code { _ = try snapshot.value(nodes, UInt64(2)) } == .transactionEnded)
        var other = try environment.beginWrite()
        try other.put(nodes, UInt64(3), [3])
        #expect(code { _ = try snapshot.value(nodes, UInt64(3)) } == .transactionEnded)
    }

    @Test("A cursor that outlives its transaction throws and does no harm when it is closed")
    func smuggledCursor() throws {
        try environment.read { outer in
            try outer.withCursor(nodes) { kept in
                try environment.read { inner in
                    try inner.withCursor(nodes) { swap(&kept, &$0) }
                }
                #expect(throws: LMDBError.self) { _ = try kept.next() }
            }
            try #expect(outer.value(nodes, UInt64(1)) == [1])
        }
        try environment.read { outer in
            try outer.withCursor(nodes) { kept in
                try environment.write { inner in
                    try inner.withCursor(nodes) { swap(&kept, &$0) }
                }
                #expect(throws: LMDBError.self) { _ = try kept.next() }
            }
        }
    }
}
