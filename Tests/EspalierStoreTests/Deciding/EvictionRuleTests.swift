import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("What is to be done with the oldest record")
struct EvictionRuleTests {
    private func isRight(
        _ graph: MemoryGraph, _ handle: Handle, regardlessOfAge: Bool = false,
        searchLimit: Int = 100
    ) throws -> Bool {
        let step = try EvictionRule.step(
            for: handle, in: graph, regardlessOfAge: regardlessOfAge, searchLimit: searchLimit)
        let expected = graph.expectedStep(
            for: handle, regardlessOfAge: regardlessOfAge, searchLimit: searchLimit)
        guard step != expected else { return true }
        Issue.record("\(graph): \(handle) is to \(expected), and would \(step)")
        return false
    }

    /// Random references from outside, few enough that many cycles have none.
    private func fill(_ graph: inout MemoryGraph, _ random: inout SeededGenerator) {
        for record in 0..<graph.count {
            let bits = random.next()
            graph.outside[record] = bits & 7 == 0 ? bits >> 3 & 3 : 0
            graph.stamps[record] = bits >> 8 & 3
            graph.flags[record] = StateEntry.Flags(
                rawValue: UInt8(truncatingIfNeeded: bits >> 16) & 0b100_0100)
            if bits >> 24 & 15 == 0 { graph.flags[record].insert(.pendingRemoval) }
        }
    }

    @Test("is what the definition says, for every graph of up to three records", arguments: 1...3)
    func small(count: Int) throws {
        var random = SeededGenerator(quietly: UInt64(count))
        for edges in 0..<UInt64(1) << UInt64(count * count) {
            var graph = MemoryGraph(count: count, edges: edges)
            for _ in 0..<8 {
                fill(&graph, &random)
                for record in 1...count {
                    for limit in 1...count {
                        guard try isRight(graph, Handle(UInt64(record)), searchLimit: limit) else {
                            return
                        }
                    }
                    guard try isRight(graph, Handle(UInt64(record)), regardlessOfAge: true) else {
                        return
                    }
                }
            }
        }
    }

    @Test("is what the definition says, for every graph of four records")
    func four() throws {
        var random = SeededGenerator(quietly: 4)
        for edges in 0..<UInt64(1) << 16 {
            var graph = MemoryGraph(count: 4, edges: edges)
            fill(&graph, &random)
            // Which record is asked for makes no difference to all graphs taken together.
            let choice = random.next()
            let isRight = try isRight(
                graph, Handle(choice % 4 + 1), regardlessOfAge: choice >> 8 & 3 == 0,
                searchLimit: choice >> 16 & 3 == 0 ? Int(choice >> 24 % 4 + 1) : 4)
            guard isRight else { return }
        }
    }

    @Test("is what the definition says, for thousands of random graphs of up to twelve records")
    func many() throws {
        var random = SeededGenerator(quietly: 12)
        for _ in 0..<3_000 {
            let count = Int(random.next() % 8) + 5
            var edges: UInt64 = random.next() & random.next() & random.next()
            if count > 8 { edges &= random.next() }
            // More than 64 edges do not fit a number: the last records of a large graph refer to
            // nothing.
            var graph = MemoryGraph(count: count, edges: edges)
            fill(&graph, &random)
            guard try isRight(graph, Handle(random.next() % UInt64(count) + 1)) else { return }
        }
    }

    @Test(
        "to hold a group larger than the search may be, to release what is dying, whatever refers to it"
    )
    func corners() throws {
        // 1 -> 2 -> 3 -> 1
        var ring = MemoryGraph(count: 3, edges: 0b001_100_010)
        ring.stamps = [5, 7, 6]
        #expect(
            try EvictionRule.step(for: Handle(1), in: ring, searchLimit: 2)
                == .block(Handle(1), externalReferences: []))
        #expect(
            try EvictionRule.step(for: Handle(1), in: ring, searchLimit: 3)
                == .relist(Handle(1), stamp: Stamp(7)))
        let all: [Handle] = [Handle(1), Handle(2), Handle(3)]
        #expect(try EvictionRule.step(for: Handle(2), in: ring) == .evict(all, stamp: Stamp(7)))
        #expect(
            try EvictionRule.step(for: Handle(1), in: ring, regardlessOfAge: true)
                == .evict(all, stamp: Stamp(7)))
        ring.outside[2] = 1
        #expect(
            try EvictionRule.step(for: Handle(2), in: ring)
                == .block(Handle(2), externalReferences: [Handle(3)]))
        ring.flags[1] = .pendingRemoval
        #expect(try EvictionRule.step(for: Handle(2), in: ring) == .release(Handle(2)))
    }

    @Test("is not looked for where counts alone decide")
    func lazy() throws {
        struct Blind: EvictionGraph {
            struct Looked: Error {}
            let entry: StateEntry
            func entry(_ handle: Handle) -> StateEntry { entry }
            func children(_ handle: Handle) throws -> [Handle] { throw Looked() }
        }
        let root = Blind(entry: StateEntry(referenceCount: 0, stamp: Stamp(3), flags: .onCycle))
        #expect(
            try EvictionRule.step(for: Handle(1), in: root) == .evict([Handle(1)], stamp: Stamp(3)))
        let dying = Blind(
            entry: StateEntry(referenceCount: 2, flags: [.pendingRemoval, .tombstone]))
        #expect(try EvictionRule.step(for: Handle(1), in: dying) == .release(Handle(1)))
        #expect(throws: Blind.Looked.self) {
            try EvictionRule.step(for: Handle(1), in: Blind(entry: StateEntry()))
        }
    }
}
