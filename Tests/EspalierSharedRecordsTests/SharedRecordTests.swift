import EspalierInspection
import EspalierModels
import EspalierRecords
import EspalierSharedRecords
import EspalierStore
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

/// A server as a dictionary: what it has under each name, as bytes.
struct RecordDictionary {
    private(set) var values: [SharedName: [UInt8]] = [:]
    private var shapeDescriptions: [UInt64: [UInt8]] = [:]
    private let clock = HybridClock(host: 1) { UInt64(Date().timeIntervalSince1970 * 1_000) }

    /// Stores what a write changes, and returns the records.
    @discardableResult
    mutating func apply(_ write: SharedWrite) throws -> [SharedName: SharedRecord] {
        let shapes = self.shapes
        var old: [SharedName: SharedRecord] = [:]
        for name in write.names {
            if let bytes = values[name] { old[name] = try SharedRecord(bytes, named: name, shapes) }
        }
        let version = clock.next(after: old.values.map(\.version).max())
        let changes = try write.changes(to: old, version: version)
        for (name, record) in changes { values[name] = record.bytes(named: name) }
        for shape in SharedWrite.shapes(of: changes.values) {
            shapeDescriptions[shape.fingerprint] = shape.description
        }
        return changes
    }

    /// The shapes, as a host learns them.
    var shapes: SharedShapes {
        let shapes = SharedShapes()
        for (fingerprint, description) in shapeDescriptions {
            #expect(shapes.add(description, fingerprint: fingerprint))
        }
        return shapes
    }

    /// Reads a tree as a host does that has no copies.
    func read<Value>(
        _ names: [SharedName],
        _ body: (SharedTree) -> SharedTree.Read<Value>
    ) throws -> (result: Result<Value, MissReason>, rounds: Int) {
        let shapes = self.shapes
        let tree = SharedTree(shapes: shapes)
        var wanted = names.map(tree.position)
        var rounds = 0
        while true {
            rounds += 1
            let records = try wanted.map { position in
                let name = tree.name(at: position)
                return try values[name].map { try SharedRecord($0, named: name, shapes) }
            }
            tree.add(records, at: wanted)
            wanted = tree.nextLevel(limit: 1_000)
            if !wanted.isEmpty { continue }
            let read = body(tree)
            if read.wanted.isEmpty { return (read.result, rounds) }
            wanted = read.wanted
        }
    }
}

@Suite("Shared records")
struct SharedRecordTests {
    private let ages = SharedAges(acceptsExpired: false, second: 0)

    private func node(_ id: String, _ values: [String: TreeValue] = [:]) -> TreeModel {
        .filled(.node, id, values.merging(["number": .scalar(.integer(1))]) { $1 })
    }

    private func model<Type: TreeType>(
        _ type: Type.Type, _ identifier: String, in server: RecordDictionary
    ) throws -> Result<TreeModel, MissReason> {
        try server.read([SharedName(.node, identifier)]) {
            $0.model(TypedTree<Type>.self, at: 0, ages: ages)
        }.result.map(\.tree)
    }

    @Test(
        "Records by name, and their copies in a cache, read like the oracle's",
        arguments: 1...6)
    func oracle(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var trees = TreeGenerator(SeededGenerator(seed: seed &* 7))
        var server = RecordDictionary()
        var oracle = OracleStore()
        let near = try NormalizedCache(inMemory: Configuration())
        defer { near.close() }
        var hits = 0
        for _ in 0..<300 {
            let tree = trees.tree(
                [TreeKind.node, .summary, .owned, .framed].randomElement(
                    using: &random) ?? .node)
            let policies: [WritePolicy?] = [.replace, .merge, nil]
            let policy = policies.randomElement(using: &random) ?? nil
            guard tree.identifier != nil else { continue }
            let changes = try server.apply(SharedWrite(setting: [tree], policy: policy))
            oracle.write(tree, policy: TreePolicy(policy))
            near.restore(shared: changes.map { ($0.key, $0.value) })
            for _ in 0..<4 {
                let identifier = "\(TreeKind.node.family):\(Int.random(in: 0..<40, using: &random))"
                let expected = oracle.read(identifier, as: .node)
                let found = try model(TreeTypes.Node.self, identifier, in: server)
                #expect(expected.agrees(with: found), "\(identifier): \(found); \(expected)")
                let outcome = near.readOutcome(TypedTree<TreeTypes.Node>.self, identifier)
                if let copy = outcome.value?.tree {
                    hits += 1
                    #expect(expected.agrees(with: .success(copy)))
                } else {
                    #expect((try? found.get()) == nil, "\(identifier): \(outcome)")
                }
                let summary = try model(TreeTypes.Summary.self, identifier, in: server)
                #expect(oracle.read(identifier, as: .summary).agrees(with: summary))
            }
        }
        #expect(hits > 50)
        #expect(try near.verify().problems.isEmpty)
    }

    @Test("A record that a write leaves equal is not among its changes")
    func unchanged() throws {
        var trees = TreeGenerator(SeededGenerator(seed: 3))
        var server = RecordDictionary()
        for _ in 0..<20 {
            let tree = trees.tree()
            try server.apply(SharedWrite(setting: [tree]))
            #expect(try server.apply(SharedWrite(setting: [tree])).isEmpty)
        }
    }

