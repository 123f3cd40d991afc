import EspalierLMDB
import Testing

@Suite("Insertions")
struct InsertTests {
    let scratch: Scratch
    let environment: Environment
    let nodes: Keyspace

    init() throws {
        scratch = try Scratch()
        environment = try scratch.open()
        nodes = environment.nodes
    }

    /// Returns the value that `key` has, or `nil` if `value` was stored.
    private func insert(
        _ key: [UInt8], _ value: [UInt8], in transaction: inout WriteTransaction
    ) throws -> [UInt8]? {
        try transaction.insert(nodes, key, unsafe value.span.bytes) { copy($0) }
    }

    @Test(
        "`insert` stores a value under a missing key", arguments: [1, 8, 511],
        [0, 1, 2_000, 4_080])
    func absent(keyLength: Int, valueLength: Int) throws {
        let key = [UInt8](repeating: 7, count: keyLength)
        let value = [UInt8](repeating: 5, count: min(valueLength, environment.maximumValueSize))
        try environment.write { transaction in
            try #expect(insert(key, value, in: &transaction) == nil)
            try #expect(transaction.value(nodes, key) == value)
        }
        try #expect(environment.read { try $0.value(nodes, key) } == value)
        try #expect(environment.read { try $0.statistics(of: nodes).entries } == 1)
    }

    @Test("`insert` returns the value that a key has and keeps no new page")
    func present() throws {
        let (key, other): ([UInt8], [UInt8]) = ([1, 2], [3])
        let stored = [UInt8](repeating: 9, count: 3_000)
        try environment.write { transaction in
            try transaction.put(nodes, key, stored)
            try transaction.put(nodes, other, [])
        }
        let before = try environment.read { try $0.statistics(of: nodes) }
        let used = try environment.read { try $0.pages().used }
        try environment.write { transaction in
            try #expect(insert(key, [4], in: &transaction) == stored)
            try #expect(insert(key, stored, in: &transaction) == stored)
            try #expect(insert(other, [5], in: &transaction) == [])
            let hasFailed = transaction.hasFailed
            #expect(!hasFailed)
        }
        try environment.read { transaction in
            try #expect(transaction.statistics(of: nodes) == before)
            try #expect(transaction.pages().used == used)
            try #expect(transaction.value(nodes, key) == stored)
            try #expect(transaction.value(nodes, other) == [])
        }
    }

    @Test("`insert` sees the earlier changes of its transaction")
    func ownChanges() throws {
        try environment.write { transaction in
            try #expect(insert([1], [10], in: &transaction) == nil)
            try #expect(insert([1], [11], in: &transaction) == [10])
            try transaction.put(nodes, [1] as [UInt8], [12])
            try #expect(insert([1], [13], in: &transaction) == [12])
            try transaction.delete(nodes, [1] as [UInt8])
            try #expect(insert([1], [14], in: &transaction) == nil)
        }
        try #expect(environment.read { try $0.value(nodes, [1] as [UInt8]) } == [14])
    }

    @Test("`insert` finds each of so many keys that pages are split")
    func many() throws {
        try environment.write { transaction in
            for round in 0..<2 {
                for number in 0..<2_000 {
                    let key = Array("key \(number * 7_919 % 2_000)".utf8)
                    let expected = round == 0 ? nil : key
                    try #expect(insert(key, round == 0 ? key : [0], in: &transaction) == expected)
                }
            }
        }
        try #expect(environment.read { try $0.statistics(of: nodes).entries } == 2_000)
    }

    @Test("`insert` ignores the same key in another keyspace")
    func keyspaces() throws {
        try environment.write { transaction in
            try transaction.put(environment.index, [1] as [UInt8], [1])
            try #expect(insert([1], [2], in: &transaction) == nil)
            try #expect(transaction.value(environment.index, [1] as [UInt8]) == [1])
        }
    }

