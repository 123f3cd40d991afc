import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Flattening makes one draft per identifier, in pre-order")
struct IdentityTests {
    func flatten(_ model: some NormalizedModel) throws -> FlattenedTree {
        try DictionaryRecordSource.flatten(model)
    }

    func node(_ id: String, _ number: Int64, _ values: [String: TreeValue] = [:]) -> TreeModel {
        .filled(.node, id, values.merging(["number": .scalar(.integer(number))]) { $1 })
    }

    @Test("Nodes stand in pre-order, and children are indexes in the order of first use")
    func preOrder() throws {
        let a = Leaf("a"), b = Leaf("b"), c = Leaf("c")
        let tree = try flatten(
            Page(id: "p", optional: a, list: [b, a, b], table: ["y": c, "x": b]))
        #expect(tree.nodes.map(\.identifier) == ["p", "a", "b", "c"])
        #expect(tree.nodes[0].projections.map(\.children) == [[1, 2, 3]])
        #expect(
            tree.nodes[0].projections[0].shape
                == Shape(type: "Page", fields: ["id", "optional", "list", "table"]))
        #expect(tree.byteCount > 0)
    }

    @Test("An identifier twice with equal content is one node, referred to twice")
    func equalContent() throws {
        let tree = try flatten(Page(id: "p", list: [Leaf("a", "x"), Leaf("a", "x")]))
        #expect(tree.nodes.map(\.identifier) == ["p", "a"])
        #expect(tree.nodes[0].projections[0].children == [1])
    }

    @Test(
        "Of two models with one identifier and different content, the first in pre-order is stored")
    func differentContent() throws {
        let source = DictionaryRecordSource()
        try source.store(Page(id: "p", optional: Leaf("a", "first"), list: [Leaf("a", "second")]))
        let page = try source.read("p", as: Page.self).get()
        #expect(page == Page(id: "p", optional: Leaf("a", "first"), list: [Leaf("a", "first")]))
    }

    @Test("Two projections add their fields to one node, and the first wins a field of both")
    func projections() throws {
        let summary = TreeModel.filled(
            .summary, "node:1", ["badge": .scalar(.integer(9)), "title": .scalar(.string("no"))])
        let inner = node("node:1", 1, ["title": .scalar(.string("yes"))])
        let tree = try flatten(node("node:0", 0, ["next": .child(inner), "view": .child(summary)]))
        #expect(tree.nodes.map(\.identifier) == ["node:0", "node:1"])
        #expect(tree.nodes[1].projections.map(\.type) == ["node", "summary"])
        let source = DictionaryRecordSource()
        try source.store(tree)
        let read = try source.read("node:0", as: .node).get()
        #expect(
            read.values["view"] == .child(summary.setting("title", to: .scalar(.string("yes")))))
        #expect(read.values["next"] == .child(inner))
    }

    @Test("A projection that occurs again is not walked again")
    func walkedOnce() throws {
        let tree = try flatten(
            node("n", 1, ["items": .array([node("m", 2), node("m", 3), node("m", 4)])]))
        #expect(tree.nodes.count == 2)
        #expect(tree.nodes[1].projections.count == 1)
    }

    @Test("A node inside itself is flagged, and its neighbours are not")
    func cycles() throws {
        let tree = try flatten(
            node(
                "a", 1,
                ["items": .array([node("b", 2, ["next": .child(node("a", 3))]), node("c", 4)])]))
        #expect(tree.nodes.map(\.identifier) == ["a", "b", "c"])
        #expect(tree.nodes.map(\.isOnCycle) == [true, false, false])
        let itself = try flatten(node("a", 1, ["next": .child(node("a", 2))]))
        #expect(itself.nodes.map(\.isOnCycle) == [true])
        #expect(itself.nodes[0].projections[0].children == [0])
    }

    @Test("A shared node that does not contain itself is not flagged")
    func sharingIsNoCycle() throws {
        let shared = Leaf("a")
        #expect(
            try flatten(Page(id: "p", optional: shared, list: [shared, shared])).nodes.allSatisfy {
                !$0.isOnCycle
            })
    }

    @Test(
        "A model without identifier is part of its parent, and its nodes are the parent's children")
    func inline() throws {
        let tree = try flatten(
            Shelf(
                "s", frames: [Frame(Leaf("a")), Frame(Leaf("b"))], requiredFrame: Frame(Leaf("a"))))
        #expect(tree.nodes.map(\.identifier) == ["s", "a", "b"])
        #expect(tree.nodes[0].projections[0].children == [1, 2])
    }

    @Test("Composed and decomposed identifiers are flattened to two nodes")
    func normalization() throws {
        let page = Page(id: "p", list: [Leaf("caf\u{E9}", "1"), Leaf("cafe\u{301}", "2")])
        let tree = try flatten(page)
        #expect(tree.nodes.count == 3)
        let source = DictionaryRecordSource()
        try source.store(tree)
        #expect(try source.read("p", as: Page.self).get().list.map(\.text) == ["1", "2"])
        #expect(try source.read("cafe\u{301}", as: Leaf.self).get().text == "2")
    }

    @Test("An empty identifier is refused")
    func emptyIdentifier() {
        #expect(throws: FlattenError.emptyIdentifier(type: "Leaf")) {
            try flatten(Page(id: "p", optional: Leaf("")))
        }
    }

    @Test("A field that is encoded twice is refused")
    func duplicateField() {
        #expect(throws: FlattenError.duplicateField(type: "Twice", field: "a")) {
            try flatten(Twice())
        }
    }

    private struct Twice: NormalizedModel {
        var modelIdentifier: String? { "twice" }
        init() {}
        init(from decoder: inout RecordDecoder) throws {}
        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(1, forKey: "a")
            try encoder.encode(2, forKey: "a")
        }
    }
}
