import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("Random optimistic changes", .serialized)
struct LayerWalkTests {
    /// The variable `ESPALIER_LAYER_STEPS` makes the walk longer.
    private static let steps =
        ProcessInfo.processInfo.environment["ESPALIER_LAYER_STEPS"].flatMap { Int($0) } ?? 2_000

    @Test("Readers see what layers over a dictionary give", arguments: [true, false])
    func walk(memory: Bool) throws {
        let seed = UInt64.random(in: 0...999_999)
        var walk = try LayerWalk(seed: seed, memory: memory)
        for step in 1...Self.steps {
            try walk.step(step)
            #expect(walk.differences == [], "seed \(seed), step \(step)")
            if !walk.differences.isEmpty { break }
        }
        #expect(walk.applied > Self.steps / 8 && walk.ended > Self.steps / 12, "seed \(seed)")
        try walk.finish()
    }
}

private struct LayerWalk {
    private let scratch: Scratch
    private let configuration: Configuration
    private var cache: NormalizedCache
    private var oracle = LayerOracle()
    private var random: SeededGenerator
    private(set) var differences: [String] = []
    private(set) var applied = 0
    private(set) var ended = 0
    private var log: [String] = []

    /// Memos up to this number are never deleted: a list of them has no hidden elements, so that
    /// its indexes mean the same with layers and without.
    private static let lasting = 6

    init(seed: UInt64, memory: Bool) throws {
        random = SeededGenerator(seed: seed)
        scratch = try Scratch()
        configuration = memory ? .forTests : .withoutMemory
        cache = try scratch.open(configuration)
    }

