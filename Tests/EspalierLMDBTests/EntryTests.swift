import EspalierLMDB
import Testing

@Suite("Entries")
struct EntryTests {
    let scratch: Scratch
    let environment: Environment

    init() throws {
        scratch = try Scratch()
        environment = try scratch.open()
    }

    @Test("A committed value can be read at once and after a new open")
    func roundTrip() throws {
        try environment.write { try $0.put(environment.nodes, UInt64(7), [1, 2, 3]) }
        try #expect(environment.read { try $0.value(environment.nodes, UInt64(7)) } == [1, 2, 3])
        environment.close()
        let again = try scratch.open()
        try #expect(again.read { try $0.value(again.nodes, UInt64(7)) } == [1, 2, 3])
        try #expect(again.read { try $0.value(again.index, UInt64(7)) } == nil)
    }

    @Test("A lookup of a missing key of any length returns nil or false")
    func absent() throws {
        let nodes = environment.nodes
        for length in [0, 1, 511, 512, 5_000] {
            let key = [UInt8](repeating: 9, count: length)
            try environment.read { transaction in
                try #expect(transaction.value(nodes, key) == nil)
                try #expect(!transaction.contains(nodes, key))
                try #expect(transaction.withValue(nodes, key) { _ in true } == nil)
            }
            try environment.write { transaction in try #expect(!transaction.delete(nodes, key)) }
        }
    }

    @Test("A key of an impossible length is refused and leaves the transaction good")
    func keyLengths() throws {
        let nodes = environment.nodes
        try environment.write { transaction in
            for length in [1, 511] {
                try transaction.put(nodes, [UInt8](repeating: 1, count: length), [1])
            }
            for (length, expected) in [(0, LMDBError.Code.keyEmpty), (512, .keyTooLong)] {
                let key = [UInt8](repeating: 1, count: length)
                #expect(code { try transaction.put(nodes, key, [1]) } == expected)
                #expect(code { try transaction.append(nodes, key, [1]) } == expected)
            }
            let hasFailed = transaction.hasFailed
            #expect(!hasFailed)
        }
        try #expect(environment.read { try $0.statistics(of: nodes).entries } == 2)
        try #expect(
            environment.read { try $0.value(nodes, [UInt8](repeating: 1, count: 511)) } == [1])
    }

    @Test("Values from the empty to the longest one fit, and a longer one is refused")
    func valueLengths() throws {
        let nodes = environment.nodes
        let longest = [UInt8](repeating: 5, count: environment.maximumValueSize)
        #expect(environment.maximumValueSize == environment.pageSize - 16)
        try environment.write { transaction in
            try transaction.put(nodes, UInt64(1), longest)
            try transaction.put(nodes, UInt64(2), [])
            #expect(code { try transaction.put(nodes, UInt64(3), longest + [0]) } == .valueTooLong)
        }
        try environment.read { transaction in
            try #expect(transaction.value(nodes, UInt64(1)) == longest)
            try #expect(transaction.value(nodes, UInt64(2)) == [])
            try #expect(transaction.contains(nodes, UInt64(2)))
            try #expect(!transaction.contains(nodes, UInt64(3)))
            try #expect(transaction.statistics(of: nodes).overflowPages == 1)
        }
    }

    @Test("A write sees its own changes before other transactions do")
    func ownChanges() throws {
        let nodes = environment.nodes
        try environment.write { transaction in
            try transaction.put(nodes, UInt64(1), [1])
            try transaction.put(nodes, UInt64(1), [2])
            try #expect(transaction.value(nodes, UInt64(1)) == [2])
            try #expect(environment.read { try $0.value(nodes, UInt64(1)) } == nil)
            try #expect(transaction.delete(nodes, UInt64(1)))
            try #expect(!transaction.delete(nodes, UInt64(1)))
            try #expect(!transaction.contains(nodes, UInt64(1)))
        }
    }

    @Test("`append` refuses keys out of order and leaves the transaction good")
    func append() throws {
        let nodes = environment.nodes
        try environment.write { transaction in
            for handle in UInt64(1)...100 { try transaction.append(nodes, handle, [UInt8(handle)]) }
            for handle in [UInt64(100), 7, 0] {
                #expect(code { try transaction.append(nodes, handle, [0]) } == .outOfOrder)
            }
            let hasFailed = transaction.hasFailed
            #expect(!hasFailed)
        }
        try environment.read { transaction in
            try #expect(transaction.statistics(of: nodes).entries == 100)
            try #expect(transaction.value(nodes, UInt64(7)) == [7])
        }
    }

    @Test("`read` and `write` rethrow the errors of their bodies unchanged")
    func bodyErrors() throws {
        struct Mine: Error {}
        try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
        #expect(throws: Mine.self) {
            try environment.read {
                try $0.withValue(environment.nodes, UInt64(1)) { _ in throw Mine() }
            }
        }
        #expect(throws: Mine.self) {
            try environment.write { transaction in
                try transaction.put(environment.nodes, UInt64(1), [9])
                throw Mine()
            }
        }
        try #expect(environment.read { try $0.value(environment.nodes, UInt64(1)) } == [1])
    }
}
