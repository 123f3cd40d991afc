import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Records and the oracle agree")
struct OracleTests {
    static let readKinds: [TreeKind] = [.node, .summary, .owned, .framed]

    /// Compares the reads of every identifier as every kind of its family.
    func expectAgreement(
        _ source: DictionaryRecordSource, _ oracle: OracleStore, _ context: () -> Comment
    ) {
        #expect(Set(source.index.keys) == Set(oracle.index.keys), context())
        for identifier in oracle.index.keys {
            for kind in Self.readKinds where identifier.string.hasPrefix(kind.family) {
                let expected = oracle.read(identifier.string, as: kind)
                let result = source.read(identifier.string, as: kind)
                if !expected.agrees(with: result) {
                    let read = "\(identifier) as \(kind), \(context())"
                    Issue.record("\(read)\nexpected \(expected)\nfound \(result)")
                }
            }
        }
    }

    @Test("Every tree of up to three models with two names a family reads as the oracle says")
    func conflictingTrees() throws {
        let count = try withEverySmallTree(upTo: 3, identifiers: .conflicting(names: 2)) { tree in
            let source = DictionaryRecordSource()
            var oracle = OracleStore()
            try source.store(tree)
            oracle.write(tree)
            expectAgreement(source, oracle) { "\(tree)" }
        }
        #expect(count == 452)
    }

    @Test("Every tree reads as the oracle says after each node was deleted, lost or written again")
    func deletedNodes() throws {
        try withEverySmallTree(upTo: 3) { tree in
            let identifiers = try DictionaryRecordSource.flatten(tree).nodes.map(\.identifier)
            for identifier in identifiers {
                for change in Change.allCases {
                    let source = DictionaryRecordSource()
                    var oracle = OracleStore()
                    try source.store(tree)
                    oracle.write(tree)
                    try change.apply(identifier, source, &oracle)
                    expectAgreement(source, oracle) { "\(change) \(identifier) in \(tree)" }
                }
            }
        }
    }

    enum Change: CaseIterable {
        case delete, lose, recreate, refill

        func apply(
            _ identifier: String, _ source: DictionaryRecordSource, _ oracle: inout OracleStore
        ) throws {
            if self == .delete || self == .recreate {
                source.delete(identifier)
                oracle.delete(identifier)
            } else {
                source.lose(identifier)
                oracle.lose(identifier)
            }
            guard self == .recreate || self == .refill, identifier.hasPrefix("node") else { return }
            let new = TreeModel.filled(.node, identifier, ["number": .scalar(.integer(99))])
            try source.store(new)
            oracle.write(new)
        }
    }

    @Test(
        "Random histories of writes, merges, deletions and losses read as the oracle says",
        arguments: 0..<40)
    func histories(seed: Int) throws {
        try history(seed: seed, projections: 0)
    }

    @Test(
        "A record inside itself as another projection reads as the oracle says", arguments: 0..<40)
    func historiesWithProjections(seed: Int) throws {
        try history(seed: seed, projections: 1)
    }

    func history(seed: Int, projections: Double) throws {
        var knobs = TreeKnobs()
        knobs.projections = projections
        knobs.size = 12
        knobs.depth = 4
        knobs.conflictingNames = [2, 4, 8][seed % 3]
        var generator = TreeGenerator(SeededGenerator(quietly: UInt64(seed)), knobs: knobs)
        let source = DictionaryRecordSource()
        var oracle = OracleStore()
        for step in 0..<60 {
            let kind = Self.readKinds.randomElement(using: &generator.random) ?? .node
            let identifier = "\(kind.family):\(Int.random(in: 0..<8, using: &generator.random))"
            switch Int.random(in: 0..<10, using: &generator.random) {
            case 0:
                source.delete(identifier)
                oracle.delete(identifier)
            case 1:
                source.lose(identifier)
                oracle.lose(identifier)
            case let number:
                let policy: TreePolicy = number < 5 ? .replace : number < 8 ? .ofTypes : .merge
                let tree = generator.tree(kind)
                try source.store(tree, policy: policy)
                oracle.write(tree, policy: policy)
            }
            expectAgreement(source, oracle) { "seed \(seed), step \(step)" }
        }
    }

    @Test("A hit says that it is cut exactly when a back reference was left out")
    func cuts() throws {
        try withEverySmallTree(upTo: 3, identifiers: .conflicting(names: 1)) { tree in
            let source = DictionaryRecordSource()
            var oracle = OracleStore()
            try source.store(tree)
            oracle.write(tree)
            let treeReader = TreeReader(source: source)
            guard case .hit(_, let isCut) = oracle.read("node:0", as: .node) else { return }
            _ = source.read("node:0", as: TypedTree<TreeTypes.Node>.self, in: treeReader)
            #expect(treeReader.isCut == isCut, "\(tree)")
            #expect(treeReader.onCycle.isEmpty != isCut, "\(tree)")
        }
    }
}
