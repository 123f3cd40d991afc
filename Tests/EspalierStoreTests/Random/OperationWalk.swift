import EspalierModels
import EspalierRecords
import EspalierStore
import EspalierTestSupport
import Testing

/// Applies the same random operations to a cache and to the oracle, and records the differences.
final class OperationWalk {
    /// A rule that the oracle breaks on purpose.
    enum Flaw: CaseIterable {
        /// A deleted node that is created again comes back in its old parents.
        case forgetsTombstones
        case ignoresMergePolicy
        case dropsDuplicates
    }

    enum Operation: CaseIterable {
        case set, setProjection, setRequired, merge, delete, recreate, setKey, deleteKey,
            setCollection, editCollection,
            deleteCollection, rewrite
    }

    private(set) var differences: [String] = []
    private(set) var counts: [Operation: Int] = [:]
    private(set) var hits = 0
    private(set) var cuts = 0
    private(set) var misses: [String: Int] = [:]

    private static let batch = 40
    private let scratch: Scratch
    private let flaw: Flaw?
    private var cache: NormalizedCache
    private var oracle = OracleStore()
    private var generator: TreeGenerator
    private var random: SeededGenerator
    /// The tickets of the last writes, with the codes that they must fail with.
    private var tickets: [(ticket: WriteTicket, code: CacheError.Code?)] = []
    private var recent: [TreeModel] = []

    private let configuration: Configuration

    init(seed: UInt64, flaw: Flaw? = nil, _ configuration: Configuration = .forTests) throws {
        self.flaw = flaw
        self.configuration = configuration
        scratch = try Scratch()
        cache = try scratch.open(configuration)
        random = SeededGenerator(seed: seed)
        var knobs = TreeKnobs()
        knobs.size = 7
        knobs.depth = 3
        knobs.width = 2
        knobs.conflictingNames = 14
        generator = TreeGenerator(SeededGenerator(quietly: seed), knobs: knobs)
    }

    /// Runs at least `steps` steps, and then `body` with the cache before it is closed.
    func run(steps: Int, _ body: (NormalizedCache) throws -> Void = { _ in }) throws {
        var step = 0
        while step < steps, differences.count < 5 {
            for _ in 0..<Self.batch { act() }
            for (ticket, expected) in tickets {
                let code = EspalierStoreTests.code(ticket)
                if code != expected {
                    differences.append(
                        "\(String(describing: code)), not \(String(describing: expected))")
                }
            }
            tickets = []
            for _ in 0..<Self.batch { compare() }
            step += 2 * Self.batch
            if step % (Self.batch * 2 * 25) == 0 { try check() }
            if step % (Self.batch * 2 * 60) == 0 { try reopen() }
        }
        try check()
        try body(cache)
        cache.close()
    }

    private func check() throws {
        let report = try cache.verify()
        if !report.isClean { differences.append("verify: \(report.problems)") }
    }

    private func reopen() throws {
        cache.close()
        cache = try scratch.open(configuration)
    }

    // MARK: Operations

    private func act() {
        let operation = Operation.allCases.randomElement(using: &random) ?? .set
        counts[operation, default: 0] += 1
        switch operation {
        case .set: write(generator.tree(.node), nil)
        case .setProjection: write(generator.tree(.summary), nil)
        case .setRequired:
            write(generator.tree(Bool.random(using: &random) ? .owned : .framed), nil)
        case .merge: write(generator.tree(Bool.random(using: &random) ? .node : .summary), .merge)
        case .rewrite: if let tree = recent.randomElement(using: &random) { write(tree, .replace) }
        case .delete: delete(identifier(of: .node))
        case .recreate:
            let name = identifier(of: .node)
            delete(name)
            write(TreeModel.filled(.node, name, ["number": .scalar(.integer(1))]), .replace)
        case .setKey: setKey()
        case .deleteKey:
            let key = key()
            expect(cache.deleteModel(forKey: key))
            oracle.deleteKey(key)
        case .setCollection: setCollection()
        case .editCollection: editCollection()
        case .deleteCollection:
            guard random.happens(0.2) else { return }
            let key = key()
            expect(cache.deleteCollection(forKey: key))
            oracle.deleteCollection(key)
        }
    }

    private func identifier(of kind: TreeKind) -> String {
        "\(kind.family):\(Int.random(in: 0..<14, using: &random))"
    }

    private func key() -> String { "key:\(Int.random(in: 0..<5, using: &random))" }

    private func write(_ tree: TreeModel, _ policy: WritePolicy?) {
        recent = [tree] + recent.prefix(9)
        expect(cache.set(tree, policy: policy))
        oracle.write(
            tree, policy: flaw == .ignoresMergePolicy ? .replace : TreePolicy(policy))
        // A node replaces the entry of a key with its name.
        if let identifier = tree.identifier { oracle.deleteKey(identifier) }
    }

    private func delete(_ identifier: String) {
        expect(cache.delete(identifier))
        // A node that is emptied instead of deleted keeps its handle, and so its parents.
        if flaw == .forgetsTombstones {
            oracle.write(TreeModel.filled(.node, identifier, ["number": .scalar(.integer(0))]))
        } else {
            oracle.delete(identifier)
        }
    }

