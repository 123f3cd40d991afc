import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("The cycle through a record")
struct CycleThroughTests {
    private func through(_ start: UInt64, limit: Int = 1 << 15, _ edges: [UInt64: [UInt64]])
        -> [UInt64: UInt64]?
    {
        let cycle = Cycle.through(Handle(start), limit: limit) {
            (edges[$0.rawValue] ?? []).map { Handle($0) }
        }
        guard let cycle else { return nil }
        return Dictionary(
            uniqueKeysWithValues: cycle.references.map { ($0.key.rawValue, $0.value) })
    }

    @Test(
        "has the records that lead back to it, each with the references from among them, and nothing else"
    )
    func members() {
        // 9 refers into the cycle 1, 2, 3 and is not reached; 4 and 5 are, and lead nowhere back.
        let edges: [UInt64: [UInt64]] = [1: [2, 4], 2: [3, 1], 3: [1, 5], 4: [5], 9: [1, 2]]
        #expect(through(1, edges) == [1: 2, 2: 1, 3: 1])
        #expect(through(2, edges) == [1: 2, 2: 1, 3: 1])
        #expect(through(4, edges) == [:])
        #expect(through(9, edges) == [:])
    }

    @Test("is another one below it, and that is not its own")
    func below() {
        let edges: [UInt64: [UInt64]] = [1: [2], 2: [3], 3: [2]]
        #expect(through(1, edges) == [:])
        #expect(through(2, edges) == [2: 1, 3: 1])
    }

    @Test("is itself alone where it refers to itself")
    func itself() {
        #expect(through(1, [1: [1]]) == [1: 1])
        #expect(through(1, limit: 1, [1: [1]]) == [1: 1])
        #expect(through(1, [1: [1, 2], 2: [2]]) == [1: 1])
        #expect(through(1, [:]) == [:])
    }

    @Test(
        "may be as large as the limit and no larger; what is reached counts, not what leads back",
        arguments: [2, 3, 100, 5_000])
    func limits(count: UInt64) {
        let ring = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, [($0 + 1) % count]) })
        #expect(through(0, limit: Int(count), ring)?.count == Int(count))
        #expect(through(0, limit: Int(count) - 1, ring) == nil)
        let chain = Dictionary(uniqueKeysWithValues: (0..<count - 1).map { ($0, [$0 + 1]) })
        #expect(through(0, limit: Int(count), chain) == [:])
        #expect(through(0, limit: Int(count) - 1, chain) == nil)
        #expect(through(count - 1, limit: 1, chain) == [:])
    }

    @Test("takes no stack, and a look at each record's children, however many ways lead to it")
    func ladder() {
        // 2^20,000 paths.
        let count: UInt64 = 20_000
        var looks = 0
        let cycle = Cycle.through(Handle(0), limit: 1 << 20) { handle -> [Handle] in
            looks += 1
            let next = (handle.rawValue / 2 + 1) * 2
            return next >= count * 2 ? [Handle(0)] : [Handle(next), Handle(next + 1)]
        }
        #expect(looks == Int(count) * 2 - 1)
        #expect(cycle?.references.count == looks)
    }

    @Test("gives up with the error that reading a record throws")
    func failure() {
        struct Unreadable: Error {}
        #expect(throws: Unreadable.self) {
            try Cycle.through(Handle(1), limit: 10) { handle in
                if handle == Handle(2) { throw Unreadable() }
                return [Handle(2)]
            }
        }
    }
}
