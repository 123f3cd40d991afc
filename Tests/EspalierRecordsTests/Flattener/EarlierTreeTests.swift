import Dispatch
import EspalierModels
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierRecords

@Suite("Trees that are copied from an earlier write", .timeLimit(.minutes(4)))
struct EarlierTreeTests {
    /// Flattens lists of items as one write after the other does.
    private struct Writes {
        var limits = TreeLimits()
        let shapes = ShapeInterner()
        private(set) var earlier: EarlierTree?
        /// What the last write walked and compared.
        private(set) var calls = Calls()
        /// What it would have walked without an earlier tree.
        private(set) var allCalls = Calls()

        /// Flattens items from the earlier tree, and from nothing. Returns both trees.
        mutating func flatten(_ items: [Item]) throws -> (
            copied: FlattenedTree, walked: FlattenedTree
        ) {
            let flattener = Flattener(limits: limits, shapes: shapes)
            flattener.reuse(earlier)
            calls = Calls()
            let copied = try Item.$calls.withValue(calls) { try Self.flatten(items, flattener) }
            earlier = flattener.takeEarlierTree() ?? earlier
            allCalls = Calls()
            let walked = try Item.$calls.withValue(allCalls) {
                try Self.flatten(items, Flattener(limits: limits, shapes: shapes))
            }
            return (copied, walked)
        }

        private static func flatten(
            _ items: [Item], _ flattener: Flattener
        ) throws -> FlattenedTree {
            for item in items {
                _ = try flattener.value { try ModelStorage.encode(item, into: $0) }
            }
            return flattener.finish()
        }
    }

    private func feed(_ count: Int, changed: Set<Int> = []) -> Item {
        let posts = (0..<count).map { number in
            Item(
                1_000 + number, changed.contains(number) ? "changed" : "text",
                [Item(number % 7, "author"), Item(2_000 + number, "comment", [Item(7, "author")])])
        }
        return Item(999, "feed", posts)
    }

    @Test("Only models that have changed, and those around them, are walked")
    func walkedModels() throws {
        var writes = Writes()
        _ = try writes.flatten([feed(100)])
        #expect(writes.calls.encoded == 401)
        // The first tree has no models.
        _ = try writes.flatten([feed(100, changed: [0])])
        #expect(writes.calls.encoded == 401)
        let (tree, _) = try writes.flatten([feed(100, changed: [50, 60])])
        #expect(tree.count == 209)
        // The feed, and three posts with a copied author and a copied comment each. Authors that
        // occur again are compared by another walk.
        #expect((4...12).contains(writes.calls.encoded))
        #expect(tree.earlierNodes.count { !$0.isEqual } == 3)
        // A post moves to the front, and one is new.
        var posts = feed(100, changed: [50, 60]).parts
        posts.insert(posts.remove(at: 70), at: 0)
        posts.insert(Item(5_000, "new", [Item(3, "author")]), at: 0)
        _ = try writes.flatten([Item(999, "feed", posts)])
        #expect((2...20).contains(writes.calls.encoded))
    }

    private final class Outcome: Sendable {
        let result = Mutex<Result<(tree: EarlierTree?, count: Int), any Error>?>(nil)
    }

