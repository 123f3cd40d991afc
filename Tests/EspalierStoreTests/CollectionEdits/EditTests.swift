import EspalierModels
import EspalierRecords
import EspalierStore
import Testing

@Suite("Edits of collections")
struct EditTests {
    private let anna = Person("p:1", "Anna")

    /// Sends edits of `list`, and expects the cache to apply each like an array.
    private func apply(
        _ edits: [CollectionEdit<any SimpleModel>], to list: inout [Remark],
        in cache: NormalizedCache
    ) {
        for edit in edits {
            #expect(cache.result(edit, of: list) == .applied, "\(edit)")
            edit.apply(to: &list)
            #expect(cache.remarks() == list, "\(edit)")
        }
    }

    @Test("Every kind of edit is applied if the sender has what is stored")
    func edits() throws {
        try withCache { cache in
            var list = (0..<4).map(Remark.node)
            cache.setCollection(list, forKey: "c", context: nil)
            apply(
                [
                    .insert([Remark.node(10), Remark("inline", on: anna)], at: 0),
                    .insert([Remark.node(11)], at: 3),
                    .insert([Remark("last")], at: 7), .append([Remark.node(12), Remark.node(0)]),
                    .remove(at: 0),
                    .remove(at: 0), .remove(at: 7), .update(Remark.node(13), at: 0),
                    .update(Remark("inline"), at: 3),
                    .update(Remark.node(14), at: 3), .remove(at: 3), .remove(at: 0), .remove(at: 1),
                    .remove(at: 1),
                    .remove(at: 1), .remove(at: 0), .insert([Remark.node(1)], at: 0),
                    .remove(at: 0),
                    .append([Remark("first")]),
                ], to: &list, in: cache)
        }
    }

    @Test("An append to a list that the sender has empty creates a missing collection")
    func missingCollection() throws {
        try withCache { cache in
            #expect(cache.result(.append([Remark.node(1)]), of: []) == .applied)
            #expect(cache.remarks() == [Remark.node(1)])
            #expect(cache.result(.append([]), of: [], key: "d") == .applied)
            #expect(cache.remarks("d") == [])
            #expect(cache.result(.append([Remark.node(2)]), of: [], key: "d") == .applied)
            #expect(cache.remarks("d") == [Remark.node(2)])
        }
    }

