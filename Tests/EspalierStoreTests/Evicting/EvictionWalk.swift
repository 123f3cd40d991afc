import EspalierRecords
import EspalierTestSupport

@testable import EspalierStore

/// Does the same random things to a cache that is always full and to the oracle, and compares every
/// eviction.
final class EvictionWalk {
    private(set) var oracle: EagerOracle
    private let rig: CommitterRig
    private var random: SeededGenerator
    private var budget = ByteCount.mebibytes(1)
    private(set) var budgetChanges = 0
    private(set) var reads = 0
    private(set) var hits = 0
    private let names = 700

    init(seed: UInt64, flaw: EagerOracle.Flaw? = nil) throws {
        rig = try CommitterRig(
            .forTests(budget: .mebibytes(1), compression: seed % 2 == 0 ? .standard : .none))
        oracle = EagerOracle(flaw: flaw)
        random = SeededGenerator(seed: seed)
    }

    func run(steps: Int) throws {
        for step in 1...steps where oracle.differences.isEmpty {
            try act()
            if step % 1_000 == 0 { try check() }
        }
        try check()
    }

    private func check() throws {
        let report = try rig.verify()
        if !report.isClean { oracle.note("verify: \(report.problems.prefix(5))") }
        if rig.directoryBytes > budget.bytes {
            oracle.note("\(rig.directoryBytes) bytes in the directory")
        }
    }

    // MARK: Operations

    private func act() throws {
        switch Int.random(in: 0..<1_000, using: &random) {
        case ..<450: try set()
        case ..<500: try setKey()
        case ..<540: try setCollection()
        case ..<750: try read()
        case ..<780: _ = try rig.read(.node, randomName(), touching: false)
        case ..<840: try delete(EagerOracle.node(randomName()))
        case ..<860:
            try delete(
                .init(nameSpace: .key, identifier: "k\(Int.random(in: 0..<20, using: &random))"))
        case ..<880:
            try delete(
                .init(
                    nameSpace: .collection, identifier: "c\(Int.random(in: 0..<8, using: &random))")
            )
        case ..<905: try pin()
        case ..<945: try evict()
        case ..<995: try settle { while self.rig.committer.maintain(isIdle: true) {} }
        case ..<997: try setBudget()
        default: try settle { try self.rig.reopen() }
        }
    }

    private func randomName() -> String { "n:\(Int.random(in: 0..<names, using: &random))" }

    /// Runs `body`, and tells the oracle of the evictions before it and after it. `apply` is what
    /// it does besides.
    private func settle(_ body: () throws -> Void, apply: () -> Void = {}) throws {
        try body()
        var changes = rig.takeChanges()[...]
        // Room is made before a write is tried again.
        while let first = changes.first, first.writeCount == 0 {
            for victim in first.victims { oracle.evict(victim) }
            changes.removeFirst()
        }
        if let own = changes.popFirst() {
            let explicit = own.victims.prefix { $0.reason == .explicit }
            apply()
            for victim in explicit + own.victims.dropFirst(explicit.count) { oracle.evict(victim) }
        } else {
            apply()
        }
        for victim in changes.flatMap(\.victims) { oracle.evict(victim) }
    }

    private func set() throws {
        let tree = makeTree()
        try settle({ try rig.set(tree) }, apply: { oracle.write([tree]) })
    }

    private func setKey() throws {
        let tree = makeTree(depth: 1)
        let name = EagerOracle.Name(
            nameSpace: .key, identifier: "k\(Int.random(in: 0..<20, using: &random))")
        try settle(
            { try rig.set(tree, key: name.identifier) },
            apply: { oracle.write([tree], entry: name) })
    }

    private func setCollection() throws {
        let count = Int.random(in: 0..<10, using: &random)
        let trees = Dictionary((0..<count).map { _ in makeTree(depth: 0) }.map { ($0.id, $0) }) {
            $1
        }.values.sorted {
            $0.id < $1.id
        }
        let name = EagerOracle.Name(
            nameSpace: .collection, identifier: "c\(Int.random(in: 0..<8, using: &random))")
        try settle(
            { try rig.set(trees, collection: name.identifier) },
            apply: { oracle.write(trees, entry: name) })
    }

