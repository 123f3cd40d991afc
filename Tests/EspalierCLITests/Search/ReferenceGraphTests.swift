#if CommandLine
import EspalierRecords
import Testing

@testable import EspalierCLI

@Suite("Graphs of references")
struct ReferenceGraphTests {
    /// 1 -> 2 -> 3 -> 1, 2 -> 2, 3 -> 4, 5 -> 1.
    private static let pairs: [(UInt64, UInt64)] = [(1, 2), (2, 3), (3, 1), (2, 2), (3, 4), (5, 1)]

    private static let edges = pairs.map { pair in
        ReferenceEdge(
            source: Handle(pair.0), path: FieldPath(steps: [.name("f\(pair.1)")]),
            target: Handle(pair.1))
    }

    private static func graph(
        from start: UInt64, depth: Int, calls: inout [String]
    ) -> ReferenceGraph {
        ReferenceGraph(around: Handle(start), depth: depth) { direction, records in
            calls.append("\(direction) \(records.map(\.rawValue))")
            return edges.filter { records.contains(direction == .to ? $0.source : $0.target) }
        }
    }

    private static func rows(_ graph: ReferenceGraph) -> [String] {
        graph.steps.map {
            "\($0.direction) \($0.depth) \($0.edge.source.rawValue)\($0.edge.target.rawValue)"
        }
    }

    @Test("One step holds the references from and to the record")
    func one() {
        var calls: [String] = []
        let graph = Self.graph(from: 1, depth: 1, calls: &calls)
        #expect(Self.rows(graph) == ["to 1 12", "from 1 31", "from 1 51"])
        #expect(calls == ["to [1]", "from [1]"])
    }

    @Test("Each further step is one query per level, and a cycle ends")
    func many() {
        var calls: [String] = []
        let graph = Self.graph(from: 1, depth: 100, calls: &calls)
        #expect(
            Self.rows(graph) == [
                "to 1 12", "to 2 23", "to 2 22", "to 3 31", "to 3 34", "from 1 31", "from 1 51",
                "from 2 23",
                "from 3 12",
                "from 3 22",
            ])
        #expect(
            calls == [
                "to [1]", "to [2]", "to [3]", "to [4]", "from [1]", "from [3, 5]", "from [2]",
            ])
        #expect(Set(graph.edges).count == graph.edges.count)
        #expect(Set(graph.edges) == Set(Self.edges))
    }

    @Test("A record that refers to itself is at both ends")
    func itself() {
        var calls: [String] = []
        #expect(
            Self.rows(Self.graph(from: 2, depth: 1, calls: &calls)) == [
                "to 1 23", "to 1 22", "from 1 12", "from 1 22",
            ])
    }

    @Test("A path in a segment becomes a path in its collection")
    func moved() {
        let path = FieldPath(steps: [.index(3), .name("by")])
        #expect(path.moved(by: 512).description == "[515].by")
        #expect(FieldPath(steps: [.name("by")]).moved(by: 512).description == "by")
    }

    private static let names: [Handle: RecordName] = [
        Handle(1): RecordName(kind: .node, identifier: "User:1"),
        Handle(2): RecordName(kind: .deleted, identifier: ""),
        Handle(3): RecordName(kind: .collection, identifier: "c"),
        Handle(5): RecordName(kind: .damaged, identifier: ""),
    ]

    @Test(
        "A person reads one end of each reference at depth 1 and both beyond; a program reads both"
    )
    func report() {
        var calls: [String] = []
        let near = ReferenceReport(
            graph: Self.graph(from: 1, depth: 1, calls: &calls), names: Self.names)
        #expect(
            near.shown.table.text() == """
                direction  path  record
                to         f2    (deleted)
                from       f1    collection c
                from       f1    (damaged)
                """)
        let far = ReferenceReport(
            graph: Self.graph(from: 1, depth: 2, calls: &calls), names: Self.names)
        #expect(
            far.shown.table.text() == """
                direction  depth  record        path  refers to
                to             1  User:1        f2    (deleted)
                to             2  (deleted)     f3    collection c
                to             2  (deleted)     f2    (deleted)
                from           1  collection c  f1    User:1
                from           1  (damaged)     f1    User:1
                from           2  (deleted)     f3    collection c
                """)
        #expect(
            near.report.csv == """
                direction,depth,source.kind,source.identifier,path,target.kind,target.identifier
                to,1,node,User:1,f2,deleted,
                from,1,collection,c,f1,node,User:1
                from,1,damaged,,f1,node,User:1
                """)
        guard case .array(let rows) = near.report.json else { return }
        #expect(
            rows.first == [
                "direction": "to", "depth": 1, "source": ["kind": "node", "identifier": "User:1"],
                "path": "f2",
                "target": ["kind": "deleted", "identifier": nil],
            ])
    }
}
#endif
