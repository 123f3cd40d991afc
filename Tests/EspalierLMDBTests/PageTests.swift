import EspalierLMDB
import Foundation
import Testing

@Suite("Pages")
struct PageTests {
    /// A fixed sequence of numbers, so that a failure can be repeated.
    struct Sequence: RandomNumberGenerator {
        var state: UInt64 = 42
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    @Test("The counts of used, free and unused pages add up to the capacity after each commit")
    func identity() throws {
        let scratch = try Scratch()
        let environment = try scratch.open(mapSize: 2 << 20)
        var random = Sequence()
        for _ in 0..<150 {
            try environment.write { transaction in
                for _ in 0..<40 {
                    let key = UInt64.random(in: 0..<600, using: &random)
                    if Bool.random(using: &random) {
                        let size = Int.random(in: 0...3_000, using: &random)
                        try transaction.put(
                            environment.nodes, key, [UInt8](repeating: 1, count: size))
                    } else {
                        try transaction.delete(environment.nodes, key)
                    }
                }
            }
            try environment.read { transaction in
                let usage = try transaction.pages()
                #expect(usage.used + usage.free + usage.neverAllocated == usage.capacity)
                #expect(usage.used + usage.free == usage.lastPage + 1)
                try #expect(usage.free == transaction.listedFreePages())
                let size =
                    try FileManager.default.attributesOfItem(atPath: scratch.data)[.size] as? Int
                    ?? -1
                #expect(size <= (usage.lastPage + 1) * usage.pageSize)
                #expect(size <= environment.mapSize - usage.pageSize)
            }
        }
    }

    @Test("A full map throws .mapFull, voids the transaction and changes nothing")
    func mapFull() throws {
        let environment = try Scratch().open(mapSize: 256 << 10)
        let nodes = environment.nodes
        try environment.write { try $0.put(nodes, UInt64(0), [7]) }
        let before = try environment.read { try $0.pages() }
        var transaction = try environment.beginWrite()
        var failure: LMDBError?
        for number in UInt64(0)..<200 {
            do { try transaction.put(nodes, number, [UInt8](repeating: 1, count: 3_000)) } catch {
                failure = error
                break
            }
        }
        #expect(failure?.code == .mapFull)
        let hasFailed = transaction.hasFailed
        #expect(hasFailed)
        #expect(code { try transaction.put(nodes, UInt64(900), [1]) } == .transactionFailed)
        #expect(code { try transaction.delete(nodes, UInt64(0)) } == .transactionFailed)
        do {
            try transaction.commit()
            Issue.record("a failed transaction was committed")
        } catch { #expect(error.code == .transactionFailed) }
        try environment.read { transaction in
            try #expect(transaction.pages() == before)
            try #expect(transaction.value(nodes, UInt64(0)) == [7])
            try #expect(transaction.statistics(of: nodes).entries == 1)
        }
        try environment.write { try $0.put(nodes, UInt64(1), [1]) }
    }

    @Test("The count of used pages includes those that the write has allocated")
    func insideWrite() throws {
        let environment = try Scratch().open()
        try environment.write { transaction in
            let before = try transaction.pages()
            for number in UInt64(0)..<100 {
                try transaction.put(environment.nodes, number, [UInt8](repeating: 1, count: 3_000))
            }
            let after = try transaction.pages()
            #expect(after.used >= before.used + 100)
            #expect(after.used + after.free + after.neverAllocated == after.capacity)
            #expect(after.capacity == environment.mapSize / environment.pageSize - 1)
        }
    }

    @Test("A map that is smaller than the file is raised to its size")
    func raisedMap() throws {
        let scratch = try Scratch()
        let environment = try scratch.open(mapSize: 1 << 20)
        try environment.write { transaction in
            for number in UInt64(0)..<100 {
                try transaction.put(environment.nodes, number, [UInt8](repeating: 1, count: 3_000))
            }
        }
        environment.close()
        let small = try scratch.open(mapSize: 64 << 10)
        #expect(small.mapSize > 64 << 10)
        try #expect(small.read { try $0.statistics(of: small.nodes).entries } == 100)
    }
}
