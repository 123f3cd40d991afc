#if CommandLine
import EspalierRecords
import Testing

@testable import EspalierCLI

@Suite("Nodes and contradictions are counted as flattening stores them")
struct NodeCensusTests {
    private func census(
        _ models: JSONValue..., policy: WritePolicy = .replace, nullKeeps: Bool = false
    ) -> NodeCensus {
        let rule = IdentityRule(
            idKey: "id", types: [TypeMapping(property: "p", type: "root")], nullKeeps: nullKeeps)
        var census = NodeCensus(policy: policy)
        _ = census.add(write: models.map { rule.tree(from: $0, type: "root") })
        return census
    }

    @Test("Objects inside a repeated node are not counted")
    func laterOccurrences() {
        let census = census(["id": 1], ["id": 1, "q": ["id": 2]], ["id": 3, "q": ["id": 4]])
        #expect(census.identifiers.map { "\($0)" }.sorted() == ["q:4", "root:1", "root:3"])
        #expect(census.contradictions == 1)
    }

    @Test(
        "Equal objects do not contradict each other",
        arguments: [
            (["id": 1, "a": [1, ["b": nil]]], 0), (["a": [1, ["b": nil]], "id": 1], 0),
            (["id": 1, "a": [1, ["b": 0]]], 1),
            (["id": 1, "a": [1.0, ["b": nil]]], 1), (["id": "1", "a": [1, ["b": nil]]], 1),
            (["id": 1], 1),
        ] as [(JSONValue, Int)])
    func contradictions(second: JSONValue, count: Int) {
        #expect(census(["id": 1, "a": [1, ["b": nil]]], second).contradictions == count)
    }

    @Test("Children are compared by their identifiers, and for themselves")
    func children() {
        let child = census(["id": 1, "q": ["id": 2, "v": 1]], ["id": 1, "q": ["id": 2, "v": 2]])
        #expect(child.contradictions == 1 && child.losses == 1 && child.firstLoss == "q:2")
        let poor = census(["id": 1, "q": ["id": 2, "v": 1]], ["id": 3, "q": ["id": 2]])
        #expect(poor.contradictions == 1 && poor.losses == 0)
        #expect(census(["id": 1, "q": ["id": 2]], ["id": 1, "q": ["id": 3]]).contradictions == 1)
        #expect(census(["id": 1, "q": ["id": 2]], ["id": 1, "q": [:]]).contradictions == 1)
    }

    @Test("In a merge, a member that only one object has is no contradiction")
    func merge() {
        let poor: JSONValue = ["id": 1, "a": 1]
        let rich: JSONValue = ["id": 1, "b": ["id": 2], "q": ["id": 3]]
        let merged = census(poor, rich, ["id": 1, "b": ["id": 4]], policy: .merge)
        #expect(
            merged.identifiers.map { "\($0)" }.sorted() == ["b:2", "b:4", "q:3", "root:1"])
        #expect(merged.contradictions == 1)
        let null: JSONValue = ["id": 1, "a": nil]
        #expect(census(poor, null, policy: .merge).contradictions == 1)
        #expect(census(poor, null, policy: .merge, nullKeeps: true).contradictions == 0)
        #expect(census(null, poor, policy: .merge, nullKeeps: true).contradictions == 0)
    }

    @Test("An object inside itself is counted once")
    func cycle() {
        let census = census(["id": 1, "p": ["id": 2, "p": ["id": 1]]])
        #expect(census.identifiers.count == 2)
        #expect(census.contradictions == 1)
    }
}
#endif
