import EspalierLMDB
import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Edits of damaged or missing collections")
struct StaleStorageTests {
    private static let list = (0..<1_300).map(Remark.node)

    /// Returns the segments of the collection.
    private func segments(_ cache: NormalizedCache) throws -> [Handle] {
        let record = try #require(try cache.record(present(cache.handle("c", in: .collection))))
        return try SegmentList(record).segments.map(\.handle)
    }

    /// Expects `edit` to be out of date, and to be applied after the whole collection was set.
    private func expectRepaired(_ edit: CollectionEdit<any SimpleModel>, in cache: NormalizedCache)
        throws
    {
        #expect(cache.result(edit, of: Self.list) == .outOfDate)
        try cache.setCollection(Self.list, forKey: "c").wait()
        #expect(cache.result(edit, of: Self.list) == .applied)
    }

    @Test(
        "An edit at or beside a damaged segment is out of date until the collection is set",
        arguments: [511, 512, 700, 1_023, 1_024])
    func damagedSegment(place: Int) throws {
        try withCache { cache in
            try cache.setCollection(Self.list, forKey: "c").wait()
            try cache.damage(segments(cache)[1])
            try expectRepaired(.update(Remark.node(9_999), at: place), in: cache)
        }
    }

    @Test("An edit of a collection with a lost segment is out of date until the collection is set")
    func lostSegment() throws {
        try withCache { cache in
            try cache.setCollection(Self.list, forKey: "c").wait()
            try cache.damage(segments(cache)[2])
            #expect(cache.remarks() == nil)
            try cache.set(Remark("other", id: "r:other")).wait()
            try expectRepaired(.append([Remark.node(9_999)]), in: cache)
        }
    }

    @Test("An edit of a segment that lacks elements that its collection lists is out of date")
    func shortSegment() throws {
        try withCache(isDamaged: true) { cache in
            try cache.setCollection(Self.list, forKey: "c").wait()
            let segments = try segments(cache)
            let record = try #require(try cache.record(segments[0]))
            let content = try SegmentContent.encode(SegmentContent.decode(record).prefix(5))
            try cache.replaceRecord(
                segments[0],
                by: RecordLayout.build(
                    handle: segments[0], nameSpace: .segment, shape: .none,
                    children: content.children, identifier: "", values: content.values))
            for index in [3, 5, 100, 511] {
                for edit: CollectionEdit<any SimpleModel> in [
                    .update(Remark.node(1), at: index), .remove(at: index), .insert([], at: index),
                ] {
                    #expect(cache.result(edit, of: Self.list) == .outOfDate)
                }
            }
            #expect(code(cache.update(Remark.node(1), at: 500, inCollection: "c")) == .notFound)
        }
    }

    @Test("An edit of a damaged collection is out of date until the collection is set")
    func damagedCollection() throws {
        try withCache { cache in
            try cache.setCollection(Self.list, forKey: "c").wait()
            try cache.damage("c", in: .collection)
            try expectRepaired(.remove(at: 3), in: cache)
        }
    }

    @Test("An edit beside a lost element is out of date unless it writes that element itself")
    func lostNeighbour() throws {
        try withCache { cache in
            try cache.setCollection(Self.list, forKey: "c").wait()
            try cache.damage("r:5")
            #expect(cache.remarks() == nil)
            try cache.set(Remark("other", id: "r:other")).wait()
            #expect(try cache.state("r:5").flags.contains(.lost))
            #expect(cache.result(.update(Remark.node(5), at: 5), of: Self.list) == .applied)
            #expect(cache.remarks() == Self.list)
            try cache.damage("r:5")
            #expect(cache.remarks() == nil)
            try cache.set(Remark("another", id: "r:other")).wait()
            try expectRepaired(.insert([Remark.node(9_999)], at: 5), in: cache)
        }
    }

    @Test("An edit beside an element with a wrong or missing index entry is out of date")
    func damagedName() throws {
        try withCache(isDamaged: true) { cache in
            try cache.setCollection(Self.list, forKey: "c").wait()
            let other = try present(cache.handle("r:6"))
            try cache.tamperIndex { $0.remove("r:5") }
            try expectRepaired(.update(Remark.node(9_999), at: 4), in: cache)
            try cache.tamperIndex { $0.set("r:3", to: other) }
            try expectRepaired(.update(Remark.node(9_998), at: 4), in: cache)
        }
    }

    @Test("An edit of an evicted collection is out of date until the collection is set")
    func evicted() throws {
        try withCache { cache in
            try cache.setCollection(Self.list, forKey: "c").wait()
            try cache.submit { _ in .evict([.init(.collection, "c")]) }
                .wait()
            try expectRepaired(.append([Remark.node(9_999)]), in: cache)
        }
    }
}
