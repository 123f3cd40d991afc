import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Misses are counted by reason and by the type that was asked for")
struct MissCountTests {
    private let anna = Person("p:1", "Anna")

    @Test("Misses at every level are counted under the type asked for, for the life of the cache")
    func reopening() throws {
        let scratch = try Scratch()
        for round in 1...3 {
            let cache = try scratch.open()
            try cache.set(Message("m:1", from: anna)).wait()
            #expect(cache.read(Message.self, "m:1") != nil)
            #expect(cache.read(Message.self, "m:9") == nil)
            #expect(cache.modelOutcome(Person.self, forKey: "nobody").reason == .notFound)
            #expect(cache.collection(of: Person.self, forKey: "none") == nil)
            #expect(cache.read(Box<[Int]>.self, "p:1") == nil)
            try cache.damage("p:1")
            #expect(cache.read(Message.self, "m:1") == nil)
            #expect(cache.read(Person.self, "p:1", access: .peek) == nil)
            let statistics = try cache.statistics()
            #expect(
                statistics.missesByType == [
                    "Message": ["notFound": round, "damaged": round],
                    "Person": ["notFound": 2 * round, "damaged": round],
                    "Box<Array<Int>>": ["incomplete": round],
                ])
            #expect(
                statistics.misses == [
                    "notFound": 3 * round, "damaged": 2 * round, "incomplete": round,
                ])
            #expect(statistics.hits == round)
            // The types have the names that the statistics of types use.
            #expect(Set(statistics.types.map(\.name)) == ["Message", "Person"])
            cache.close()
        }
        let cache = try scratch.open()
        try cache.removeAll().wait()
        #expect(try cache.statistics().missesByType["Person"] == ["notFound": 6, "damaged": 3])
        cache.close()
    }

    @Test("Miss counts have bounded types and names, and lose no miss")
    func bounds() {
        var counts = MissCounts()
        for number in 0..<1_000 { counts.add(to: "notFound", of: "Type\(number)") }
        counts.add(3, to: "damaged", of: String(repeating: "x", count: 97))
        counts.add(to: "damaged", of: "Type0")
        #expect(counts.counts.count == MissCounts.typeLimit)
        #expect(counts.counts["Type0"]?.counts == ["notFound": 1, "damaged": 1])
        #expect(counts.counts["other"]?.counts == ["notFound": 745, "damaged": 3])
        var twice = counts
        twice.merge(counts)
        #expect(twice.counts.values.reduce(0) { $0 + $1.total } == 2_008)
    }

    private func back(_ bytes: [UInt8]) throws -> MissCounts {
        try ByteReader.reading(bytes) { try MissCounts(reading: &$0) }
    }

    @Test(
        """
        Miss counts are decoded as they were encoded, or as much as fits, types with most misses \
        first
        """
    )
    func form() throws {
        var counts = MissCounts()
        #expect(try back(counts.form(atMost: 500)) == counts)
        for number in 1...100 {
            counts.add(
                UInt64(number), to: number % 2 == 0 ? "lost" : "notFound", of: "Type\(number)")
        }
        #expect(try back(counts.form(atMost: 4_000)) == counts)
        for room in [0, 10, 200, 300, 700] {
            let bytes = counts.form(atMost: room)
            #expect(bytes.count <= room)
            let less = try back(bytes)
            guard !less.isEmpty else { continue }
            #expect(less.counts.values.reduce(0) { $0 + $1.total } == 5_050)
            #expect(room < 300 || less.counts["Type100"]?.counts == ["lost": 100])
            #expect(less.counts["Type1"] == nil)
        }
        #expect(try !back(counts.form(atMost: 300)).isEmpty)
        #expect(throws: FormatError.self) { try back([1, 1, 0x61, 1, 1, 0x54, 1, 5, 1]) }
    }

    @Test("Miss counts fit a page together with all other counters, whatever was counted")
    func fullest() throws {
        var counters = LifetimeCounters()
        for number in 0..<300 {
            for reason in ["notFound", "damaged", "lost"] {
                counters.missesByType.add(
                    .max, to: reason, of: "\(number)" + String(repeating: "x", count: 90))
            }
        }
        for bucket in 0..<LatencyHistogram.bucketCount {
            counters.readLatency.add(.max, to: bucket)
        }
        #expect(counters.bytes.count <= LifetimeCounters.longestForm)
        let back = try ByteReader.reading(counters.bytes) { try LifetimeCounters(reading: &$0) }
        #expect(back.missesByType.counts.count > 2)
    }
}
