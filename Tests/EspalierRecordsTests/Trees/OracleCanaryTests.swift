import EspalierRecords
import EspalierTestSupport
import Testing

/// Cases of the oracle that are small enough to be checked by eye, and a check that the comparison
/// with it can fail.
@Suite("The oracle of reads")
struct OracleCanaryTests {
    func node(_ id: String, _ number: Int64, _ values: [String: TreeValue] = [:]) -> TreeModel {
        .filled(.node, id, values.merging(["number": .scalar(.integer(number))]) { $1 })
    }

    @Test("The oracle keeps a re-created identifier out of its old parents")
    func recreated() {
        var oracle = OracleStore()
        oracle.write(node("a", 1, ["next": .child(node("b", 2))]))
        oracle.delete("b")
        #expect(oracle.read("a", as: .node) == .hit(node("a", 1), isCut: false))
        oracle.write(node("b", 3))
        #expect(oracle.read("a", as: .node) == .hit(node("a", 1), isCut: false))
        #expect(oracle.read("b", as: .node) == .hit(node("b", 3), isCut: false))
    }

    @Test("The oracle lets a deletion climb to the nearest place that can be left out")
    func climbing() {
        let owned = TreeModel.filled(
            .owned, "o", ["name": .scalar(.bool(true)), "owner": .child(node("b", 2))])
        var oracle = OracleStore()
        oracle.write(node("a", 1, ["pieces": .array([owned])]))
        oracle.delete("b")
        #expect(oracle.read("a", as: .node) == .hit(node("a", 1), isCut: false))
        #expect(oracle.read("o", as: .owned) == .miss(.deleted))
        #expect(oracle.read("b", as: .node) == .miss(.notFound))
    }

    @Test("The oracle's replace clears all declared fields, and its merge keeps those that are nil")
    func policies() {
        var oracle = OracleStore()
        let full = node("a", 1, ["title": .scalar(.string("t")), "next": .child(node("b", 2))])
        let summary = TreeModel.filled(.summary, "a", ["badge": .scalar(.integer(5))])
        oracle.write(full)
        oracle.write(summary, policy: .merge)
        #expect(oracle.read("a", as: .node) == .hit(full, isCut: false))
        oracle.write(node("a", 3), policy: .merge)
        #expect(
            oracle.read("a", as: .node)
                == .hit(full.setting("number", to: .scalar(.integer(3))), isCut: false))
        oracle.write(node("a", 4))
        #expect(oracle.read("a", as: .node) == .hit(node("a", 4), isCut: false))
        #expect(oracle.read("a", as: .summary) == .hit(summary, isCut: false))
        #expect(oracle.read("b", as: .summary) == .miss(.undecodable))
    }

    @Test("The oracle cuts a cycle where a field may be empty, and misses where it may not")
    func cycles() {
        var oracle = OracleStore()
        oracle.write(node("a", 1, ["next": .child(node("b", 2))]))
        oracle.write(node("b", 2, ["next": .child(node("a", 1))]))
        #expect(
            oracle.read("b", as: .node)
                == .hit(node("b", 2, ["next": .child(node("a", 1))]), isCut: false))
        oracle.write(node("a", 1, ["next": .child(node("a", 1))]))
        #expect(oracle.read("a", as: .node) == .hit(node("a", 1), isCut: true))
        let owned = TreeModel.filled(
            .owned, "o", ["name": .scalar(.bool(true)), "owner": .child(node("a", 1))])
        oracle.write(node("a", 1, ["pieces": .array([owned])]))
        #expect(oracle.read("a", as: .node) == .miss(.cyclic))
    }

    @Test("The oracle reads keys, collections and inline entries, and misses lost records")
    func entries() {
        var oracle = OracleStore()
        let a = node("a", 1), b = node("b", 2)
        let inline = TreeModel.filled(
            .node, nil, ["number": .scalar(.integer(3)), "next": .child(a)])
        oracle.write(a, forKey: "home")
        oracle.write(inline, forKey: "draft")
        oracle.writeCollection([a, b, a, inline], forKey: "all")
        #expect(oracle.read(key: "home", as: .node) == .hit(a, isCut: false))
        #expect(oracle.read(key: "a", as: .node) == .hit(a, isCut: false))
        #expect(oracle.read(key: "draft", as: .node) == .hit(inline, isCut: false))
        #expect(oracle.readCollection("all", as: .node) == .hit([a, b, a, inline], isCut: false))
        oracle.delete("a")
        #expect(oracle.read(key: "home", as: .node) == .miss(.deleted))
        #expect(
            oracle.readCollection("all", as: .node)
                == .hit([b, inline.setting("next", to: .child(nil))], isCut: false))
        oracle.lose("b")
        #expect(oracle.readCollection("all", as: .node) == .miss(.lost))
        #expect(oracle.readCollection("none", as: .node) == .miss(.notFound))
        oracle.deleteKey("home")
        oracle.deleteCollection("all")
        #expect(oracle.read(key: "home", as: .node) == .miss(.notFound))
        #expect(oracle.readCollection("all", as: .node) == .miss(.notFound))
    }

    @Test("An outcome of the oracle agrees with that outcome of a read and with no other")
    func agreement() {
        let a = node("a", 1), b = node("b", 2)
        #expect(OracleOutcome.hit(a, isCut: false).agrees(with: .success(a)))
        #expect(!OracleOutcome.hit(a, isCut: false).agrees(with: .success(b)))
        #expect(!OracleOutcome.hit(a, isCut: false).agrees(with: .failure(.notFound)))
        #expect(OracleOutcome<TreeModel>.miss(.lost).agrees(with: .failure(.lost(path: "x"))))
        #expect(!OracleOutcome<TreeModel>.miss(.lost).agrees(with: .failure(.dangling(path: "x"))))
        #expect(!OracleOutcome<TreeModel>.miss(.lost).agrees(with: .success(a)))
    }

    @Test("Comparing finds a store that resurrects, does not climb, or has a wrong child")
    func canary() throws {
        let tree = node("a", 1, ["next": .child(node("b", 2))])
        let source = DictionaryRecordSource()
        var oracle = OracleStore()
        try source.store(tree)
        oracle.write(tree)
        oracle.delete("b")
        #expect(!oracle.read("a", as: .node).agrees(with: source.read("a", as: .node)))
        source.tombstones.insert(try #require(source.handle(of: "b")))
        #expect(oracle.read("a", as: .node).agrees(with: source.read("a", as: .node)))
        source.tombstones = []
        source.records[try #require(source.handle(of: "b"))] = nil
        #expect(!oracle.read("a", as: .node).agrees(with: source.read("a", as: .node)))
    }
}
