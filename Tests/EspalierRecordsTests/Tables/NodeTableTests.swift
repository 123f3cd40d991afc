import Testing

@testable import EspalierRecords

@Suite("A tree's nodes are found by the bytes of their identifiers")
struct NodeTableTests {
    /// A table and the drafts to which it refers.
    private struct Nodes {
        var table = NodeTable()
        var drafts: [FlattenedTree.Entry] = []

        func node(of identifier: String) -> Int? {
            var table = table
            return table.place(of: identifier, in: drafts).node
        }

        /// Returns the node of `identifier`, and whether it is new.
        mutating func add(_ identifier: String) -> (node: Int, isNew: Bool) {
            let place = table.place(of: identifier, in: drafts)
            if let node = place.node { return (node, false) }
            table.insert(drafts.count, at: place)
            drafts.append(
                FlattenedTree.Entry(identifier: identifier, first: FlattenedTree.Part(type: 0)))
            return (drafts.count - 1, true)
        }
    }

    @Test(
        "Each identifier is new once, and found from then on as the table grows",
        arguments: [1, 31, 32, 33, 127, 128, 5_000])
    func growth(count: Int) {
        var nodes = Nodes()
        for number in 0..<count {
            #expect(nodes.node(of: "node:\(number)") == nil)
            #expect(nodes.add("node:\(number)") == (number, true))
            #expect(nodes.add("node:\(number)") == (number, false))
            #expect(nodes.add("node:\(number / 2)") == (number / 2, false))
        }
        for number in 0..<count { #expect(nodes.add("node:\(number)") == (number, false)) }
        #expect(nodes.node(of: "node:\(count)") == nil)
    }

    @Test("Composed and decomposed identifiers are two nodes in the table")
    func canonicalEquivalence() {
        var nodes = Nodes()
        for (index, text) in ["\u{E9}", "e\u{301}", "", "\0", "e", "\u{E9}\0"].enumerated() {
            #expect(nodes.add(text) == (index, true))
        }
        #expect(nodes.node(of: "e\u{301}") == 1)
        #expect(nodes.node(of: "\u{E9}") == 0)
        #expect(nodes.node(of: "") == 2)
    }

    @Test(
        "Identifiers whose stored half of the hash is the same are told apart",
        .timeLimit(.minutes(1)))
    func collisions() throws {
        // The colliding pairs differ by process: of 300,000 identifiers about ten pairs collide.
        var byHash: [UInt32: String] = [:]
        var pairs: [(String, String)] = []
        for number in 0..<300_000 {
            let text = "n\(number)"
            let hash = UInt32(truncatingIfNeeded: text.bytesHash >> 32)
            if let other = byHash.updateValue(text, forKey: hash) { pairs.append((other, text)) }
        }
        try #require(!pairs.isEmpty)
        var nodes = Nodes()
        for (first, second) in pairs {
            let one = nodes.add(first)
            #expect(one.isNew)
            #expect(nodes.node(of: second) == nil)
            let two = nodes.add(second)
            #expect(two.isNew)
            #expect(nodes.add(first) == (one.node, false))
            #expect(nodes.add(second) == (two.node, false))
        }
        for number in 0..<300 { _ = nodes.add("more \(number)") }
        for (index, draft) in nodes.drafts.enumerated() {
            #expect(nodes.add(draft.identifier) == (index, false))
        }
    }

    @Test("A flattener that is used again knows nothing of the last tree")
    func reuse() throws {
        let flattener = Flattener()
        for _ in 0..<3 {
            for number in 0..<100 {
                let index = try flattener.node(identifier: "n\(number)", projection: "T") { _ in }
                #expect(index == number)
                try #expect(
                    flattener.node(identifier: "n\(number)", projection: "T") { _ in } == index)
            }
            #expect(flattener.finish().nodes.map(\.identifier) == (0..<100).map { "n\($0)" })
        }
    }
}
