import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Collections are stored in segments")
struct SegmentTests {
    /// Returns the number of elements in each segment of `key`.
    private func sizes(_ cache: NormalizedCache, _ key: String) throws -> [Int] {
        guard let handle = try cache.handle(key, in: .collection),
            let record = try cache.record(handle)
        else {
            return []
        }
        return try SegmentList(record).segments.map(\.count)
    }

    @Test("A segment of a collection holds at most 512 elements")
    func sizes() throws {
        try withCache { cache in
            for count in [0, 1, 511, 512, 513, 1_024, 1_500] {
                cache.setCollection(
                    (0..<count).map { Person("p:\($0 % 7)", "Person") }, forKey: "c")
                let sizes = try sizes(cache, "c")
                #expect(sizes.reduce(0, +) == count)
                #expect(sizes.allSatisfy { $0 > 0 && $0 <= 512 })
                #expect(cache.collection(of: Person.self, forKey: "c")?.count == count)
            }
        }
    }

    @Test("An edit of a collection of 10,000 elements writes at most four records")
    func costOfEdits() throws {
        try withCache { cache in
            cache.setCollection((0..<10_000).map { Person("p:\($0 % 50)", "Person") }, forKey: "c")
            try cache.set(Person("p:new", "Person")).wait()
            let element = Person("p:new", "Person")
            let edits: [(NormalizedCache) -> WriteTicket] = [
                { $0.insert([element], at: 5_000, inCollection: "c") },
                { $0.append([element], toCollection: "c") },
                { $0.insert([element], at: 0, inCollection: "c") },
                { $0.update(element, at: 7_777, inCollection: "c") },
                { $0.remove(at: 3, fromCollection: "c") },
                { $0.remove(4_000..<4_010, fromCollection: "c") },
                { $0.move(from: 9_000, to: 9_001, inCollection: "c") },
            ]
            for edit in edits {
                let before = try cache.statistics().recordsWritten
                try edit(cache).wait()
                #expect(try cache.statistics().recordsWritten - before <= 4)
            }
        }
    }

    @Test(
        "Segments split and join as a collection grows and shrinks like an array",
        arguments: [11, 12] as [UInt64])
    func againstArray(seed: UInt64) throws {
        try withCache { cache in
            var random = SeededGenerator(seed: seed)
            var model = (0..<2_300).map { _ in Self.element(&random) }
            try cache.setCollection(model, forKey: "c").wait()
            for step in 0..<220 {
                Self.edit(&model, cache, growing: step < 110, &random)
                guard step % 20 == 19 else { continue }
                #expect(
                    cache.collection(of: Remark.self, forKey: "c") == model,
                    "\(random), step \(step)")
                let sizes = try sizes(cache, "c")
                #expect(sizes.allSatisfy { $0 <= SegmentSizes.maximum && $0 > 0 })
                let pairs = zip(sizes, sizes.dropFirst())
                #expect(pairs.count { $0.0 + $0.1 < SegmentSizes.minimum } <= 1, "\(sizes)")
            }
        }
    }

    private static func element(_ random: inout SeededGenerator) -> Remark {
        let subject = Person("p:\(Int.random(in: 0..<40, using: &random))", "Person")
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return Remark("inline")
        case 1: return Remark("inline", on: subject)
        default: return Remark("node", on: subject, id: "r:\(subject.id)")
        }
    }

    private static func edit(
        _ model: inout [Remark], _ cache: NormalizedCache, growing: Bool,
        _ random: inout SeededGenerator
    ) {
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2 where growing:
            let elements = (0..<Int.random(in: 0...300, using: &random)).map { _ in element(&random)
            }
            let index = Int.random(in: 0...model.count, using: &random)
            model.insert(contentsOf: elements, at: index)
            cache.insert(elements, at: index, inCollection: "c")
        case 0...3:
            let start = Int.random(in: 0...model.count, using: &random)
            let range =
                start..<min(
                    model.count, start + Int.random(in: 0...(growing ? 50 : 400), using: &random))
            model.removeSubrange(range)
            cache.remove(range, fromCollection: "c")
        case 4:
            let elements = (0..<Int.random(in: 0...20, using: &random)).map { _ in element(&random)
            }
            model += elements
            cache.append(elements, toCollection: "c")
        case 5 where !model.isEmpty:
            let index = Int.random(in: 0..<model.count, using: &random)
            model[index] = element(&random)
            cache.update(model[index], at: index, inCollection: "c")
        case _ where !model.isEmpty:
            let source = Int.random(in: 0..<model.count, using: &random)
            let destination = Int.random(in: 0..<model.count, using: &random)
            model.insert(model.remove(at: source), at: destination)
            cache.move(from: source, to: destination, inCollection: "c")
        default: break
        }
    }

    @Test("The rules for splitting and joining segments keep every size within bounds")
    func splitter() {
        for count in 0...3_000 {
            let sizes = SegmentSizes.sizes(for: count)
            #expect(sizes.reduce(0, +) == count && sizes.allSatisfy { (1...512).contains($0) })
            let parts = SegmentSizes.parts(of: count)
            #expect(parts.reduce(0, +) == count && parts.allSatisfy { $0 <= 512 })
            #expect((parts.max() ?? 0) - (parts.min() ?? 0) <= 1)
        }
        for a in stride(from: 0, through: 512, by: 7) {
            for b in stride(from: 0, through: 512, by: 7) where SegmentSizes.areJoined(a, b) {
                #expect(a + b <= 512)
            }
        }
    }
}
