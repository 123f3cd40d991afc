import EspalierInspection
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Restoring in parts")
struct RestorationPartsTests {
    @Test(
        """
        A node that is not restored yet counts as lost, and trees that need it miss until it is \
        restored
        """)
    func placeholders() throws {
        try withCache { source in
            try source.set(Message("m:1", from: Person("p:1", "Ada"), to: Person("p:2", "Ben")))
                .wait()
            let records = try CacheContents(of: source).records
            try withCache { cache in
                try cache.restore([records[0]]).wait()
                try expectClean(cache)
                #expect(try cache.statistics().nodes == 1)
                #expect(cache.readOutcome(Message.self, "m:1").reason?.name == "lost")
                #expect(cache.readOutcome(Person.self, "p:1").reason?.name == "lost")
                #expect(try cache.state("p:1") == StateEntry(referenceCount: 1, flags: .lost))

                try cache.restore([records[1]]).wait()
                try expectClean(cache)
                #expect(cache.read(Person.self, "p:1")?.name == "Ada")
                #expect(try cache.state("p:1") == .default)

                // Or until it is written.
                try cache.set(Person("p:2", "Ben")).wait()
                try expectClean(cache)
                #expect(cache.read(Message.self, "m:1")?.reader?.name == "Ben")
            }
        }
    }

    @Test("A node that stays lost can be deleted, and is removed when no record refers to it")
    func deletingPlaceholders() throws {
        try withCache { source in
            try source.set(Message("m:1", from: Person("p:1", "Ada"), to: Person("p:2", "Ben")))
                .wait()
            let message = try CacheContents(of: source).records[0]
            try withCache { cache in
                try cache.restore([message]).wait()
                try cache.delete("p:2").wait()
                try expectClean(cache)
                try cache.set(Person("p:1", "Ada")).wait()
                #expect(cache.read(Message.self, "m:1")?.reader == nil)
                try cache.delete("m:1").wait()
                try expectClean(cache)
                #expect(try cache.statistics().tombstones == 0)
            }
            try withCache { cache in
                try cache.restore([message]).wait()
                try cache.delete("m:1").wait()
                try expectClean(cache)
                try cache.restore([message]).wait()
                try expectClean(cache)
                try cache.set(Person("p:1", "Ada")).wait()
            }
        }
    }

    @Test("A collection can be restored in parts")
    func collections() throws {
        try withCache { source in
            let people = (0..<1_700).map { Person("p:\($0 % 900)", "\($0 % 900)") }
            source.setCollection(people, forKey: "all")
            try source.delete("p:5").wait()
            let contents = try CacheContents(of: source)
            guard case .collection(let elements)? = contents.records.last?.content else {
                throw Missing()
            }
            try withCache { cache in
                try cache.setCollection((0..<3_000).map { Person("o:\($0)", "") }, forKey: "all")
                    .wait()
                let restoration = Restoration()
                try cache.restore(contents.records.dropLast(), as: restoration).wait()
                for (number, start) in stride(from: 0, to: elements.count, by: 300).enumerated() {
                    let part = Array(elements[start..<min(start + 300, elements.count)])
                    let content =
                        number == 0
                        ? RestoredRecord.Content.collection(part)
                        : .moreElements(part, behind: start)
                    try cache.restore([RestoredRecord("all", content)], as: restoration).wait()
                    try expectClean(cache)
                }
                #expect(
                    try CacheContents(of: cache).byName["collection all"]
                        == contents.byName["collection all"])
                #expect(cache.collection(of: Person.self, forKey: "all")?.count == 1_698)
                // Equal numbers mean the same tombstone, in every part.
                #expect(try cache.statistics().tombstones == 1)
            }
        }
    }

    @Test(
        """
        A part of a collection that has changed since the parts before is refused, and so is a \
        record restored twice
        """
    )
    func changedParts() throws {
        try withCache { cache in
            let part = RestoredValue(bytes: [0x07], references: [])
            func restore(_ content: RestoredRecord.Content) throws {
                try cache.restore([RestoredRecord("k", content)]).wait()
            }
            try restore(.collection([part]))
            #expect(throws: CacheError.self) { try restore(.moreElements([part], behind: 2)) }
            #expect(throws: CacheError.self) { try restore(.moreElements([part], behind: 0)) }
            try restore(.moreElements([part], behind: 1))
            let twice = RestoredRecord("k", .collection([part]))
            #expect(throws: CacheError.self) { try cache.restore([twice, twice]).wait() }
            try expectClean(cache)
            #expect(try CacheContents(of: cache).records.first?.content.elementCount == 2)
        }
    }

    private static func pair(_ identifier: String, _ references: [RecordReference])
        -> RestoredRecord
    {
        let shape = Shape(type: "Pair", fields: ["x", "y"].prefix(references.count).map(\.self))
        let children = (0..<references.count).flatMap { [0xD4, 0x01, UInt8($0)] as [UInt8] }
        return RestoredRecord(
            identifier,
            .node(shape, RestoredValue(bytes: children, references: references), isOnCycle: false))
    }

    @Test("A lost reference never takes the handle that is reserved for a node")
    func namedStubs() throws {
        try withCache { cache in
            try cache.restore([Self.pair("A", [.node("B")])]).wait()
            // The same ordinal, next to the node for which it reserved a handle.
            try cache.restore([Self.pair("A", [.lost(1), .node("B")])]).wait()
            try expectClean(cache)
        }
        try withCache { cache in
            try cache.restore([Self.pair("A", [.node("B")])]).wait()
            try cache.restore([Self.pair("A", [.lost(1)]), Self.pair("C", [.lost(1)])]).wait()
            try cache.set(Person("B", "Ben")).wait()
            try expectClean(cache)
            let contents = try CacheContents(of: cache)
            #expect(contents.byName["node A"]?.contains("lost") == true)
            #expect(contents.byName["node C"]?.contains("lost") == true)
        }
    }

    @Test("A lost record without an identifier is removed with the last reference to it")
    func namelessStubs() throws {
        try withCache { cache in
            for _ in 0..<10 {
                try cache.restore([Self.pair("A", [.lost(1), .deleted(1)])]).wait()
                try expectClean(cache)
                try cache.restore([Self.pair("A", [])]).wait()
                try expectClean(cache)
            }
            try cache.delete("A").wait()
            try expectClean(cache)
            let statistics = try cache.statistics()
            #expect((statistics.roots, statistics.tombstones) == (0, 0))
        }
    }

    @Test("Restoring replaces a damaged record and keeps the references to it")
    func damage() throws {
        try withCache(isDamaged: true) { cache in
            try cache.set(Message("m:1", from: Person("p:1", "Ada"), to: Person("p:2", "Ben")))
                .wait()
            let records = try CacheContents(of: cache).records
            try cache.damage("p:1")
            // Restoring a reference to a damaged record does not change that record.
            try cache.restore([records[0]]).wait()
            #expect(try !cache.verify().isClean)
            try cache.damage("m:1")
            try cache.restore(records).wait()
            try expectClean(cache)
            #expect(cache.read(Message.self, "m:1")?.sender.name == "Ada")
        }
    }
}

extension RestoredRecord.Content {
    fileprivate var elementCount: Int? {
        if case .collection(let elements) = self { elements.count } else { nil }
    }
}
