import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("A large cycle is evicted as one")
struct LargeCycleTests {
    /// Rings whose removal takes more pages than one transaction has.
    @Test("in steps, when its time comes, and nothing younger before it", arguments: [300, 3_000])
    func ring(count: Int) throws {
        let rig = try CommitterRig(.forTests(budget: .mebibytes(2)))
        for number in 0..<count {
            try rig.set(
                Branch(
                    "r:\(number)", String(repeating: "x", count: 60),
                    [Branch(stub: "r:\((number + 1) % count)")]))
        }
        _ = rig.takeChanges()
        var evicted: [String] = []
        for number in 0..<1_500 {
            try rig.set(Branch("n:\(number)", String(repeating: "y", count: 1_000)))
            evicted += rig.takeChanges().flatMap(\.evicted)
            while rig.committer.maintain(isIdle: true) {}
            evicted += rig.takeChanges().flatMap(\.evicted)
            if number % 300 == 0 { #expect(try rig.verify().problems == []) }
        }
        #expect(Set(evicted.prefix(count)) == Set((0..<count).map { "r:\($0)" }))
        #expect(evicted.dropFirst(count).first == "n:0")
        #expect(try rig.verify().isClean)
        #expect(try rig.verify().tombstones == 0)
        #expect(try rig.read(.node, "n:1499"))
        #expect(try !rig.read(.node, "r:1"))
    }
}