    /// A comparison recurses as deep as the models are nested.
    @Test("A thread with a small stack compares no models that are nested too deep for it")
    func smallStack() throws {
        let shapes = ShapeInterner()
        var limits = TreeLimits()
        limits.maximumDepth = 10_000
        let chain = (1..<700).reduce(Item(0, "leaf")) { Item($1, "level", [$0]) }
        func flatten(
            after earlier: EarlierTree?, stackSize: Int
        ) throws -> (tree: EarlierTree?, count: Int) {
            let outcome = Outcome()
            let isDone = DispatchSemaphore(value: 0)
            let thread = Thread { [limits] in
                let flattener = Flattener(limits: limits, shapes: shapes)
                flattener.reuse(earlier)
                let result = Result {
                    _ = try flattener.value { try ModelStorage.encode(chain, into: $0) }
                    let count = flattener.finish().count
                    return (tree: flattener.takeEarlierTree(), count: count)
                }
                outcome.result.withLock { $0 = result }
                isDone.signal()
            }
            thread.stackSize = stackSize
            thread.start()
            isDone.wait()
            return try #require(outcome.result.withLock { $0 }).get()
        }
        var earlier: EarlierTree?
        for _ in 0..<3 {
            let flattened = try flatten(after: earlier, stackSize: 64 << 20)
            #expect(flattened.count == 700)
            earlier = flattened.tree
        }
        #expect(throws: FlattenError.self) {
            try flatten(after: earlier, stackSize: 256 << 10)
        }
    }

    @Test("A changed leaf below many levels is not compared at each of them")
    func comparisons() throws {
        func chain(_ text: String) -> Item {
            (0..<100).reduce(Item(0, text)) { Item($1 + 1, "level", [$0]) }
        }
        var writes = Writes()
        for text in ["a", "b", "c"] { _ = try writes.flatten([chain(text), Item(500, text)]) }
        #expect(writes.calls.encoded == 102)
        // Of 5,050.
        #expect((100...400).contains(writes.calls.compared))
    }

    @Test("Limits hold for copied nodes, too")
    func limits() throws {
        let part = (0..<10).reduce(Item(0, "leaf")) { Item($1 + 1, "level", [$0]) }
        func expectFailure(_ items: [Item], _ limit: (inout TreeLimits) -> Void) throws {
            var writes = Writes()
            for text in ["a", "b"] { _ = try writes.flatten([part, Item(100, text)]) }
            limit(&writes.limits)
            #expect(throws: FlattenError.self) { try writes.flatten(items) }
        }
        try expectFailure([part, Item(100, "c")]) { $0.maximumNodes = 10 }
        try expectFailure([part, Item(100, "c")]) { $0.maximumBytes = 100 }
        // Copied, the part would go deeper than before.
        let deep = (0..<8).reduce(part) { Item($1 + 200, "level", [$0]) }
        try expectFailure([deep]) { $0.maximumDepth = 25 }
    }

    @Test("A tree with contradictions, cycles or too many occurrences is not copied from")
    func notCopied() throws {
        for items in [
            [Item(1, "a", [Item(2, "b"), Item(2, "c")])],
            [Item(1, "a", [Item(2, "b", [Item(1, "a")])])],
            [(0..<40).reduce(Item(0, "leaf")) { Item($1 + 1, "level", [$0, $0]) }],
        ] {
            var writes = Writes()
            _ = try writes.flatten(items)
            #expect(writes.earlier == nil)
        }
    }

    @Test("The copied tree is the one that a walk makes", arguments: 0..<4)
    func walk(turn: Int) throws {
        let seed = UInt64.random(in: 0...999_999)
        var graph = Graph(seed: seed)
        var writes = Writes()
        var (equal, copied) = (0, 0)
        for step in 1...600 {
            graph.change()
            let items = graph.items()
            let earlier = writes.earlier?.tree
            let (tree, other) = try writes.flatten(items)
            let difference = tree.difference(from: other) ?? tree.misjudged(earlier)
            #expect(difference == nil, "seed \(seed), step \(step)")
            if difference != nil { break }
            equal += tree.earlierNodes.count { $0.isEqual }
            copied += writes.allCalls.encoded - writes.calls.encoded
        }
        #expect(equal > 2_000 && copied > 2_000, "seed \(seed): \(equal), \(copied)")
    }
}

/// Calls of the models' code.
private final class Calls: @unchecked Sendable {
    var encoded = 0
    var compared = 0
}

/// A node that tells what it writes, as `@Normalized` generates it.
private struct Item: NormalizedModel {
    @TaskLocal static var calls: Calls?

    let id: Int
    var text: String
    var note: String?
    var parts: [Item]
    /// The same nodes, as another type sees them.
    var views: [View] = []

    init(_ id: Int, _ text: String, _ parts: [Item] = []) {
        (self.id, self.text, self.parts) = (id, text, parts)
    }

    var modelIdentifier: String? { "Item:\(id)" }

    init(from decoder: inout RecordDecoder) throws { throw FlattenError.notStorable(type: "Item") }

    func encode(to encoder: inout RecordEncoder) throws {
        Self.calls?.encoded += 1
        try encoder.encode(text, forKey: "text")
        try encoder.encode(note, forKey: "note")
        try encoder.encode(parts, forKey: "parts")
        try encoder.encode(views, forKey: "views")
    }

    func hasSameEncoding(as other: Item) -> Bool {
        Self.calls?.compared += 1
        return id == other.id && text.hasSameEncoding(as: other.text)
            && note.hasSameEncoding(as: other.note) && parts.hasSameEncoding(as: other.parts)
            && views.hasSameEncoding(as: other.views)
    }
}

private struct View: NormalizedModel {
    let id: Int
    let title: String
    let item: Item?
    var modelIdentifier: String? { "Item:\(id)" }

