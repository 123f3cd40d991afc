import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Restoring")
struct RestorationTests {
    /// Copies what `fill` writes into a new cache, in parts of several sizes, and compares.
    private func expectCopies(
        partsOf sizes: [Int] = [1, 2, 5, .max], _ configuration: Configuration = .forTests,
        _ fill: (NormalizedCache) throws -> Void
    ) throws {
        try withCache(configuration) { source in
            try fill(source)
            let contents = try CacheContents(of: source)
            for size in sizes {
                try withCache(configuration) { copy in
                    try copy.restore(
                        contents.records, inPartsOf: min(size, max(1, contents.records.count)))
                    let copied = try CacheContents(of: copy)
                    #expect(copied.byName == contents.byName, "parts of \(size)")
                    #expect(try copy.statistics().tombstones == source.statistics().tombstones)
                }
            }
        }
    }

    private let feed = Feed(
        "f:1",
        messages: [
            Message("m:1", from: Person("p:1", "Ada")),
            Message("m:2", from: Person("p:2", "Ben"), to: Person("p:1", "Ada")),
        ],
        people: ["a": Person("p:1", "Ada"), "b": Person("p:3", "Cem")],
        pinned: Message("m:1", from: Person("p:1", "Ada")),
        cover: Cover("c", of: Person("p:2", "Ben")))

    @Test("Restoring copies a cache into a new one, whatever the parts")
    func copies() throws {
        try expectCopies { cache in
            cache.set(feed)
            cache.setModel(Remark("inline", on: Person("p:4", "Dan")), forKey: "key:inline")
            cache.setModel(Person("p:1", "Ada"), forKey: "key:reference")
            cache.setCollection(
                [Person("p:1", "Ada"), Person("p:9", "Eva"), Person("p:1", "Ada")], forKey: "all")
            cache.setCollection(
                [Remark("x", on: Person("p:9", "Eva")), Remark("y"), Remark("x")], forKey: "inline")
            try cache.setCollection([Person](), forKey: "none").wait()
        }
    }

    @Test("Restoring keeps the declaring types of a field")
    func declarers() throws {
        try expectCopies { cache in
            cache.set(Person("p:1", "Ada"))
            cache.set(Card("p:1", name: "Ada L.", badge: 7))
            cache.set(Card("p:2", name: nil, badge: nil))
            try cache.set(Person("p:2", "Ben")).wait()
        }
        try withCache { cache in
            cache.set(Person("p:1", "Ada"))
            try cache.set(Card("p:1", name: "Ada L.", badge: 7)).wait()
            let records = try CacheContents(of: cache).records
            try withCache { copy in
                try copy.restore(records).wait()
                // A person without a badge keeps the fields that the card declares.
                try copy.set(Person("p:1", "Eva")).wait()
                #expect(copy.read(Card.self, "p:1") == Card("p:1", name: "Eva", badge: 7))
            }
        }
    }

    @Test(
        """
        Restoring keeps identifiers of any length, records in chunks and collections of many \
        segments
        """)
    func sizes() throws {
        try expectCopies(partsOf: [900, .max]) { cache in
            for length in [500, 509, 510, 511, 512, 2_000] {
                cache.set(
                    Message(
                        String(repeating: "m", count: length),
                        from: Person(String(repeating: "é", count: length), "x"))
                )
            }
            cache.set(Person("p:long", String(repeating: "t", count: 50_000)))
            cache.set(Box("b:wide", (0..<3_000).map { Person("p:\($0)", "\($0)") }))
            for key in ["k", String(repeating: "k", count: 700)] {
                cache.setCollection(
                    (0..<1_500).map { Person("p:\($0 % 1_000)", "\($0 % 1_000)") }, forKey: key)
            }
            try cache.setCollection(
                (0..<600).map { Remark("\($0)", on: Person("p:\($0)", "\($0)")) }, forKey: "i"
            )
            .wait()
        }
    }

    @Test("Restoring works with more kinds of objects than shapes may have numbers")
    func shapes() throws {
        try expectCopies(partsOf: [100]) { cache in
            for number in 0..<100 {
                cache.set(Bag("b:\(number)", ["field\(number)": "x", "all": "y"]))
            }
            try cache.set(Person("p:1", "Ada")).wait()
        }
    }

