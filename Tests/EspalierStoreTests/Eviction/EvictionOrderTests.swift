import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The order of eviction")
struct EvictionOrderTests {
    @Test(
        "Eviction goes in the same order as if every access had touched every record it reached",
        arguments: 1...4 as ClosedRange<UInt64>)
    func order(seed: UInt64) throws {
        let walk = try EvictionWalk(seed: seed)
        try walk.run(steps: 15_000)
        #expect(walk.oracle.differences == [])
        // With compression the cache holds most of the 700 nodes, so it evicts half as many.
        #expect(walk.oracle.evicted > (seed % 2 == 0 ? 2_000 : 4_500))
        #expect(walk.oracle.evictedCycles > (seed % 2 == 0 ? 15 : 40))
        #expect(walk.hits > 330)
        #expect(walk.budgetChanges > 6)
        #expect(walk.refusals == 0)
    }

    @Test(
        "The oracle of the eviction order finds a wrong rule", arguments: EagerOracle.Flaw.allCases)
    func canary(flaw: EagerOracle.Flaw) throws {
        let walk = try EvictionWalk(seed: 1, flaw: flaw)
        try walk.run(steps: 12_500)
        #expect(walk.oracle.differences != [])
    }
}

/// Applies the same random operations to a full cache and to the oracle, and compares every
/// eviction.
final class EvictionWalk {
    private(set) var oracle: EagerOracle
    private let rig: CommitterRig
    private var random: SeededGenerator
    private var budget = ByteCount.mebibytes(1)
    private(set) var budgetChanges = 0
    private(set) var reads = 0
    private(set) var hits = 0
    /// The writes that the cache has refused for lack of room.
    private(set) var refusals = 0
    private let nameCount = 700

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
        if !report.isClean { oracle.report("verify: \(report.problems.prefix(5))") }
        if rig.directoryBytes > budget.bytes {
            oracle.report("\(rig.directoryBytes) bytes in the directory")
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
                .init(.key, "k\(Int.random(in: 0..<20, using: &random))"))
        case ..<880:
            try delete(
                .init(.collection, "c\(Int.random(in: 0..<8, using: &random))")
            )
        case ..<905: try pin()
        case ..<945: try evict()
        case ..<995: try compareEvictions { while self.rig.committer.maintain(isIdle: true) {} }
        case ..<997: try setBudget()
        default: try compareEvictions { try self.rig.reopen() }
        }
    }

    private func randomName() -> String { "n:\(Int.random(in: 0..<nameCount, using: &random))" }

    /// Runs `body` on the cache. Applies its evictions to the oracle, and `apply`, which is the
    /// operation itself, between those before and those after it.
    private func compareEvictions(of body: () throws -> Void, apply: () -> Void = {}) throws {
        try body()
        var changes = rig.takeChanges()[...]
        // Commits without a write have made room for it.
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

    /// Does the same with a write that the cache may refuse for lack of room. A refused write
    /// changes nothing; what was evicted to make room for it is gone.
    private func compareWrite(
        needing names: [RecordName], of body: () throws -> Void, apply: () -> Void
    ) throws {
        oracle.need(names)
        defer { oracle.need([]) }
        do {
            try compareEvictions(of: body) {
                oracle.need([])
                apply()
            }
        } catch let error as CacheError where [.pinnedFull, .pagesHeld].contains(error.code) {
            refusals += 1
            try compareEvictions {}
        }
    }

    private func names(of trees: [Branch]) -> [RecordName] {
        trees.flatMap(\.all).map { EagerOracle.node($0.id) }
    }

    private func set() throws {
        let tree = makeTree()
        try compareWrite(
            needing: names(of: [tree]), of: { try rig.set(tree) },
            apply: { oracle.write([tree]) })
    }

    private func setKey() throws {
        let tree = makeTree(depth: 1)
        let name = RecordName(.key, "k\(Int.random(in: 0..<20, using: &random))")
        try compareWrite(
            needing: names(of: [tree]), of: { try rig.set(tree, key: name.identifier.string) },
            apply: { oracle.write([tree], entry: name) })
    }

    private func setCollection() throws {
        let count = Int.random(in: 0..<10, using: &random)
        let trees = Dictionary((0..<count).map { _ in makeTree(depth: 0) }.map { ($0.id, $0) }) {
            $1
        }.values.sorted {
            $0.id < $1.id
        }
        let name = RecordName(.collection, "c\(Int.random(in: 0..<8, using: &random))")
        try compareWrite(
            needing: names(of: trees),
            of: { try rig.set(trees, collection: name.identifier.string) },
            apply: { oracle.write(trees, entry: name) })
    }

    private func read() throws {
        let name: RecordName
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            name = .init(.key, "k\(Int.random(in: 0..<20, using: &random))")
        case 1:
            name = .init(.collection, "c\(Int.random(in: 0..<8, using: &random))")
        default: name = EagerOracle.node(randomName())
        }
        reads += 1
        let isHit = try rig.read(name.nameSpace, name.identifier.string)
        if isHit != oracle.isReadable(name) {
            oracle.report("\(name) is \(isHit ? "there" : "missing")")
        }
        guard isHit else { return }
        hits += 1
        oracle.read(name)
    }

    private func delete(_ name: RecordName) throws {
        try compareEvictions(
            of: { try rig.commit(.delete([name])) }, apply: { oracle.delete(name) })
    }

    private func pin() throws {
        let name = EagerOracle.node(randomName())
        if let pinned = oracle.pins.randomElement(using: &random),
            oracle.pins.count > 2 || Bool.random(using: &random)
        {
            let name = oracle.nodes[pinned]!.name  // pins are of nodes that are there
            try compareEvictions(
                of: { try rig.commit(.unpin(name)) }, apply: { oracle.unpin(name) })
        } else if let node = oracle.identities[name], oracle.reach([node]).count < 40 {
            try compareWrite(
                needing: [name], of: { try rig.commit(.pin(name)) }, apply: { oracle.pin(name) })
        }
    }

    private func evict() throws {
        let name = EagerOracle.node(randomName())
        let isFree = oracle.isFree(name)
        do {
            try compareEvictions {
                try rig.commit(.evict([name]))
            }
            if !isFree { oracle.report("\(name) was evicted, and is referred to") }
            if oracle.contains(name) { oracle.report("\(name) was not evicted") }
        } catch let error as CacheError where error.code == .referenced {
            if isFree { oracle.report("\(name) is free, and cannot be evicted") }
            try compareEvictions {}
        }
    }

    private func setBudget() throws {
        budget = budget == .mebibytes(1) ? ByteCount(1_600_000) : .mebibytes(1)
        budgetChanges += 1
        try compareEvictions {
            try rig.commit(.setBudget(budget, mayExceed: Bool.random(using: &random)))
        }
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
        // Text that does not compress, so that its size is the size on disk.
        var text = ""
        while text.utf8.count < size {
            text += String(UInt64.random(in: .min ... .max, using: &random), radix: 36)
        }
        return Branch(name, text, children)
    }
}