    mutating func step(_ number: Int) throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: try write()
        case 30..<58: try apply(number)
        case 58..<72: try end { _ in nil }
        case 72..<86: try end { $0.writes() }
        case 86..<96: try rollBack()
        case 96..<98: try reopen()
        case 98: try cache.compact().wait()
        default: try check()
        }
        compare()
    }

    mutating func finish() throws {
        try check()
        while !oracle.layers.isEmpty { try rollBack() }
        compare()
        try check()
        #expect(try cache.layerBytes == 0)
        cache.close()
    }

    // MARK: - Steps

    private mutating func write() throws {
        let writes = writes()
        note("write", writes)
        let ticket = cache.write { batch in for write in writes { write.add(to: &batch) } }
        try expect(oracle.write(writes), ticket)
    }

    private mutating func apply(_ number: Int) throws {
        guard oracle.layers.count < 12 else { return try rollBack() }
        let writes = writes()
        note("apply \(number)", writes)
        let change = cache.optimistically(id: "\(number)") { batch in
            for write in writes { write.add(to: &batch) }
        }
        try expect(oracle.add("\(number)", writes), change.applied)
        applied += 1
    }

    private mutating func end(_ answer: (inout LayerWalk) -> [LayerWrite]?) throws {
        guard let layer = oracle.layers.randomElement(using: &random) else { return }
        let answer = answer(&self)
        note("confirm \(layer.id)", answer ?? [])
        let change = cache.optimisticChange(layer.id)
        let ticket =
            answer.map { writes in
                change.confirm { batch in for write in writes { write.add(to: &batch) } }
            } ?? change.confirm()
        try expect(oracle.end(layer.id, with: answer), ticket)
        ended += 1
    }

    private mutating func rollBack() throws {
        guard let layer = oracle.layers.randomElement(using: &random) else { return }
        note("roll back \(layer.id)", [])
        try expect(oracle.end(layer.id, with: []), cache.optimisticChange(layer.id).rollback())
        ended += 1
    }

    private mutating func reopen() throws {
        note("reopen", [])
        cache.close()
        cache = try scratch.open(configuration)
        let pending = try cache.optimisticChanges().map(\.id)
        if pending != oracle.layers.map(\.id) { differences.append("pending: \(pending)") }
    }

    private mutating func check() throws {
        let report = try cache.verify()
        if !report.isClean { differences.append("\(report.problems)") }
    }

    private mutating func expect(_ succeeds: Bool, _ ticket: WriteTicket) throws {
        do {
            try ticket.wait()
            if !succeeds { differences.append("a write succeeded that should fail") }
        } catch {
            if succeeds { differences.append("\(error)") }
        }
    }

    private mutating func note(_ step: String, _ writes: [LayerWrite]) {
        log.append("\(step): \(writes)")
        if log.count > 40 { log.removeFirst() }
    }

    // MARK: - Writes

    fileprivate mutating func writes() -> [LayerWrite] {
        var boards: Set<Int> = []
        return (0..<Int.random(in: 1...3, using: &random)).map { _ in oneWrite() }.filter { write in
            // The memos of a board that occurs again in one tree are not written.
            guard case .board(let id, _) = write else { return true }
            return boards.insert(id).inserted
        }
    }

    private mutating func oneWrite() -> LayerWrite {
        let key = "list"
        switch Int.random(in: 0..<22, using: &random) {
        case 0..<3: return .memo(memo(any), .merge)
        case 3..<5: return .memo(memo(any), .replace)
        case 5..<8:
            return .board(number(3), (0..<number(4)).map { _ in memo(any) })
        case 8..<11: return .delete(Self.lasting + number(6))
        case 11: return .list("loose", (0..<number(4)).map { _ in memo(any) })
        case 12..<14: return .append("loose", [memo(any)])
        case 14: return .list(key, (0..<number(5)).map { _ in memo(number(Self.lasting)) })
        case 15: return .append(key, [memo(number(Self.lasting))])
        case 16: return .appendNew(key, [memo(number(Self.lasting)), memo(number(Self.lasting))])
        case 17: return .insert(key, memo(number(Self.lasting)), number(5) - 1)
        case 18:
            let start = number(4) - 1
            return .remove(key, start..<start + number(2))
        case 19: return .key("key \(number(2))", memo(any))
        case 20: return .deleteKey("key \(number(2))")
        default: return number(3) == 1 ? .deleteList(key) : .memo(memo(any), .merge)
        }
    }

    private var any: Int { mutating get { number(Self.lasting + 6) } }

    private mutating func number(_ limit: Int) -> Int { Int.random(in: 1...limit, using: &random) }

    private mutating func memo(_ id: Int) -> MemoPart {
        MemoPart(
            id: id, text: number(3) > 1 ? "text \(number(99))" : nil,
            stars: number(3) > 1 ? number(99) : nil, likes: number(3) > 1 ? number(99) : nil)
    }

    // MARK: - Reads

    private mutating func compare() {
        let shown = oracle.shown
        let confirmed = oracle.confirmed
        let reads = cache.confirmed
        for id in 1...Self.lasting + 6 {
            let name = "Memo:\(id)"
            differ(name, cache.read(MemoPart.self, name), shown.memos[id])
            differ("\(name), confirmed", reads.read(MemoPart.self, name), confirmed.memos[id])
        }
        for id in 1...3 {
            let name = "Board:\(id)"
            differ(name, cache.read(BoardPart.self, name)?.memos, shown.board(id))
            differ(
                "\(name), confirmed", reads.read(BoardPart.self, name)?.memos, confirmed.board(id))
        }
        for key in ["list", "loose"] {
            differ(key, cache.collection(of: MemoPart.self, forKey: key), shown.list(key))
            differ(
                "\(key), confirmed", reads.collection(of: MemoPart.self, forKey: key),
                confirmed.list(key))
        }
        for key in ["key 1", "key 2"] {
            differ(
                key, cache.modelOutcome(MemoPart.self, forKey: key).value,
                shown.keys[key].flatMap { shown.memos[$0] })
            differ(
                "\(key), confirmed", reads.modelOutcome(MemoPart.self, forKey: key).value,
                confirmed.keys[key].flatMap { confirmed.memos[$0] })
        }
    }

    private mutating func differ<Value: Equatable>(
        _ name: String, _ found: Value?, _ expected: Value?
    ) {
        guard found != expected, differences.isEmpty else { return }
        let steps = log.joined(separator: "\n")
        differences.append(
            "\(name): \(String(describing: found)) and not \(String(describing: expected))\n\(steps)"
        )
    }
}
