import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Writes of unchanged records")
struct UnchangedTests {
    private static let configurations = [
        "uncompressed": Configuration.uncompressed, "compressed": Configuration(),
    ]
    private static let repeated = String(repeating: "the same words over and over; ", count: 20)

    private static var tree: Knot {
        Knot(
            "top", text: "short",
            links: [
                Knot("left", text: repeated, links: [Knot("shared", text: "leaf")]),
                Knot(
                    "right", text: "right",
                    links: [Knot("shared", text: "leaf"), Knot("long", text: long)]),
            ])
    }

    /// A text that takes several chunks if it is not compressed.
    private static let long = (0..<3_000).map { "\($0 * 7_919 % 9_973)" }.joined()
    private static let nodes = 5

    private func changes(
        _ cache: NormalizedCache, _ body: () throws -> Void
    ) throws -> (written: Int, unchanged: Int) {
        let before = try cache.statistics()
        try body()
        let after = try cache.statistics()
        return (
            after.recordsWritten - before.recordsWritten,
            after.recordsUnchanged - before.recordsUnchanged
        )
    }

    private func open(_ name: String, _ scratch: Scratch) throws -> NormalizedCache {
        var configuration = try #require(Self.configurations[name])
        configuration.durability = .noSync
        return try scratch.open(configuration)
    }

    @Test(
        "Writing the same again counts every node as unchanged",
        arguments: ["uncompressed", "compressed"])
    func same(name: String) throws {
        let scratch = try Scratch()
        for round in 0..<3 {
            let cache = try open(name, scratch)
            let first = try changes(cache) { try cache.set(Self.tree).wait() }
            #expect(first == (round == 0 ? (Self.nodes, 0) : (0, Self.nodes)))
            #expect(try changes(cache) { try cache.set(Self.tree).wait() } == (0, Self.nodes))
            // A part of the tree on its own.
            #expect(try changes(cache) { try cache.set(Self.tree.links[1]).wait() } == (0, 3))
            try expectClean(cache)
            cache.close()
        }
    }

    /// Changes of the tree, each with the only record that contains the change.
    private static let edits:
        [(name: String, record: String, edit: @Sendable (inout Knot) -> Void)] = [
            ("a field of the top", "top", { $0.text = "sHort" }),
            ("a longer field", "top", { $0.text += "er" }),
            ("a field of a child", "left", { $0.links[0].text.removeLast() }),
            ("a field of a large one", "long", { $0.links[1].links[1].text.removeLast() }),
            (
                "one byte of a large one", "long",
                { $0.links[1].links[1].text = "x" + $0.links[1].links[1].text.dropFirst() }
            ),
            ("one child less", "right", { $0.links[1].links.removeFirst() }),
            ("children in another order", "right", { $0.links[1].links.reverse() }),
            ("a child twice", "left", { $0.links[0].links.append($0.links[0].links[0]) }),
            (
                "another child of the same number of bytes", "left",
                { $0.links[0].links[0] = Knot("right", text: "right", links: $0.links[1].links) }
            ),
        ]

    @Test(
        "A tree with one change rewrites only the record that contains it",
        arguments: ["uncompressed", "compressed"],
        edits.indices)
    func changed(name: String, index: Int) throws {
        let edit = Self.edits[index]
        let scratch = try Scratch()
        let cache = try open(name, scratch)
        defer { cache.close() }
        try cache.set(Self.tree).wait()
        var tree = Self.tree
        edit.edit(&tree)
        let handle = try present(cache.handle(edit.record))
        let content = try cache.record(handle)
        let counts = try changes(cache) { try cache.set(tree).wait() }
        #expect(counts == (1, Self.nodes - 1), "\(edit.name)")
        let after = try #require(try cache.record(handle))
        let before = try #require(content)
        #expect(before.values != after.values || before.children != after.children, "\(edit.name)")
        #expect(
            try changes(cache) { try cache.set(tree).wait() } == (0, Self.nodes), "\(edit.name)")
        try expectClean(cache)
    }

    @Test(
        "The fast path for unchanged records and the comparison of records agree",
        arguments: ["uncompressed", "compressed"])
    func agreement(name: String) throws {
        let scratch = try Scratch()
        let cache = try open(name, scratch)
        defer { cache.close() }
        try cache.set(Self.tree).wait()
        for (_, record, edit) in Self.edits {
            var tree = Self.tree
            edit(&tree)
            for (written, expected) in [(tree, 1), (tree, 0), (Self.tree, 1), (Self.tree, 0)] {
                // A merge has no fast path: it compares the records.
                let merging = try changes(cache) { try cache.set(written, policy: .merge).wait() }
                #expect(merging.written == expected, "\(record)")
                let replacing = try changes(cache) { try cache.set(written).wait() }
                #expect(replacing == (0, Self.nodes), "\(record)")
            }
        }
    }
}
