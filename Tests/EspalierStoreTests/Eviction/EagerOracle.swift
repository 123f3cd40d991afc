import EspalierRecords

@testable import EspalierStore

/// The definition of recency by brute force: every access touches every record that can be reached,
/// one by one.
struct EagerOracle {
    /// A deviation from the rule, which a comparison has to find.
    enum Flaw: CaseIterable {
        /// The eviction of a record counts as an access of its children.
        case stampsChildrenNow
        /// A child that a write drops keeps the time of its old parent.
        case handsStampOnByWrites
        /// A read touches only the record it began at.
        case touchesEntryOnly
    }

    struct Node {
        let name: RecordName
        var children: [Int] = []
        var stamp = 0
    }

    let flaw: Flaw?
    private(set) var nodes: [Int: Node] = [:]
    private(set) var identities: [RecordName: Int] = [:]
    private(set) var pins: Set<Int> = []
    /// What a write under way needs as it is stored, with everything below: the room for the write
    /// is not made by evicting it.
    private var needed: Set<RecordName> = []
    private(set) var differences: [String] = []
    private(set) var evicted = 0
    private(set) var evictedCycles = 0
    private var next = 0
    private var clock = 0

    init(flaw: Flaw? = nil) { self.flaw = flaw }

    static func node(_ identifier: String) -> RecordName {
        RecordName(.node, identifier)
    }

    func contains(_ name: RecordName) -> Bool { identities[name] != nil }

    /// Returns whether a read is a hit. A key whose node was deleted is none.
    func isReadable(_ name: RecordName) -> Bool {
        guard let node = identities[name].flatMap({ nodes[$0] }) else { return false }
        return name.nameSpace != .key || node.children.allSatisfy { nodes[$0] != nil }
    }

    // MARK: Graph

    func reach(_ starts: some Sequence<Int>) -> Set<Int> {
        var found: Set<Int> = []
        var open = starts.filter { nodes[$0] != nil }
        while let node = open.popLast() {
            guard found.insert(node).inserted else { continue }
            open += (nodes[node]?.children ?? []).filter { nodes[$0] != nil }
        }
        return found
    }

    private mutating func touch(_ starts: some Sequence<Int>) {
        for node in reach(starts) { nodes[node]?.stamp = clock }
    }

    private mutating func identity(_ name: RecordName) -> Int {
        if let known = identities[name] { return known }
        next += 1
        identities[name] = next
        nodes[next] = Node(name: name)
        return next
    }

    // MARK: Operations

    mutating func write(_ branches: [Branch], entry: RecordName? = nil) {
        clock += 1
        let all = branches.flatMap(\.all)
        let written = all.map { identity(Self.node($0.id)) }
        var touched = Set(written)
        var lost: Set<Int> = []
        for (branch, node) in zip(all, written) where !branch.isStub {
            touched.formUnion(nodes[node]?.children ?? [])
            let children = branch.children.map { identity(Self.node($0.id)) }
            lost.formUnion(Set(nodes[node]?.children ?? []).subtracting(children))
            nodes[node]?.children = children
        }
        if let entry {
            let node = identity(entry)
            touched.insert(node)
            let children = branches.map { identity(Self.node($0.id)) }
            lost.formUnion(Set(nodes[node]?.children ?? []).subtracting(children))
            touched.formUnion(nodes[node]?.children ?? [])
            nodes[node]?.children = children
        }
        if flaw == .handsStampOnByWrites { touched.subtract(lost) }
        touch(touched)
    }

    mutating func read(_ name: RecordName) {
        guard let node = identities[name] else { return }
        clock += 1
        if flaw == .touchesEntryOnly { nodes[node]?.stamp = clock } else { touch([node]) }
    }

    mutating func delete(_ name: RecordName) {
        guard let node = identities.removeValue(forKey: name) else { return }
        clock += 1
        touch([node])
        nodes[node] = nil
        pins.remove(node)
    }

    mutating func pin(_ name: RecordName) {
        guard let node = identities[name] else { return }
        clock += 1
        touch([node])
        pins.insert(node)
    }

    mutating func unpin(_ name: RecordName) {
        guard let node = identities[name], pins.remove(node) != nil else { return }
        clock += 1
        touch([node])
    }

    // MARK: Evictions

    /// Sets what a write under way needs.
    mutating func need(_ names: some Sequence<RecordName>) { needed = Set(names) }

    /// Returns whether the node can be evicted: nothing outside its cycle refers to it.
    func isFree(_ name: RecordName) -> Bool {
        guard let node = identities[name] else { return true }
        let below = reach([node])
        let cycle = below.filter { reach(nodes[$0]?.children ?? []).contains(node) }.union([node])
        return hasNoReference(cycle)
    }

    private func hasNoReference(_ group: Set<Int>) -> Bool {
        group.isDisjoint(with: pins)
            && nodes.allSatisfy {
                group.contains($0.key) || Set($0.value.children).isDisjoint(with: group)
            }
    }

    mutating func evict(_ victim: Victim) {
        let group = Set(victim.names.compactMap { identities[$0] })
        guard group.count == victim.names.count, let first = group.first,
            let stamp = nodes[first]?.stamp
        else {
            return report("\(victim.names) is not there")
        }
        if !hasNoReference(group) { report("\(victim.names) is referred to") }
        if victim.reason != .explicit {
            let kept = reach(pins.union(needed.compactMap { identities[$0] }))
            let oldest = nodes.filter { !kept.contains($0.key) }.map(\.value.stamp).min()
            if group.contains(where: { nodes[$0]?.stamp != oldest }) {
                report("\(victim.names) of \(stamp) is evicted before \(oldest ?? 0)")
            }
        } else {
            clock += 1
        }
        let children = group.flatMap { nodes[$0]?.children ?? [] }.filter { !group.contains($0) }
        if victim.reason == .explicit || flaw == .stampsChildrenNow { touch(children) }
        for node in group {
            if let name = nodes.removeValue(forKey: node)?.name { identities[name] = nil }
        }
        evicted += group.count
        if group.count > 1 { evictedCycles += 1 }
    }

    mutating func report(_ difference: String) { differences.append(difference) }
}
