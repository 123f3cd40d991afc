import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Sizes from zero to a million")
struct SizeTests {
    private static let large = Configuration.forTests(budget: .mebibytes(256))

    @Test("A record grows and shrinks across the limits of chunks, and leaves no chunk behind")
    func chunkBoundaries() throws {
        try withCache { cache in
            let limit = try cache.generation.environment.maximumValueSize
            let around = [1, 2, 3].flatMap { chunks in (-40...40).map { limit * chunks + $0 } }
            for size in (around + [1, 70_000, 3, 5_000, 0, 1 << 20, 4_080, 1 << 20]) {
                let text = String(repeating: "t", count: max(0, size))
                cache.set(Person("p:1", text))
                #expect(cache.read(Person.self, "p:1")?.name == text)
                guard size % 10 == 0 else { continue }
                try expectClean(cache)
            }
            try cache.delete("p:1").wait()
            let statistics = try cache.statistics()
            #expect(statistics.recordBytes == ByteCount(0))
        }
    }

    @Test("A write that changes nothing does not rewrite a chunked record")
    func unchangedChunks() throws {
        try withCache { cache in
            for _ in 0..<3 {
                try cache.set(Person("p:1", String(repeating: "t", count: 100_000))).wait()
            }
            #expect(try cache.statistics().recordsWritten == 1)
        }
    }

    @Test("A list of a million inline values is read back")
    func wideValues() throws {
        try withCache(Self.large) { cache in
            let values = Array(0..<1_000_000)
            try cache.set(Box("b:1", values)).wait()
            #expect(cache.read(Box<[Int]>.self, "b:1")?.value == values)
        }
    }

    @Test("A list of 20,000 nodes is read back")
    func wideNodes() throws {
        try withCache(Self.large) { cache in
            let people = (0..<20_000).map { Person("p:\($0)", "Person \($0)") }
            try cache.set(Box("b:1", people)).wait()
            #expect(cache.read(Box<[Person]>.self, "b:1")?.value == people)
            #expect(try cache.statistics().nodes == 20_001)
            try cache.delete("b:1").wait()
            #expect(try cache.statistics().roots == 20_000)
        }
    }

    @Test("A tree that is too deep is refused with its limit, and one below the limit is stored")
    func deep() throws {
        try withCache { cache in
            func chain(_ depth: Int) -> Ring {
                (1..<depth).reduce(Ring("r:0")) { below, number in Ring("r:\(number)", left: below)
                }
            }
            #expect(code(cache.set(chain(10_000))) == .notFlattened(.tooDeep(limit: 256)))
            #expect(try cache.statistics().nodes == 0)
            try cache.set(chain(200)).wait()
            #expect(cache.read(Ring.self, "r:199") != nil)
        }
    }

    @Test("A chain that separate writes made too deep is a miss, and its lower part is a hit")
    func deepInParts() throws {
        try withCache { cache in
            for number in (1...1_000).reversed() {
                cache.set(Ring("r:\(number)", left: Ring("r:\(number - 1)")))
            }
            #expect(cache.readOutcome(Ring.self, "r:1000").reason?.name == "tooDeep")
            #expect(cache.read(Ring.self, "r:200") != nil)
        }
    }

    @Test("A tree over an eighth of the budget is refused before anything is written")
    func treeTooLarge() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            let limit = (1 << 20) / 8
            #expect(
                code(cache.set(Person("p:1", String(repeating: "t", count: limit))))
                    == .treeTooLarge)
            #expect(
                code(
                    cache.setCollection([Remark(String(repeating: "t", count: limit))], forKey: "c")
                ) == .treeTooLarge)
            let people = (0..<20).map {
                Person("p:\($0)", String(repeating: "t", count: limit / 16))
            }
            #expect(code(cache.set(Box("b:1", people))) == .treeTooLarge)
            let statistics = try cache.statistics()
            #expect(statistics.nodes == 0 && statistics.collections == 0)
            #expect(
                code(cache.set(Person("p:1", String(repeating: "t", count: limit - 100)))) == nil)
        }
    }

    @Test("More nodes than the limit are refused when written and a miss when read")
    func tooManyNodes() throws {
        let scratch = try Scratch()
        var configuration = Configuration.forTests
        configuration.limits.maximumNodes = 10
        let people = (0..<20).map { Person("p:\($0)", "Person") }
        var cache = try scratch.open(configuration)
        #expect(code(cache.set(Box("b:1", people))) == .notFlattened(.tooManyNodes(limit: 10)))
        cache.close()
        cache = try scratch.open()
        try cache.set(Box("b:1", people)).wait()
        cache.close()
        cache = try scratch.open(configuration)
        #expect(cache.readOutcome(Box<[Person]>.self, "b:1").reason?.name == "tooLarge")
        #expect(cache.read(Person.self, "p:1") != nil)
        try expectClean(cache)
        cache.close()
    }

    @Test("A graph with 2^40 paths is written and read without delay")
    func diamonds() throws {
        var configuration = Configuration.forTests
        configuration.limits.maximumLogicalNodes = .max
        try withCache(configuration) { cache in
            var ring = Ring("r:0")
            for number in 1...40 {
                ring = Ring("r:\(number)", left: ring, right: ring)
                cache.set(ring)
            }
            #expect(cache.read(Ring.self, "r:40") != nil)
        }
    }
    @Test("A graph with 2^40 paths is a miss by default, and so are a key and a list of it")
    func endlessDiamonds() throws {
        try withCache { cache in
            var ring = Ring("r:0")
            for number in 1...40 { ring = Ring("r:\(number)", left: ring, right: ring) }
            cache.set(ring)
            cache.setModel(ring, forKey: "key")
            cache.setCollection([ring, ring], forKey: "list")
            #expect(cache.readOutcome(Ring.self, "r:40").reason?.name == "tooLarge")
            #expect(cache.modelOutcome(Ring.self, forKey: "key").reason?.name == "tooLarge")
            #expect(
                cache.collectionOutcome(of: Ring.self, forKey: "list").reason?.name == "tooLarge")
            #expect(cache.read(Ring.self, "r:15") != nil)
        }
    }

    @Test("Limits that a former version encoded are decoded with the default of the others")
    func decodedLimits() throws {
        let old = Data(#"{"maximumDepth":3,"maximumNodes":4,"maximumBytes":5}"#.utf8)
        var limits = TreeLimits()
        (limits.maximumDepth, limits.maximumNodes, limits.maximumBytes) = (3, 4, 5)
        #expect(try JSONDecoder().decode(TreeLimits.self, from: old) == limits)
        let coded = try JSONEncoder().encode(limits)
        #expect(try JSONDecoder().decode(TreeLimits.self, from: coded) == limits)
    }
}
