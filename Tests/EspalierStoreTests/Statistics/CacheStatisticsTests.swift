import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Statistics report what a cache holds and has done")
struct CacheStatisticsTests {
    private func fill(_ cache: NormalizedCache) throws {
        for number in 1...20 {
            cache.set(Message("m:\(number)", from: Person("p:\(number % 4)", "Ada")))
        }
        try cache.setModel(Person("p:1", "Ada"), forKey: "k").wait()
    }

    @Test("Statistics count the contents by kind and by type")
    func holdings() throws {
        try withCache { cache in
            #expect(try cache.statistics().records == 0)
            #expect(try cache.statistics().types.isEmpty)
            try fill(cache)
            let statistics = try cache.statistics()
            #expect(
                (statistics.nodes, statistics.keys, statistics.collections, statistics.segments)
                    == (24, 1, 0, 0))
            #expect(statistics.records == 25)
            #expect(statistics.roots == 21)
            #expect(
                statistics.types == [
                    TypeStatistics(name: "Message", records: 20),
                    TypeStatistics(name: "Person", records: 4),
                ])
            try cache.delete("m:1").wait()
            #expect(try cache.statistics().types.first?.records == 19)
        }
    }

    @Test(
        "A record of several types counts for each, and types with equal counts are ordered by name"
    )
    func projections() throws {
        try withCache { cache in
            cache.set(Person("p:1", "Ada"))
            try cache.set(Card("p:1", name: "Ada", badge: 4)).wait()
            #expect(
                try cache.statistics().types == [
                    TypeStatistics(name: "Card", records: 1),
                    TypeStatistics(name: "Person", records: 1),
                ])
        }
    }

    @Test("Every figure of bytes, from the records to the budget, is within the next")
    func bytes() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try fill(cache)
        let statistics = try cache.statistics()
        #expect(statistics.rawBytes > ByteCount(0))
        #expect(statistics.recordBytes > ByteCount(0))
        #expect(statistics.recordBytes < statistics.pageBytes)
        #expect(statistics.pageBytes == ByteCount(statistics.pagesUsed * statistics.pageSize.bytes))
        #expect(statistics.pageBytes <= statistics.fileBytes)
        #expect(statistics.fileBytes < statistics.directoryBytes)
        #expect(statistics.directoryBytes <= statistics.budget)
        #expect(statistics.fill > 0 && statistics.fill < 0.01)
        let file = try cache.generation.name + "/data.mdb"
        let size =
            try FileManager.default.attributesOfItem(atPath: scratch.directory + "/" + file)[.size]
            as? NSNumber
        #expect(size?.intValue == statistics.fileBytes.bytes)
        cache.close()
    }

    @Test("Statistics count reads by outcome and measure how long they took")
    func reads() throws {
        try withCache { cache in
            #expect(try cache.statistics().hitRate == nil)
            #expect(try cache.statistics().readLatency == LatencySummary())
            try fill(cache)
            for _ in 0..<3 { #expect(cache.read(Message.self, "m:1") != nil) }
            #expect(cache.read(Message.self, "m:99") == nil)
            #expect(cache.read(Person.self, "m:2") == nil)
            let statistics = try cache.statistics()
            #expect(statistics.hits == 3)
            #expect(statistics.misses == ["notFound": 1, "incomplete": 1])
            #expect(statistics.hitRate == 0.6)
            #expect(statistics.readLatency.count == 5)
            let (median, longest) = (
                statistics.readLatency.p50 ?? .zero, statistics.readLatency.maximum ?? .zero
            )
            #expect(.zero < median && median <= longest)
            #expect(LatencySummary(statistics.readLatencies) == statistics.readLatency)
        }
    }

    @Test("Statistics of what was done outlive the process, as far as a commit followed")
    func lifetime() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        try fill(cache)
        #expect(cache.read(Message.self, "m:1") != nil)
        #expect(cache.read(Message.self, "m:99") == nil)
        try cache.set(Person("p:9", "Zoe")).wait()
        let before = try cache.statistics()
        cache.close()
        cache = try scratch.open()
        let after = try cache.statistics()
        #expect(after.hits == 1)
        #expect(after.misses == ["notFound": 1])
        #expect(after.readLatencies == before.readLatencies)
        #expect(after.commits >= before.commits - 1)
        #expect(cache.read(Message.self, "m:1") != nil)
        #expect(try cache.statistics().hits == 2)
        try cache.set(Person("p:9", "Zora")).wait()
        #expect(try cache.statistics().hits == 2)
        cache.close()
    }

    @Test("Statistics count commits and measure how long they took")
    func commits() throws {
        try withCache { cache in
            for number in 1...5 { try cache.set(Person("p:\(number)", "Ada")).wait() }
            // The ticket of the last commit may succeed before the commit is counted.
            let statistics = try cache.statistics()
            #expect((4...5).contains(statistics.commits))
            #expect(statistics.commitLatency.count == statistics.commits)
            #expect(statistics.writes == 5)
        }
    }

    @Test("Damaged statistics cost only the figures, and the next commit begins new ones")
    func damagedFigures() throws {
        try withCache { cache in
            try fill(cache)
            #expect(cache.read(Message.self, "m:1") != nil)
            try cache.set(Person("p:9", "Zoe")).wait()
            try cache.tamper {
                try $0.put($1.info, LifetimeCounters.key, [UInt8](repeating: 0xFF, count: 40))
            }
            #expect(try cache.statistics().hits == 0)
            #expect(try cache.statistics().nodes == 25)
            #expect(cache.read(Message.self, "m:1") != nil)
            try cache.set(Person("p:9", "Zora")).wait()
            #expect(try cache.statistics().hits == 1)
        }
    }

    @Test("The types leave out a damaged shape")
    func damagedShape() throws {
        try withCache(isDamaged: true) { cache in
            try fill(cache)
            try cache.tamper { transaction, keyspaces in
                try transaction.put(keyspaces.shapes, UInt64(1), [1, 2, 3])
                try transaction.put(keyspaces.shapes, [UInt8](repeating: 9, count: 3), [1])
            }
            #expect(try cache.statistics().types.count == 1)
        }
    }

    @Test("Statistics name the read with the oldest snapshot")
    func oldestReader() throws {
        try withCache { cache in
            try fill(cache)
            #expect(try cache.statistics().oldestReader == nil)
            try cache.readStorage { _, _ in
                for number in 1...3 { try cache.set(Person("p:\(number)", "Ben \(number)")).wait() }
                let oldest = try cache.statistics().oldestReader
                #expect(oldest?.processIdentifier == Int(ProcessInfo.processInfo.processIdentifier))
                #expect((oldest?.commitsBehind ?? 0) >= 3)
            }
            #expect(try cache.statistics().oldestReader == nil)
        }
    }

    @Test("In JSON durations are seconds and sizes are numbers of bytes")
    func units() throws {
        try withCache { cache in
            try fill(cache)
            _ = cache.read(Message.self, "m:1")
            let data = try JSONEncoder().encode(cache.statistics())
            let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let latency = try #require(json["readLatency"] as? [String: Any])
            let maximum = try #require(latency["maximum"] as? Double)
            #expect(maximum > 0 && maximum < 60)
            #expect((json["budget"] as? Int) == cache.budget.bytes)
            #expect(json["pendingWrites"] as? Int == 0)
        }
    }

    @Test("The text for Prometheus has a line for each figure, with units and escaped labels")
    func prometheus() throws {
        try withCache { cache in
            try fill(cache)
            _ = cache.read(Message.self, "m:1")
            _ = cache.read(Message.self, "nothing")
            let text = try cache.statistics().prometheusText(
                labels: ["cache": #"a "b"\c"#])
            let lines = text.split(separator: "\n")
            for line in [
                "# TYPE espalier_hits_total counter",
                #"espalier_hits_total{cache="a \"b\"\\c"} 1"#,
                #"espalier_misses_total{cache="a \"b\"\\c",reason="notFound"} 1"#,
                #"espalier_budget_bytes{cache="a \"b\"\\c"} \#(cache.budget.bytes)"#,
                #"espalier_read_seconds_count{cache="a \"b\"\\c"} 2"#,
            ] {
                #expect(lines.contains { $0 == line }, "\(line)\n\(text)")
            }
            for line in lines where !line.hasPrefix("#") {
                #expect(line.split(separator: " ").last.flatMap { Double($0) } != nil, "\(line)")
            }
        }
    }

    @Test("Statistics can be encoded and decoded, and a closed cache has none")
    func coding() throws {
        try withCache { cache in
            try fill(cache)
            _ = cache.read(Message.self, "m:1")
            let statistics = try cache.statistics()
            let data = try JSONEncoder().encode(statistics)
            #expect(try JSONDecoder().decode(CacheStatistics.self, from: data) == statistics)
        }
        let scratch = try Scratch()
        let cache = try scratch.open()
        cache.close()
        #expect(code { _ = try cache.statistics() } == .closed)
    }
}
