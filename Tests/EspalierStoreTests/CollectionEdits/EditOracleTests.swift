import EspalierModels
import EspalierRecords
import EspalierStore
import EspalierTestSupport
import Testing

@Suite("A sender and its cache")
struct EditOracleTests {
    @Test(
        "Edits of sender and cache give what two arrays give, out of date or not",
        arguments: [21, 22] as [UInt64])
    func againstArrays(seed: UInt64) throws {
        try withCache { cache in
            var walk = EditWalk(cache, SeededGenerator(seed: seed))
            for step in 0..<300 {
                walk.step()
                guard step % 25 == 24 else { continue }
                walk.expectSame(at: step)
                if step % 100 == 99 { try expectClean(cache) }
            }
            // The walk must contain enough edits of both outcomes.
            #expect(
                walk.resultCounts[.applied, default: 0] > 80
                    && walk.resultCounts[.outOfDate, default: 0] > 25,
                "\(walk.resultCounts)")
        }
    }
}

/// Random edits by a sender whose list differs from the stored collection at times: another writer
/// edits the collection, models are deleted without the sender's knowledge, and some edits expect
/// wrong neighbours.
private struct EditWalk {
    private let cache: NormalizedCache
    private var random: SeededGenerator
    /// The sender's list.
    private var shown: [Remark] = []
    /// The collection that the cache should contain; nil if there is none.
    private var stored: [Remark]?
    private(set) var resultCounts: [EditResult: Int] = [:]

    init(_ cache: NormalizedCache, _ random: SeededGenerator) {
        self.cache = cache
        self.random = random
        shown = (0..<1_300).map { _ in element() }
        send()
    }

    mutating func step() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: editBehindTheSender()
        case 1: delete(isSenderInformed: false)
        case 2: delete(isSenderInformed: true)
        case 3 where Int.random(in: 0..<4, using: &random) == 0:
            cache.deleteCollection(forKey: "c")
            stored = nil
        default: edit()
        }
    }

    func expectSame(at step: Int) {
        #expect(cache.remarks() == stored, "\(random), step \(step)")
    }

    private mutating func element() -> Remark {
        let number = Int.random(in: 0..<300, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return Remark("inline \(number)")
        case 1: return Remark("inline", on: Person("p:\(number % 20)", "Person"))
        default:
            return Remark(
                "node", on: number % 3 == 0 ? Person("p:\(number % 20)", "Person") : nil,
                id: "r:\(number)")
        }
    }

    private mutating func elements() -> [Remark] {
        let most = [1, 1, 1, 3, 200].randomElement(using: &random) ?? 1
        return (0..<Int.random(in: 0...most, using: &random)).map { _ in element() }
    }

    /// Returns an edit of a list of `count` elements, usually far from its ends.
    private mutating func randomEdit(of count: Int) -> CollectionEdit<any SimpleModel> {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .append(elements())
        case 1 where count > 0:
            return .update(element(), at: Int.random(in: 0..<count, using: &random))
        case 2, 3: return .insert(elements(), at: Int.random(in: 0...count, using: &random))
        default:
            return count == 0
                ? .append([element()]) : .remove(at: Int.random(in: 0..<count, using: &random))
        }
    }

    private mutating func edit() {
        let edit = randomEdit(of: shown.count)
        let index = edit.index(in: shown.count)
        var expected = CollectionNeighbours(shown, around: index)
        if Int.random(in: 0..<8, using: &random) == 0 { spoil(&expected) }
        let isRight = Self.isRight(edit, expected, of: stored)
        let result = cache.result(edit, expecting: expected)
        resultCounts[result, default: 0] += 1
        #expect(
            result == (isRight ? .applied : .outOfDate), "\(random), \(edit), expecting \(expected)"
        )
        edit.apply(to: &shown)
        if result == .applied {
            var list = stored ?? []
            edit.apply(to: &list)
            stored = list
        } else {
            send()
        }
    }

    private static func isRight(
        _ edit: CollectionEdit<any SimpleModel>, _ expected: CollectionNeighbours,
        of stored: [Remark]?
    ) -> Bool {
        guard let stored else {
            if edit.range == nil {
                return expected == CollectionNeighbours([Remark](), around: 0)
            }
            return false
        }
        return expected == CollectionNeighbours(stored, around: edit.index(in: stored.count))
    }

    private mutating func spoil(_ expected: inout CollectionNeighbours) {
        let (count, previous, current, next) = (
            expected.count, expected.previous, expected.current, expected.next
        )
        let name =
            Bool.random(using: &random) ? nil : "r:\(Int.random(in: 0..<300, using: &random))"
        expected =
            switch Int.random(in: 0..<4, using: &random) {
            case 0: .init(count: count + 1, previous: previous, current: current, next: next)
            case 1: .init(count: count, previous: name, current: current, next: next)
            case 2: .init(count: count, previous: previous, current: name, next: next)
            default: .init(count: count, previous: previous, current: current, next: name)
            }
    }

    /// Sends the whole collection.
    private mutating func send() {
        cache.setCollection(shown, forKey: "c", context: nil)
        stored = shown
    }

    private mutating func editBehindTheSender() {
        guard var list = stored else { return }
        let edit = randomEdit(of: list.count)
        edit.apply(to: &list)
        stored = list
        let models = edit.elements.compactMap { $0 as? Remark }
        guard let range = edit.range else {
            cache.append(models, toCollection: "c")
            return
        }
        if range.isEmpty {
            cache.insert(models, at: range.lowerBound, inCollection: "c")
        } else if let model = models.first {
            cache.update(model, at: range.lowerBound, inCollection: "c")
        } else {
            cache.remove(at: range.lowerBound, fromCollection: "c")
        }
    }

    private mutating func delete(isSenderInformed: Bool) {
        guard let victim = shown.randomElement(using: &random), victim.id != nil else { return }
        cache.deleteModel(victim, forKey: nil, context: nil)
        stored?.removeAll { $0.id == victim.id }
        if isSenderInformed { shown.removeAll { $0.id == victim.id } }
    }
}
