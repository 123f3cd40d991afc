import EspalierInspection
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The first dictionary of a cache")
struct FirstDictionaryTests {
    private static let configuration = CompressedCache.configuration

    /// Stores people in one write: 100 of them have about 14 KB.
    private func store(_ numbers: Range<Int>, in cache: NormalizedCache) throws {
        let people = numbers.map { CompressedCache.message($0).sender }
        for (number, person) in zip(numbers, people) {
            cache.set(Person("Person:\(number)", "\(person.name), number \(number)"))
        }
        try cache.set(Person("Person:last", "the last one")).wait()
    }

    @Test("Processes that store little and end at once train a dictionary together")
    func shortProcesses() throws {
        let scratch = try Scratch()
        for process in 0..<16 {
            let cache = try scratch.open(Self.configuration)
            try store(process * 100..<process * 100 + 100, in: cache)
            cache.close()
        }
        let cache = try scratch.open(Self.configuration)
        #expect(try cache.dictionaries.hasCurrent)
        try expectClean(cache)
        cache.close()
    }

    @Test("The first dictionary compresses the records that were stored before it")
    func repacked() throws {
        try withCache(Self.configuration) { cache in
            try store(0..<1_500, in: cache)
            // A write that waits commits by itself, and then trains.
            try cache.set(Person("Person:last", "the very last one")).wait()
            #expect(try cache.dictionaries.hasCurrent)
            let census = try cache.inspect { try $0.dictionaryCensus() }
            #expect(census.withoutDictionary.records + census.raw.records == 0)
            for number in 0..<1_500 {
                let name = "\(CompressedCache.message(number).sender.name), number \(number)"
                #expect(cache.read(Person.self, "Person:\(number)")?.name == name)
            }
        }
    }

    @Test("Without compression no dictionary is trained")
    func none() throws {
        try withCache(.forTests(budget: .mebibytes(8))) { cache in
            try store(0..<1_500, in: cache)
            #expect(try cache.dictionaries.entries.isEmpty)
        }
    }

    @Test("Every level that is offered stores records that can be read", arguments: [1, 3, 12])
    func levels(level: Int) throws {
        #expect(Compression.fast == .zstd(level: 1) && Compression.standard == .zstd(level: 3))
        let configuration = Configuration.forTests(
            budget: .mebibytes(8), compression: .zstd(level: level))
        try withCache(configuration) { cache in
            try CompressedCache.fill(cache)
            CompressedCache.expectRead(cache)
        }
    }
}
