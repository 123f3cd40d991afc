import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Restoring cycles")
struct RestorationCycleTests {
    /// A record that refers to other nodes of a graph.
    private func node(_ number: Int, to others: [Int], isOnCycle: Bool = false) -> RestoredRecord {
        var writer = ByteWriter()
        writer.append(arrayOf: others.count)
        for ordinal in others.indices { writer.append(child: ordinal) }
        let value = RestoredValue(bytes: writer.bytes, references: others.map { .node("n:\($0)") })
        return RestoredRecord(
            "n:\(number)", .node(Shape(type: "T", fields: ["list"]), value, isOnCycle: isOnCycle))
    }

    private func flagged(_ cache: NormalizedCache, of count: Int) throws -> Set<Int> {
        Set(try (0..<count).filter { try cache.state("n:\($0)").flags.contains(.onCycle) })
    }

    /// Returns whether the graph has no cycle without the nodes `removed`.
    private static func isAcyclic(_ edges: [[Int]], without removed: Set<Int>) -> Bool {
        var left = Set(edges.indices).subtracting(removed)
        while let sink = left.first(where: { node in edges[node].allSatisfy { !left.contains($0) } }
        ) {
            left.remove(sink)
        }
        return left.isEmpty
    }

    @Test("Restoring any graph of three nodes flags the nodes on its cycles, and no others")
    func everyGraph() throws {
        withEveryChoice { choices in
            let edges = (0..<3).map { _ in (0..<3).filter { _ in choices.chooseBool() } }
            var search = CycleFinder()
            for start in 0..<3 {
                search.search(from: Handle(UInt64(start))) {
                    edges[Int($0.rawValue)].map { Handle(UInt64($0)) }
                }
            }
            let found = Set(search.found.map { Int($0.rawValue) })
            #expect(Self.isAcyclic(edges, without: found), "\(edges)")
            for node in found { #expect(Self.reaches(node, from: node, edges), "\(edges)") }
        }
    }

    private static func reaches(_ target: Int, from start: Int, _ edges: [[Int]]) -> Bool {
        var seen: Set<Int> = []
        var rest = edges[start]
        while let next = rest.popLast() {
            if next == target { return true }
            if seen.insert(next).inserted { rest += edges[next] }
        }
        return false
    }

    @Test(
        "Restoring finds cycles in one write, and across writes in any order",
        arguments: [1, 2, 3, 6])
    func acrossWrites(size: Int) throws {
        let edges = [[1], [2, 3], [0], [3, 4], [5], []]
        var random = SeededGenerator(seed: UInt64(size))
        for _ in 0..<6 {
            try withCache { cache in
                let records = edges.enumerated().map { node($0.offset, to: $0.element) }.shuffled(
                    using: &random)
                try cache.restore(records, inPartsOf: size)
                let flagged = try flagged(cache, of: edges.count)
                #expect(Self.isAcyclic(edges, without: flagged))
                #expect(flagged.isSubset(of: [0, 1, 2, 3]))
            }
        }
    }

    @Test("Restoring finds cycles that are closed by a record that replaces another")
    func throughOthers() throws {
        try withCache { cache in
            try cache.restore([node(0, to: [1]), node(1, to: [2]), node(2, to: [])]).wait()
            #expect(try flagged(cache, of: 3) == [])
            try cache.restore([node(2, to: [0])]).wait()
            #expect(try flagged(cache, of: 3).count == 1)
        }
    }

    @Test("Restoring cycles that are flagged adds no flags, in any order of writes")
    func flags() throws {
        let edges = [[1, 2], [0, 2], [0, 1, 3], [3]]
        for size in 1...4 {
            try withCache { cache in
                let records = edges.enumerated().map {
                    node($0.offset, to: $0.element, isOnCycle: $0.offset != 1)
                }
                try cache.restore(records, inPartsOf: size)
                #expect(try flagged(cache, of: 4) == [0, 2, 3])
            }
        }
    }

    @Test("Restoring a chain of 100,000 records needs no stack")
    func chain() {
        var search = CycleFinder()
        search.search(from: Handle(1)) {
            $0.rawValue < 100_000 ? [Handle($0.rawValue + 1)] : [Handle(50_000)]
        }
        #expect(search.found == [Handle(50_000)])
    }
}