    init(_ id: Int, _ title: String, _ item: Item?) {
        (self.id, self.title, self.item) = (id, title, item)
    }

    init(from decoder: inout RecordDecoder) throws { throw FlattenError.notStorable(type: "View") }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(title, forKey: "title")
        try encoder.encode(item, forKey: "item")
    }

    func hasSameEncoding(as other: View) -> Bool {
        id == other.id && title.hasSameEncoding(as: other.title)
            && item.hasSameEncoding(as: other.item)
    }
}

/// Nodes that refer to each other and change a little between two writes.
private struct Graph {
    private var random: SeededGenerator
    private var texts: [Int: String] = [:]
    private var parts: [Int: [Int]] = [:]
    private var roots = [0, 1]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        for id in 0..<40 {
            texts[id] = "text \(id)"
            parts[id] = (0..<1 + number(3)).map { _ in id + 5 + number(12) }.filter { $0 < 40 }
        }
    }

    private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func change() {
        for _ in 0..<number(4) {
            let id = number(40)
            switch number(8) {
            case 0: parts[id]?.shuffle(using: &random)
            case 1 where parts[id, default: []].count > 1: _ = parts[id]?.popLast()
            case 2 where id < 35:
                let part = id + 5 + number(35 - id)
                parts[id]?.insert(part, at: 0)
            case 3: roots = (0..<1 + number(3)).map { _ in number(10) }
            default: texts[id] = "text \(number(1_000_000))"
            }
        }
    }

    /// Returns the trees below the roots. Now and then an occurrence of a node has other content,
    /// lies on a cycle, or has another type.
    mutating func items() -> [Item] {
        let isOdd = number(4) == 0
        return roots.map { item($0, isOdd) }
    }

    private mutating func item(_ id: Int, _ isOdd: Bool) -> Item {
        let children = parts[id] ?? []
        var item = Item(
            id, texts[id] ?? "", children.map { self.item($0, isOdd) })
        if id % 3 == 0 { item.note = "note \(id)" }
        guard isOdd, number(30) == 0 else { return item }
        switch number(4) {
        case 0: item.text = "another text"
        case 1: item.parts.append(Item(roots[0], "the root again"))
        case 2: item.views.append(View(number(40), "view", item))
        default: item.parts = []
        }
        return item
    }
}

extension FlattenedTree {
    /// Returns how the tree differs from one that was flattened without an earlier tree.
    fileprivate func difference(from other: FlattenedTree) -> String? {
        guard count == other.count else { return "\(count) and \(other.count) nodes" }
        for (node, known) in zip(nodes, other.nodes) {
            if node.identifier != known.identifier || node.isOnCycle != known.isOnCycle {
                return "\(node) and \(known)"
            }
            let same = zip(node.projections, known.projections).allSatisfy {
                $0.type == $1.type && $0.shape == $1.shape && $0.values == $1.values
                    && $0.children == $1.children && $0.isCase == $1.isCase
                    && $0.explicitNulls == $1.explicitNulls
            }
            if !same || node.projections.count != known.projections.count {
                return "\(node) and \(known)"
            }
        }
        if contradictions != other.contradictions {
            return "\(contradictions) and \(other.contradictions) contradictions"
        }
        if byteCount != other.byteCount { return "\(byteCount) and \(other.byteCount) bytes" }
        return hasFewOccurrences == other.hasFewOccurrences ? nil : "other occurrences"
    }

    /// Returns a node that is not what the tree says of it: equal to that of the earlier tree, or
    /// not.
    fileprivate func misjudged(_ earlier: FlattenedTree?) -> String? {
        guard let earlier else { return nil }
        if earlierNodes.count != count { return "\(earlierNodes.count) of \(count) nodes" }
        guard !hasProjections, !hasCycles else { return nil }
        func children(_ index: Int, _ tree: FlattenedTree) -> [String] {
            tree.nodes[index].first.children.map { tree.entries[$0].identifier }
        }
        for (index, node) in nodes.enumerated() {
            let known = earlier.nodes.firstIndex { $0.identifier == node.identifier }
            if Int(earlierNodes[index].index) != known ?? -1 { return "place of \(node)" }
            guard let known else { continue }
            let isEqual =
                earlier.nodes[known].first.values == node.first.values
                && earlier.nodes[known].first.shape == node.first.shape
                && children(known, earlier) == children(index, self)
            if earlierNodes[index].isEqual != isEqual { return "\(node), equal: \(isEqual)" }
        }
        return nil
    }
}
