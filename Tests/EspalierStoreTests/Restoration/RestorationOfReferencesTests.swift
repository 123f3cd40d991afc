import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Restoring references to deleted and lost records")
struct RestorationOfReferencesTests {
    private func node(_ identifier: String, _ references: [RecordReference]) -> RestoredRecord {
        var writer = ByteWriter()
        writer.append(arrayOf: references.count)
        for ordinal in references.indices { writer.append(child: ordinal) }
        let value = RestoredValue(bytes: writer.bytes, references: references)
        return RestoredRecord(
            identifier, .node(Shape(type: "T", fields: ["list"]), value, isOnCycle: false))
    }

    @Test(
        "Restoring makes deleted records tombstones again, one for each number, in whichever write")
    func tombstones() throws {
        try withCache { cache in
            let restoration = Restoration()
            try cache.restore(
                [node("a", [.deleted(1), .deleted(2)]), node("b", [.deleted(1)])], as: restoration
            ).wait()
            try expectClean(cache)
            #expect(try cache.statistics().tombstones == 2)
            try cache.restore([node("c", [.deleted(2), .deleted(3)])], as: restoration).wait()
            try expectClean(cache)
            #expect(try cache.statistics().tombstones == 3)
            // Equal numbers of another export mean other records.
            try cache.restore([node("d", [.deleted(1)])]).wait()
            #expect(try cache.statistics().tombstones == 4)
            try ["a", "b", "c", "d"].forEach { try cache.delete($0).wait() }
            #expect(try cache.statistics().tombstones == 0)
        }
    }

    @Test("Restoring recreates a tombstone that was removed between two writes")
    func vanished() throws {
        try withCache { cache in
            let restoration = Restoration()
            try cache.restore([node("a", [.deleted(1), .lost(1)])], as: restoration).wait()
            try cache.delete("a").wait()
            try cache.restore([node("b", [.deleted(1), .lost(1)])], as: restoration).wait()
            try expectClean(cache)
            #expect(try cache.statistics().tombstones == 1)
            try cache.removeAll().wait()
            try cache.restore([node("c", [.deleted(1), .lost(1)])], as: restoration).wait()
            try expectClean(cache)
            #expect(try cache.statistics().tombstones == 1)
        }
    }

    @Test("A record restored over itself is unchanged, and two numbers never become one tombstone")
    func unchanged() throws {
        try withCache { cache in
            let records = [
                node("a", [.deleted(1), .lost(4), .deleted(2)]), node("b", [.deleted(2)]),
            ]
            try cache.restore(records).wait()
            let written = try cache.statistics().recordsWritten
            try cache.restore(records).wait()
            try cache.restore(records, inPartsOf: 1)
            #expect(try cache.statistics().recordsWritten == written)
            try cache.restore([
                node("a", [.deleted(1), .lost(4), .deleted(2)]), node("b", [.deleted(3)]),
            ]).wait()
            try expectClean(cache)
            #expect(try cache.statistics().tombstones == 3)
        }
    }

    @Test("Two records that shared a tombstone can each get their own, in one write and in two")
    func parted() throws {
        for size in [1, 2] {
            try withCache { cache in
                try cache.restore([node("a", [.deleted(1)]), node("b", [.deleted(1)])]).wait()
                try cache.restore(
                    [node("a", [.deleted(1)]), node("b", [.deleted(2)])], inPartsOf: size)
                #expect(try cache.statistics().tombstones == 2)
            }
        }
    }

    @Test("Restored references to lost records are misses, and those to deleted records are not")
    func reading() throws {
        try withCache { source in
            try source.set(Message("m:1", from: Person("p:1", "Ada"), to: Person("p:2", "Ben")))
                .wait()
            guard
                case .node(let shape, let value, _) = try CacheContents(of: source).records[0]
                    .content
            else {
                throw Missing()
            }
            for (reference, isHit) in [(RecordReference.deleted(1), true), (.lost(1), false)] {
                try withCache { cache in
                    let value = RestoredValue(
                        bytes: value.bytes, references: [.node("p:1"), reference])
                    cache.set(Person("p:1", "Ada"))
                    try cache.restore([RestoredRecord("m:1", .node(shape, value, isOnCycle: false))]
                    ).wait()
                    #expect((cache.read(Message.self, "m:1") != nil) == isHit)
                }
            }
        }
    }

    @Test("Restoring keeps the deleted elements of a collection and the deleted value of a key")
    func elements() throws {
        try withCache { source in
            source.setCollection((0..<1_200).map { Person("p:\($0)", "\($0)") }, forKey: "all")
            source.setModel(Person("p:7", "7"), forKey: "seven")
            for number in stride(from: 0, to: 1_200, by: 7) { source.delete("p:\(number)") }
            try source.setModel(Remark("r", on: Person("p:1", "1")), forKey: "r").wait()
            let contents = try CacheContents(of: source)
            try withCache { cache in
                for _ in 0..<2 {
                    try cache.restore(contents.records, inPartsOf: 400)
                    #expect(try CacheContents(of: cache).byName == contents.byName)
                    #expect(try cache.statistics().tombstones == source.statistics().tombstones)
                }
                #expect(try cache.statistics().recordsUnchanged >= contents.records.count)
            }
        }
    }
}