    private func read() throws {
        let name: EagerOracle.Name
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            name = .init(nameSpace: .key, identifier: "k\(Int.random(in: 0..<20, using: &random))")
        case 1:
            name = .init(
                nameSpace: .collection, identifier: "c\(Int.random(in: 0..<8, using: &random))")
        default: name = EagerOracle.node(randomName())
        }
        reads += 1
        let isHit = try rig.read(name.nameSpace, name.identifier)
        if isHit != oracle.isReadable(name) {
            oracle.note("\(name) is \(isHit ? "there" : "missing")")
        }
        guard isHit else { return }
        hits += 1
        oracle.read(name)
    }

    private func delete(_ name: EagerOracle.Name) throws {
        let entry = WriteOperation.Entry(nameSpace: name.nameSpace, identifier: name.identifier)
        try settle({ try rig.commit(.delete([entry])) }, apply: { oracle.delete(name) })
    }

    private func pin() throws {
        let name = EagerOracle.node(randomName())
        let entry = WriteOperation.Entry(nameSpace: .node, identifier: name.identifier)
        if let pinned = oracle.pins.randomElement(using: &random),
            oracle.pins.count > 2 || Bool.random(using: &random)
        {
            let name = oracle.nodes[pinned]!.name  // pins are of nodes that are there
            let entry = WriteOperation.Entry(nameSpace: .node, identifier: name.identifier)
            try settle({ try rig.commit(.unpin(entry)) }, apply: { oracle.unpin(name) })
        } else if let node = oracle.identities[name], oracle.reach([node]).count < 40 {
            try settle({ try rig.commit(.pin(entry)) }, apply: { oracle.pin(name) })
        }
    }

    private func evict() throws {
        let name = EagerOracle.node(randomName())
        let isFree = oracle.isFree(name)
        do {
            try settle {
                try rig.commit(.evict([.init(nameSpace: .node, identifier: name.identifier)]))
            }
            if !isFree { oracle.note("\(name) was evicted, and is referred to") }
            if oracle.contains(name) { oracle.note("\(name) was not evicted") }
        } catch let error as CacheError where error.code == .referenced {
            if isFree { oracle.note("\(name) can't be evicted, and is free") }
            try settle {}
        }
    }

    private func setBudget() throws {
        budget = budget == .mebibytes(1) ? ByteCount(1_600_000) : .mebibytes(1)
        budgetChanges += 1
        try settle { try rig.commit(.setBudget(budget, mayExceed: Bool.random(using: &random))) }
    }

    // MARK: Trees

    private func makeTree(depth: Int = 3) -> Branch {
        var full: Set<String> = []
        return makeTree(randomName(), depth: depth, path: [], full: &full)
    }

    private func makeTree(_ name: String, depth: Int, path: [String], full: inout Set<String>)
        -> Branch
    {
        full.insert(name)
        var children: [Branch] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) where depth > 0 {
            let child = Int.random(in: 0..<10, using: &random)
            let other = randomName()
            if child == 0, let ancestor = (path + [name]).randomElement(using: &random) {
                children.append(Branch(stub: ancestor))
            } else if child < 4 || full.contains(other) {
                children.append(Branch(stub: other))
            } else {
                children.append(makeTree(other, depth: depth - 1, path: path + [name], full: &full))
            }
        }
        let size =
            Int.random(in: 0..<8, using: &random) == 0
            ? 5_000 : Int.random(in: 50..<1_500, using: &random)
        // Text that does not compress: so many bytes are so many bytes.
        var text = ""
        while text.utf8.count < size {
            text += String(UInt64.random(in: .min ... .max, using: &random), radix: 36)
        }
        return Branch(name, text, children)
    }
}
