import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Records are compressed, and read as if they were not")
struct CompressionTests {
    @Test("Records are read as written before, with and after the first dictionaries")
    func reading() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(CompressedCache.configuration)
        try CompressedCache.fill(cache)
        CompressedCache.expectRead(cache)
        try cache.compact().wait()
        CompressedCache.expectRead(cache)
        let uses = try cache.dictionaryUses()
        #expect(uses.filter { $0.key > FrameDecoder.noDictionary }.values.reduce(0, +) > 100)
        try expectClean(cache)
        cache.close()
        // The new instance has no dictionaries in memory yet.
        cache = try scratch.open(CompressedCache.configuration)
        CompressedCache.expectRead(cache)
        try CompressedCache.fill(cache, "writes")
        CompressedCache.expectRead(cache, "writes")
        #expect(try cache.statistics().misses == [:])
        try expectClean(cache)
        cache.close()
    }

    @Test("Long records are compressed, in chunks or in one record if they are short enough then")
    func long() throws {
        try CompressedCache.with { cache in
            var random = SystemRandomNumberGenerator()
            let texts = [
                String(repeating: "t", count: 60_000),
                (0..<60_000).map { _ in String(UInt8.random(in: 33...126, using: &random)) }
                    .joined(),
            ]
            for (number, text) in texts.enumerated() {
                try cache.set(Person("long:\(number)", text)).wait()
                #expect(cache.read(Person.self, "long:\(number)")?.name == text)
            }
            #expect(cache.dictionaryCountIsRight)
        }
    }

    @Test("Writing compressed records again without a change writes nothing")
    func unchanged() throws {
        try CompressedCache.with { cache in
            let before = try cache.readStorage { try $0.counters($1) }
            try CompressedCache.fill(cache)
            let after = try cache.readStorage { try $0.counters($1) }
            #expect(after.recordsWritten == before.recordsWritten)
            #expect(after.recordsUnchanged > before.recordsUnchanged)
        }
    }

    @Test("Without compression new records are raw, and compressed ones stay readable")
    func none() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(CompressedCache.configuration)
        try CompressedCache.fill(cache)
        try cache.compact().wait()
        let uses = try cache.dictionaryUses()
        cache.close()
        var configuration = CompressedCache.configuration
        configuration.compression = .none
        cache = try scratch.open(configuration)
        CompressedCache.expectRead(cache)
        #expect(try cache.dictionaryUses() == uses)
        try cache.set(Person("new:1", String(repeating: "t", count: 900))).wait()
        let new = try #require(try cache.handle("new:1"))
        #expect(try cache.inspect { try $0.anatomy(of: new)?.dictionaryNumber } == 0)
        try cache.compact().wait()
        #expect(try Set(cache.dictionaryUses().keys) == [0])
        CompressedCache.expectRead(cache)
        try expectClean(cache)
        cache.close()
    }

    @Test("A compaction packs long records, too: as raw chunks, and in a container if they fit")
    func longCompacted() throws {
        let scratch = try Scratch()
        let person = Person("p:1", String(repeating: "a long text ", count: 2_000))
        var cache = try scratch.open(CompressedCache.configuration)
        for number in 0..<20 { cache.set(Person("p:\(number)", person.name)) }
        try cache.set(Message("m:1", from: person)).wait()
        for isCompressed in [false, true] {
            try expectClean(cache)
            cache.close()
            cache = try scratch.open(
                isCompressed
                    ? CompressedCache.configuration : .forTests(budget: .mebibytes(8)))
            let stamp = try cache.state("m:1").stamp
            try cache.compact().wait()
            let handle = try present(cache.handle("p:1"))
            let anatomy = try #require(try cache.inspect { try $0.anatomy(of: handle) })
            #expect((anatomy.dictionaryNumber == 0) == !isCompressed)
            #expect(anatomy.isLong == !isCompressed)
            #expect(try cache.state("m:1").stamp == stamp)
            #expect(cache.read(Message.self, "m:1", access: .peek)?.sender == person)
        }
        try expectClean(cache)
        cache.close()
    }

    @Test("The lowest and the highest compression level can be used", arguments: [1, 12])
    func levels(level: Int) throws {
        var configuration = CompressedCache.configuration
        configuration.compression = .zstd(level: level)
        try CompressedCache.with(configuration) { CompressedCache.expectRead($0) }
    }

    @Test("A compression level that does not exist is refused", arguments: [0, 13, -1, .min, .max])
    func badLevels(level: Int) throws {
        let scratch = try Scratch()
        #expect(
            code { _ = try scratch.open(Configuration(compression: .zstd(level: level))) }
                == .badCompression)
    }
}

extension NormalizedCache {
    fileprivate var dictionaryCountIsRight: Bool { (try? verify().isClean) == true }
}