    @Test("Bytes with any bit changed, cut bytes, and another record's bytes are refused")
    func damage() throws {
        var server = RecordDictionary()
        let text = String(repeating: "compressible text ", count: 40)
        for (id, text) in [("node:1", text), ("node:2", "short")] {
            try server.apply(
                SharedWrite(setting: [
                    TreeModel.filled(.node, id, ["title": .scalar(.string(text))])
                ]))
        }
        let long = try #require(server.values[SharedName(.node, "node:1")])
        #expect(long.count < text.utf8.count / 2, "a long record is compressed")
        for (name, bytes) in server.values {
            for position in bytes.indices {
                for bit in 0..<8 {
                    var damaged = bytes
                    damaged[position] ^= 1 << UInt8(bit)
                    #expect(throws: SharedRecordError.self) {
                        _ = try SharedRecord(damaged, named: name, server.shapes)
                    }
                }
                #expect(throws: SharedRecordError.self) {
                    _ = try SharedRecord(Array(bytes[..<position]), named: name, server.shapes)
                }
            }
        }
        let short = try #require(server.values[SharedName(.node, "node:2")])
        #expect(throws: SharedRecordError.self) {
            _ = try SharedRecord(short, named: SharedName(.node, "node:1"), server.shapes)
        }
        #expect(throws: SharedRecordError.self) {
            _ = try SharedRecord(short, named: SharedName(.key, "node:2"), server.shapes)
        }
        #expect(throws: SharedRecordError.newerFormat(2)) {
            _ = try SharedRecord(
                [2] + short.dropFirst(), named: SharedName(.node, "node:2"), server.shapes)
        }
    }

    @Test("A version at the end of time ends no clock, and is one that hosts can read")
    func endOfTime() {
        let clock = HybridClock(host: 1) { 1_000 }
        #expect(clock.next().milliseconds == 1_000)
        let latest = UInt64.max >> 1
        for time in [UInt64.max, latest + 1, latest] {
            let version = clock.next(after: RecordVersion(time: time, host: 2))
            #expect(version.time == latest)
        }
        #expect(clock.next().milliseconds == 1_000)
    }

    @Test("Versions ascend whatever the clock does, and are later than those that were seen")
    func versions() {
        let times = [5, 5, 4, 9, 1].map(UInt64.init)
        let next = ManualCounter()
        let clock = HybridClock(host: 3) { times[next.increment() % times.count] }
        var last = clock.next()
        for _ in 0..<20 {
            let version = clock.next()
            #expect(version > last)
            last = version
        }
        let seen = RecordVersion(time: 100 << 16, host: 9)
        #expect(clock.next(after: seen) > seen)
        #expect(RecordVersion(bytes: seen.bytes) == seen)
        #expect(RecordVersion(bytes: [1, 2]) == nil)
    }

    @Test("An outdated copy is a miss for reads of fresh records, and is told by its name")
    func outdated() throws {
        let cache = try NormalizedCache(inMemory: Configuration())
        defer { cache.close() }
        let child = node("node:2")
        let tree = node("node:1", ["next": .child(child)])
        typealias Node = TypedTree<TreeTypes.Node>
        try cache.set(Node(tree)).wait()
        #expect(cache.read(Node.self, "node:1")?.tree == tree)
        cache.outdate(shared: [SharedName(.node, "node:2"), SharedName(.node, "node:9")])
        guard case .miss(.expired) = cache.readOutcome(Node.self, "node:1") else {
            Issue.record("\(cache.readOutcome(Node.self, "node:1"))")
            return
        }
        let stale = cache.readOutcome(Node.self, "node:1", accepting: .stale)
        #expect(stale.value?.tree == tree)
        let root = SharedName(.node, "node:1")
        #expect(cache.expiredShared(in: Node.self, root) == [SharedName(.node, "node:2")])
        try cache.set(Node(child)).wait()
        #expect(cache.read(Node.self, "node:1")?.tree == tree)
        #expect(cache.expiredShared(in: Node.self, root) == [])
    }

    @Test("A tombstone reads as deleted, and the trees get the node back when it is restored")
    func tombstones() throws {
        var server = RecordDictionary()
        let cache = try NormalizedCache(inMemory: Configuration())
        defer { cache.close() }
        typealias Node = TypedTree<TreeTypes.Node>
        let child = node("node:2")
        let tree = node("node:1", ["next": .child(child)])
        func store(_ write: SharedWrite) throws {
            let changes = try server.apply(write)
            cache.restore(shared: changes.map { ($0.key, $0.value) })
        }
        try store(SharedWrite(setting: [tree]))
        try store(SharedWrite(deleting: [SharedName(.node, "node:2")]))
        let without = node("node:1")
        #expect(cache.read(Node.self, "node:1")?.tree == without)
        #expect(cache.read(Node.self, "node:2") == nil)
        #expect(try model(TreeTypes.Node.self, "node:1", in: server).get() == without)
        try store(SharedWrite(setting: [child]))
        #expect(cache.read(Node.self, "node:1")?.tree == tree)
        #expect(try model(TreeTypes.Node.self, "node:1", in: server).get() == tree)
        #expect(try cache.verify().problems.isEmpty)
    }
}

/// Counts calls.
final class ManualCounter: Sendable {
    private let count = Mutex(0)

    func increment() -> Int {
        count.withLock { count in
            count += 1
            return count - 1
        }
    }
}