    @Test("Restoring replaces the records under the same identifiers and keeps the others")
    func replaces() throws {
        try withCache { source in
            source.set(feed)
            try source.setCollection([Person("p:1", "Ada")], forKey: "all").wait()
            let contents = try CacheContents(of: source)
            try withCache { cache in
                cache.set(Card("p:1", name: "Old", badge: 9))
                cache.set(Feed("f:1", messages: [Message("m:old", from: Person("p:old", "Old"))]))
                cache.setCollection((0..<1_000).map { Person("p:\($0)", "\($0)") }, forKey: "all")
                cache.setModel(Person("p:1", "Old"), forKey: "mine")
                try cache.set(Person("p:other", "Other")).wait()
                try cache.restore(contents.records, inPartsOf: 3)
                let restored = try CacheContents(of: cache).byName
                for (name, content) in contents.byName {
                    #expect(restored[name] == content, "\(name)")
                }
                #expect(cache.read(Feed.self, "f:1") == feed)
                #expect(cache.read(Person.self, "p:other")?.name == "Other")
                #expect(cache.modelOutcome(Person.self, forKey: "mine").value?.name == "Ada")
                #expect(cache.collection(of: Person.self, forKey: "all")?.count == 1)
                #expect(cache.read(Person.self, "p:old") != nil)
            }
        }
    }

    @Test("Restoring writes no record that is unchanged, and reports those that it wrote")
    func changes() async throws {
        try await withCache { cache in
            let changes = cache.changes()
            cache.set(feed)
            cache.setModel(Remark("inline"), forKey: "key")
            cache.setCollection([Person("p:1", "Ada"), Person("p:2", "Ben")], forKey: "all")
            try await cache.delete("p:2").committed
            let records = try CacheContents(of: cache).records
            let written = try cache.statistics().recordsWritten
            for size in [records.count, 2] { try cache.restore(records, inPartsOf: size) }
            #expect(try cache.statistics().recordsWritten == written)
            try await cache.set(Person("p:1", "Eva")).committed
            try await cache.setCollection([Person](), forKey: "all").committed
            try await cache.restore(records).committed
            cache.close()
            var last: ChangeSet?
            for await change in changes { last = change }
            #expect(last?.written == ["p:1"])
            #expect(last?.keys == ["all"])
        }
    }

    @Test("Restoring counts as an access of roots, and leaves records below them without a state")
    func access() throws {
        try withCache { cache in
            cache.set(Message("m:1", from: Person("p:1", "Ada")))
            try cache.setModel(Person("p:1", "Ada"), forKey: "k").wait()
            let records = try CacheContents(of: cache).records
            try cache.set(Person("p:2", "Ben")).wait()
            try cache.restore(records).wait()
            let now = try cache.readStorage { Stamp(try $0.counters($1).stamp) }
            #expect(try cache.state("m:1").stamp == now)
            #expect(try cache.state("k", in: .key).stamp == now)
            #expect(try cache.state("p:1").stamp < now)
            try withCache { copy in
                try copy.restore(Array(records.prefix(2))).wait()
                #expect(try copy.state("p:1") == .default)
            }
        }
    }

    @Test("Restoring refuses an empty identifier, and more records than one write may hold")
    func refusals() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            let nothing = RestoredValue(bytes: [0xC0], references: [])
            #expect(code(cache.restore([RestoredRecord("", .key(nothing))])) == .noIdentifier)
            let long = RestoredValue(
                bytes: [UInt8](repeating: 0xC0, count: 200_000), references: [])
            #expect(code(cache.restore([RestoredRecord("k", .key(long))])) == .treeTooLarge)
            let statistics = try cache.statistics()
            #expect(statistics.keys == 0)
        }
    }

    @Test("Restoring into a small budget keeps the records restored last and evicts the first ones")
    func full() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            let shape = Shape(type: "T", fields: ["text"])
            var writer = ByteWriter()
            writer.append(value: String(repeating: "x", count: 900))
            var failures: [CacheError.Code?] = []
            for part in 0..<60 {
                let records = (0..<30).map { number in
                    RestoredRecord(
                        "t:\(part)-\(number)",
                        .node(
                            shape, RestoredValue(bytes: writer.bytes, references: []),
                            isOnCycle: false))
                }
                failures.append(code(cache.restore(records)))
                if part % 10 == 0 { try expectClean(cache) }
            }
            #expect(failures.allSatisfy { $0 == nil })
            #expect(try cache.statistics().directoryBytes <= .mebibytes(1))
            for number in 0..<30 {
                #expect(try cache.handle("t:59-\(number)") != nil)
                #expect(try cache.handle("t:0-\(number)") == nil)
            }
        }
    }
}