    private func setKey() {
        let tree = generator.tree(Bool.random(using: &random) ? .node : .summary)
        let key = random.happens(0.2) ? tree.identifier ?? "x" : key()
        let isInline = random.happens(0.3)
        let model =
            isInline ? TreeModel(kind: tree.kind, identifier: nil, values: tree.values) : tree
        expect(cache.setModel(model, forKey: key))
        oracle.write(model, forKey: key)
        if model.identifier == key { oracle.deleteKey(key) }
    }

    private func expect(_ ticket: WriteTicket, _ code: CacheError.Code? = nil) {
        tickets.append((ticket, code))
    }

    // MARK: Collections

    private func trees(_ count: Int) -> [TreeModel] {
        (0..<count).map { _ in
            let tree = generator.tree(.node)
            return random.happens(0.3)
                ? TreeModel(kind: .node, identifier: nil, values: tree.values) : tree
        }
    }

    private func setCollection() {
        let key = key()
        var trees = trees(Int.random(in: 0...4, using: &random))
        if let first = trees.first { trees.append(first) }
        expect(cache.setCollection(trees, forKey: key))
        oracle.writeCollection(
            flaw == .dropsDuplicates ? Array(trees.dropLast()) : trees, forKey: key)
    }

    private func editCollection() {
        let key = key()
        let trees = trees(Int.random(in: 1...3, using: &random))
        let count = oracle.countOfCollection(key)
        let kind = Int.random(in: 0..<5, using: &random)
        if kind == 0 {
            expect(cache.append(trees, toCollection: key))
            return oracle.editCollection(key, with: trees) { $0 += $1 }
        }
        guard let count else { return expect(cache.remove(at: 0, fromCollection: key), .notFound) }
        // The index may be one past the end.
        let index = Int.random(in: 0...count, using: &random)
        let other = Int.random(in: 0...count, using: &random)
        switch kind {
        case 1:
            expect(cache.insert(trees, at: index, inCollection: key))
            oracle.editCollection(key, with: trees) { $0.insert(contentsOf: $1, at: index) }
        case 2 where index < count:
            expect(cache.update(trees[0], at: index, inCollection: key))
            oracle.editCollection(key, with: [trees[0]]) { $0[index] = $1[0] }
        case 3:
            let range = min(index, other)..<max(index, other)
            expect(cache.remove(range, fromCollection: key))
            oracle.editCollection(key) { elements, _ in elements.removeSubrange(range) }
        case 4 where index < count && other < count:
            expect(cache.move(from: index, to: other, inCollection: key))
            oracle.editCollection(key) { elements, _ in
                elements.insert(elements.remove(at: index), at: other)
            }
        default:
            expect(cache.update(trees[0], at: count, inCollection: key), .outOfRange)
        }
    }

    // MARK: Comparison

    private func compare() {
        switch Int.random(in: 0..<8, using: &random) {
        case 0...1: compareNode(TreeTypes.Node.self)
        case 2: compareNode(TreeTypes.Summary.self)
        case 3: compareNode(TreeTypes.Owned.self)
        case 4: compareNode(TreeTypes.Framed.self)
        case 5: compareKey(random.happens(0.8) ? key() : identifier(of: .node), TreeTypes.Node.self)
        case 6: compareKey(key(), TreeTypes.Summary.self)
        default:
            let key = key()
            let outcome = cache.collectionOutcome(
                of: TypedTree<TreeTypes.Node>.self, forKey: key, consistency: .snapshot)
            compare(outcome, oracle.readCollection(key, as: .node), key) { $0.map(\.tree) }
        }
    }

    private func compareNode<Type: TreeType>(_ type: Type.Type) {
        let identifier = identifier(of: Type.kind)
        let outcome = cache.readOutcome(TypedTree<Type>.self, identifier, consistency: .snapshot)
        compare(outcome, oracle.read(identifier, as: Type.kind), identifier, \.tree)
    }

    private func compareKey<Type: TreeType>(_ key: String, _ type: Type.Type) {
        let outcome = cache.modelOutcome(TypedTree<Type>.self, forKey: key, consistency: .snapshot)
        compare(outcome, oracle.read(key: key, as: Type.kind), key, \.tree)
    }

    private func compare<Model, Value>(
        _ outcome: ReadOutcome<Model>, _ expected: OracleOutcome<Value>, _ name: String,
        _ value: (Model) -> Value
    ) {
        let result: Result<Value, MissReason>
        var isCut = false
        switch outcome {
        case .hit(let hit):
            hits += 1
            isCut = hit.isCut
            result = .success(value(hit.value))
        case .miss(let reason):
            misses[reason.name, default: 0] += 1
            result = .failure(reason)
        }
        if isCut { cuts += 1 }
        guard expected.agrees(with: result), expected.isCut == isCut else {
            let what = expected.agrees(with: result) ? "cut is \(isCut)" : "\(result)"
            return differences.append("\(name): \(what); expected \(expected)")
        }
    }
}

extension OracleOutcome {
    fileprivate var isCut: Bool {
        if case .hit(_, let isCut) = self { isCut } else { false }
    }
}