    @Test("An edit that updates an element stores its tree in place of the old one")
    func updating() throws {
        try withCache { cache in
            let list = [Remark("one", on: anna, id: "r:1"), Remark("two", id: "r:2")]
            cache.setCollection(list, forKey: "c", context: nil)
            let ben = Person("p:2", "Ben")
            #expect(
                cache.result(.update(Remark("new", on: ben, id: "r:1"), at: 0), of: list)
                    == .applied)
            #expect(cache.read(Remark.self, "r:1") == Remark("new", on: ben, id: "r:1"))
            #expect(cache.result(.update(Remark("newer", id: "r:1"), at: 0), of: list) == .applied)
            #expect(cache.remarks() == [Remark("newer", id: "r:1"), list[1]])
            #expect(cache.read(Person.self, "p:2") == ben)
        }
    }

    @Test("An edit that removes an element leaves its node stored")
    func removing() throws {
        try withCache { cache in
            let list = (0..<2).map(Remark.node)
            cache.setCollection(list, forKey: "c", context: nil)
            #expect(cache.result(.remove(at: 0), of: list) == .applied)
            #expect(cache.read(Remark.self, "r:0") == list[0])
        }
    }

    @Test("An edit without elements is applied and changes nothing")
    func nothing() async throws {
        try await withCache { cache in
            let list = (0..<3).map(Remark.node)
            try cache.setCollection(list, forKey: "c").wait()
            let changes = cache.changes()
            let before = try cache.statistics().recordsWritten
            for index in 0...3 {
                #expect(cache.result(.insert([], at: index), of: list) == .applied)
            }
            #expect(cache.result(.append([]), of: list) == .applied)
            #expect(cache.result(.insert([], at: 1), of: Array(list.dropLast())) == .outOfDate)
            #expect(cache.result(.update(list[1], at: 1), of: list) == .applied)
            #expect(try cache.statistics().recordsWritten == before)
            #expect(cache.remarks() == list)
            cache.close()
            #expect(await changes.reduce(into: []) { $0.append($1) } == [])
        }
    }

    @Test("Edits tell equal elements apart by their neighbours")
    func duplicates() throws {
        try withCache { cache in
            var list = [0, 0, 1, 0, 0, 0, 1, 1].map(Remark.node)
            cache.setCollection(list, forKey: "c", context: nil)
            apply(
                [
                    .remove(at: 4), .insert([Remark.node(0), Remark.node(1)], at: 1),
                    .update(Remark.node(1), at: 0),
                    .append([Remark.node(0)]), .remove(at: 2), .remove(at: 2),
                ], to: &list, in: cache)
            cache.deleteModel(Remark.node(0), forKey: nil, context: nil)
            list.removeAll { $0 == Remark.node(0) }
            apply([.remove(at: 1), .insert([Remark.node(0)], at: 1)], to: &list, in: cache)
        }
    }

    @Test("Edits are applied at, before and after the borders of segments")
    func borders() throws {
        try withCache { cache in
            var list = (0..<1_300).map { $0 % 7 == 3 ? Remark("inline \($0)") : Remark.node($0) }
            cache.setCollection(list, forKey: "c", context: nil)
            for (number, border) in [0, 1, 511, 512, 513, 1_023, 1_024, 1_025, 1_298].enumerated() {
                let edits: [CollectionEdit<any SimpleModel>] = [
                    .insert([Remark.node(2_000 + number)], at: border),
                    .update(Remark.node(3_000 + number), at: border),
                    .remove(at: border),
                ]
                for edit in edits {
                    #expect(cache.result(edit, of: list) == .applied, "\(edit)")
                    edit.apply(to: &list)
                }
                #expect(cache.remarks() == list, "at \(border)")
            }
            #expect(cache.result(.insert([Remark.node(1)], at: 1_300), of: list) == .applied)
            #expect(cache.remarks() == list + [Remark.node(1)])
        }
    }

    @Test("An edit of 10,000 elements writes at most four records")
    func cost() throws {
        try withCache { cache in
            var list = (0..<10_000).map { Remark.node($0 % 50) }
            try cache.setCollection(list, forKey: "c").wait()
            let edits: [CollectionEdit<any SimpleModel>] = [
                .insert([Remark.node(99)], at: 5_000), .append([Remark.node(99)]),
                .insert([Remark.node(99)], at: 0),
                .update(Remark.node(99), at: 7_777), .update(Remark.node(98), at: 512),
                .remove(at: 3),
            ]
            for edit in edits {
                let before = try cache.statistics().recordsWritten
                #expect(cache.result(edit, of: list) == .applied)
                #expect(try cache.statistics().recordsWritten - before <= 4, "\(edit)")
                edit.apply(to: &list)
            }
            let before = try cache.statistics().recordsWritten
            #expect(cache.result(.remove(at: 3), of: Array(list.dropLast())) == .outOfDate)
            #expect(try cache.statistics().recordsWritten == before)
            #expect(cache.remarks() == list)
        }
    }

    @Test("Edits are applied after a deletion has removed an element by itself")
    func deleted() throws {
        try withCache { cache in
            var list = (0..<700).map(Remark.node)
            try cache.setCollection(list, forKey: "c").wait()
            for number in [0, 3, 511, 512, 699] {
                cache.deleteModel(Remark.node(number), forKey: nil, context: nil)
                list.removeAll { $0.id == "r:\(number)" }
                let edit = CollectionEdit<any SimpleModel>.update(
                    Remark.node(1_000 + number), at: min(number, list.count - 1))
                #expect(cache.result(edit, of: list) == .applied)
                edit.apply(to: &list)
            }
            #expect(cache.remarks() == list)
            #expect(try cache.statistics().tombstones == 0)
        }
    }
}
