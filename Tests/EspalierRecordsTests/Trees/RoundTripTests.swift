import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Round trips of trees")
struct RoundTripTests {
    func expectRoundTrip(_ tree: TreeModel, _ comment: @autoclosure () -> Comment? = nil) throws {
        let source = DictionaryRecordSource()
        try source.store(tree)
        let read = source.read(try #require(tree.identifier), as: tree.kind)
        if read != .success(tree) { Issue.record(comment() ?? "\(tree)\nread as \(read)") }
    }

    @Test("Every tree of up to four models is read as it was written", arguments: [1, 2, 3, 4])
    func smallTrees(nodes: Int) throws {
        let count = try withEverySmallTree(upTo: nodes) { try expectRoundTrip($0) }
        #expect(count == [2, 17, 235, 4_327][nodes - 1])
    }

    @Test("Each of 2,000 random trees is read as it was written")
    func randomTrees() throws {
        var generator = TreeGenerator(SeededGenerator(seed: 1))
        for number in 0..<2_000 {
            generator.knobs = .varied(number)
            let tree = generator.tree(TreeKind.allCases.filter { !$0.isInline }[number % 4])
            try expectRoundTrip(tree, "tree \(number), \(generator.random)")
        }
    }

    @Test("Many trees in one store are each read as they were written")
    func manyTrees() throws {
        var generator = TreeGenerator(SeededGenerator(seed: 2))
        let trees = (0..<300).map { _ in generator.tree() }
        let source = DictionaryRecordSource()
        for tree in trees { try source.store(tree) }
        for tree in trees {
            #expect(source.read(try #require(tree.identifier), as: .node) == .success(tree))
        }
    }

    @Test("Writing a stored tree again changes no byte")
    func idempotent() throws {
        var generator = TreeGenerator(SeededGenerator(seed: 3))
        for policy in TreePolicy.allCases {
            let source = DictionaryRecordSource()
            for _ in 0..<100 {
                let tree = generator.tree()
                try source.store(tree, policy: policy)
                let records = source.records
                try source.store(tree, policy: policy)
                #expect(source.records == records)
            }
        }
    }

    @Test("The generators make shared, inline, deep and wide trees, and projections")
    func variety() {
        var generator = TreeGenerator(SeededGenerator(seed: 4))
        let trees = (0..<200).map { number in
            generator.knobs = .varied(number)
            return generator.tree()
        }
        func all(_ tree: TreeModel) -> [TreeModel] { [tree] + tree.children.flatMap(all) }
        let models = trees.map(all)
        #expect(
            models.contains {
                Set($0.compactMap(\.identifier)).count < $0.compactMap(\.identifier).count
            })
        #expect(models.joined().contains { $0.identifier == nil && $0.kind == .node })
        #expect(trees.contains { $0.depth > 6 })
        #expect(trees.contains { $0.size > 30 })
        #expect(
            models.contains { models in
                let nodes = Set(models.filter { $0.kind == .node }.compactMap(\.identifier))
                return models.contains {
                    $0.kind == .summary && nodes.contains($0.identifier ?? "")
                }
            })
        #expect(Set(models.joined().map(\.kind)) == Set(TreeKind.allCases))
    }

    @Test("The comparison of trees fails for a tree with one scalar changed")
    func canary() throws {
        try withEverySmallTree(upTo: 2) { tree in
            let source = DictionaryRecordSource()
            try source.store(tree)
            guard let field = tree.kind.fields.first(where: { $0.content == .scalar }) else {
                return
            }
            let other = tree.setting(field.name, to: .scalar(.string("changed")))
            #expect(source.read(tree.identifier ?? "", as: tree.kind) != .success(other))
        }
    }
}

extension TreeKnobs {
    /// Returns a different form of trees for every number.
    static func varied(_ number: Int) -> TreeKnobs {
        var knobs = TreeKnobs()
        knobs.size = [5, 20, 60, 300][number % 4]
        knobs.depth = [2, 5, 12][number % 3]
        knobs.width = [1, 3, 10][number / 3 % 3]
        knobs.sharing = [0, 0.3, 0.8][number / 9 % 3]
        knobs.emptiness = [0.3, 0.6, 0.8][number / 27 % 3]
        knobs.inlineShare = [0, 0.2, 0.6][number / 81 % 3]
        return knobs
    }
}