    @Test("`insert` refuses keys and values of impossible lengths and leaves the transaction good")
    func lengths() throws {
        let longest = [UInt8](repeating: 5, count: environment.maximumValueSize)
        try environment.write { transaction in
            #expect(code { _ = try insert([], [1], in: &transaction) } == .keyEmpty)
            #expect(
                code { _ = try insert([UInt8](repeating: 1, count: 512), [1], in: &transaction) }
                    == .keyTooLong)
            #expect(code { _ = try insert([1], longest + [0], in: &transaction) } == .valueTooLong)
            let hasFailed = transaction.hasFailed
            #expect(!hasFailed)
            try #expect(insert([1], longest, in: &transaction) == nil)
        }
        try #expect(environment.read { try $0.value(nodes, [1] as [UInt8]) } == longest)
        try #expect(environment.read { try $0.statistics(of: nodes).entries } == 1)
    }

    @Test("`insert` into a full map throws .mapFull, voids the transaction and changes nothing")
    func mapFull() throws {
        let environment = try Scratch().open(mapSize: 256 << 10)
        let nodes = environment.nodes
        let value = [UInt8](repeating: 1, count: 3_000)
        try environment.write { try $0.put(nodes, UInt64(0), [7]) }
        let before = try environment.read { try $0.pages() }
        var transaction = try environment.beginWrite()
        var failure: LMDBError?
        for number in UInt8(0)..<200 {
            do {
                _ = try transaction.insert(nodes, [number], unsafe value.span.bytes) { _ in true }
            } catch let error as LMDBError {
                failure = error
                break
            }
        }
        #expect(failure?.code == .mapFull)
        let hasFailed = transaction.hasFailed
        #expect(hasFailed)
        #expect(
            code { _ = try transaction.insert(nodes, [1], unsafe value.span.bytes) { _ in true } }
                == .transactionFailed)
        #expect(code { try transaction.put(nodes, UInt64(900), [1]) } == .transactionFailed)
        do {
            try transaction.commit()
            Issue.record("a failed transaction was committed")
        } catch { #expect(error.code == .transactionFailed) }
        try environment.read { transaction in
            try #expect(transaction.pages() == before)
            try #expect(transaction.value(nodes, UInt64(0)) == [7])
            try #expect(transaction.statistics(of: nodes).entries == 1)
        }
    }

    @Test("`insert` rethrows the error of its body and leaves the transaction good")
    func bodyErrors() throws {
        struct Mine: Error {}
        try environment.write { try $0.put(nodes, [1] as [UInt8], [1]) }
        try environment.write { transaction in
            let value: [UInt8] = [2]
            #expect(throws: Mine.self) {
                _ = try transaction.insert(nodes, [1], unsafe value.span.bytes) { _ -> Bool in
                    throw Mine()
                }
            }
            let hasFailed = transaction.hasFailed
            #expect(!hasFailed)
            try transaction.put(nodes, [3] as [UInt8], [3])
        }
        try #expect(environment.read { try $0.value(nodes, [1] as [UInt8]) } == [1])
        try #expect(environment.read { try $0.value(nodes, [3] as [UInt8]) } == [3])
    }

    @Test("`insert` stays good if its body throws an error of another environment")
    func bodyErrorsOfOthers() throws {
        let other = try Scratch().open()
        other.close()
        try environment.write { try $0.put(nodes, [1] as [UInt8], [1]) }
        try environment.write { transaction in
            let value: [UInt8] = [2]
            let thrown = code {
                _ = try transaction.insert(nodes, [1], unsafe value.span.bytes) { _ in
                    try other.read { $0.number }
                }
            }
            #expect(thrown == .closed)
            let hasFailed = transaction.hasFailed
            #expect(!hasFailed)
        }
    }

    @Test("An aborted insertion leaves no entry")
    func aborted() throws {
        var transaction = try environment.beginWrite()
        try #expect(insert([1], [1], in: &transaction) == nil)
        transaction.abort()
        try #expect(environment.read { try $0.statistics(of: nodes).entries } == 0)
    }
}
