import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Cuts of cycles")
struct CutTests {
    /// Stores a -> {b, c}, b -> c, c -> b: below a, b contains c and c contains b, and each is cut
    /// where it repeats.
    func source() throws -> DictionaryRecordSource {
        let source = DictionaryRecordSource()
        try source.store(Link("b", Link("c")))
        try source.store(Link("c", Link("b", Link("c"))))
        try source.store(
            Link("a", Link("b", Link("c", Link("b"))), Link("c", Link("b", Link("c")))))
        return source
    }

    func show(_ link: Link?) -> String {
        guard let link else { return "-" }
        return link.left == nil && link.right == nil
            ? link.id : "\(link.id)(\(show(link.left)) \(show(link.right)))"
    }

    @Test("A cycle reads the same in either order of the fields")
    func eitherOrder() throws {
        let source = try source()
        let inOrder = try source.read("a", as: Link.self).get()
        let reversed = try source.read("a", as: ReversedLink.self).get().link
        #expect(show(inOrder) == "a(b(c -) c(b -))")
        #expect(show(reversed) == show(inOrder))
    }

    @Test("A subtree with a cut at its root is never used again, however often it is met")
    func neverKept() throws {
        let source = DictionaryRecordSource()
        let back = Link("top")
        try source.store(Link("top", Link("x", back), Link("y", Link("x"), Link("z", Link("x")))))
        let top = try source.read("top", as: Link.self).get()
        #expect(show(top) == "top(x y(x z(x -)))")
        #expect(show(try source.read("x", as: Link.self).get()) == "x(top(- y(- z)) -)")
        #expect(show(try source.read("z", as: Link.self).get()) == "z(x(top(- y) -) -)")
    }

    @Test("A ring of records is cut where it comes round, wherever it is entered")
    func ring() throws {
        let source = DictionaryRecordSource()
        try source.store(Link("a", Link("b", Link("c", Link("a")))))
        #expect(show(try source.read("a", as: Link.self).get()) == "a(b(c -) -)")
        #expect(show(try source.read("b", as: Link.self).get()) == "b(c(a -) -)")
        #expect(show(try source.read("c", as: Link.self).get()) == "c(a(b -) -)")
    }

    @Test("A shared node without a cut is decoded twice at most")
    func kept() throws {
        let source = DictionaryRecordSource()
        try source.store(Page(id: "p", list: [Leaf](repeating: Leaf("a"), count: 100)))
        _ = try source.read("p", as: Page.self).get()
        #expect(source.lookups == 3)
    }

    @Test("A record on the path is cut also in a subtree that is used again, as whatever type")
    func projections() throws {
        func node(_ id: String, _ values: [String: TreeValue]) -> TreeModel {
            .filled(.node, id, values.merging(["number": .scalar(.integer(1))]) { $1 })
        }
        let summary = TreeModel.filled(.summary, "node:p", ["badge": .scalar(.integer(2))])
        let x = node("node:x", ["view": .child(summary)])
        let cutX = node("node:x", [:])
        let source = DictionaryRecordSource()
        try source.store(
            node("node:top", ["items": .array([x, x, node("node:p", ["items": .array([x])])])]))
        let expected = node(
            "node:top", ["items": .array([x, x, node("node:p", ["items": .array([cutX])])])])
        #expect(source.read("node:top", as: .node) == .success(expected))
    }

    /// A link that asks for its right side first.
    struct ReversedLink: NormalizedModel {
        let link: Link

        init(from decoder: inout RecordDecoder) throws {
            let right = try decoder.decode(Self?.self, forKey: "right")
            let left = try decoder.decode(Self?.self, forKey: "left")
            link = Link(try decoder.decode(forKey: "id"), left?.link, right?.link)
        }

        func encode(to encoder: inout RecordEncoder) throws {}
    }
}
