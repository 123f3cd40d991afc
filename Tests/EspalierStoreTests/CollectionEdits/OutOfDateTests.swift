import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Edits that are out of date")
struct OutOfDateTests {
    private static let list = (0..<6).map(Remark.node)

    /// Returns an edit of each kind at `index`.
    private static func edits(at index: Int) -> [CollectionEdit<any SimpleModel>] {
        [
            .insert([Remark.node(90)], at: index), .update(Remark.node(91), at: index),
            .remove(at: index),
        ]
    }

    /// Sends edits at each of `places` by a sender who has `shown` to a cache with `list`. Expects
    /// them to be out of date and to change nothing.
    private func expectOutOfDate(
        showing shown: [Remark], places: ClosedRange<Int>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try withCache { cache in
            try cache.setCollection(Self.list, forKey: "c").wait()
            let before = try cache.statistics()
            for place in places {
                for edit in Self.edits(at: place) {
                    #expect(
                        cache.result(edit, of: shown) == .outOfDate, "\(edit)",
                        sourceLocation: sourceLocation)
                }
            }
            let after = try cache.statistics()
            #expect(after.writes == before.writes && after.recordsWritten == before.recordsWritten)
            #expect(after.nodes == Self.list.count && after.segments == before.segments)
            #expect(cache.remarks() == Self.list)
        }
    }

    @Test("An edit by a sender with one element more or less than is stored is out of date")
    func counts() throws {
        try expectOutOfDate(showing: Self.list + [Remark.node(7)], places: 0...6)
        try expectOutOfDate(showing: Array(Self.list.dropLast()), places: 0...4)
        try expectOutOfDate(showing: Array(Self.list.dropFirst()), places: 0...4)
        try expectOutOfDate(showing: [], places: 0...0)
        try withCache { cache in
            cache.setCollection(Self.list, forKey: "c")
            for shown in [Self.list + [Remark.node(7)], Array(Self.list.dropFirst()), []] {
                #expect(cache.result(.append([Remark.node(8)]), of: shown) == .outOfDate)
            }
            #expect(cache.remarks() == Self.list)
        }
    }

    @Test("An edit with another order or element at or beside its place is out of date")
    func order() throws {
        var swapped = Self.list
        swapped.swapAt(2, 3)
        try expectOutOfDate(showing: swapped, places: 1...4)
        var replaced = Self.list
        replaced[3] = Remark.node(33)
        try expectOutOfDate(showing: replaced, places: 2...4)
        try expectOutOfDate(showing: Self.list.reversed(), places: 0...5)
        // An edit farther away does not depend on the difference.
        try withCache { cache in
            cache.setCollection(Self.list, forKey: "c")
            #expect(cache.result(.remove(at: 0), of: swapped) == .applied)
            #expect(cache.remarks() == Array(Self.list.dropFirst()))
        }
    }

    @Test("An edit is out of date if only one side has an identifier for the element")
    func inlineElements() throws {
        try withCache { cache in
            let list = [
                Remark("a"), Remark.node(1), Remark("b", on: Person("p:1", "Anna")), Remark.node(2),
            ]
            cache.setCollection(list, forKey: "c", context: nil)
            for place in list.indices {
                var shown = list
                shown[place] = list[place].id == nil ? Remark("x", id: "p:1") : Remark("x")
                for near in max(0, place - 1)...min(list.count - 1, place + 1) {
                    for edit in Self.edits(at: near) {
                        #expect(cache.result(edit, of: shown) == .outOfDate)
                    }
                }
            }
            #expect(cache.remarks() == list)
            // Inline elements are not told apart.
            #expect(
                cache.result(.remove(at: 1), of: [Remark("x"), list[1], Remark("y"), list[3]])
                    == .applied)
        }
    }

    @Test(
        "Only the exact count and neighbours make an edit apply",
        arguments: [[], [1], [1, nil], [nil, 1, 1]])
    func everyExpectation(numbers: [Int?]) throws {
        let list = numbers.map { $0.map(Remark.node) ?? Remark("inline") }
        let names = [nil, "r:1", "r:2"]
        try withCache { cache in
            cache.setCollection(list, forKey: "c", context: nil)
            for count in max(0, list.count - 1)...list.count + 1 {
                for place in 0...list.count {
                    for (previous, current, next) in names.flatMap({ a in
                        names.flatMap { b in names.map { c in (a, b, c) } }
                    }) {
                        let expected = CollectionNeighbours(
                            count: count, previous: previous, current: current, next: next)
                        let isRight = expected == CollectionNeighbours(list, around: place)
                        let edits =
                            Self.edits(at: place)
                            + (place == list.count ? [.append([Remark.node(92)])] : [])
                        for (number, edit) in edits.enumerated() {
                            let isInside = place < list.count || number == 0 || number == 3
                            let result = cache.result(edit, expecting: expected)
                            #expect(
                                (result == .applied) == (isRight && isInside),
                                "\(edit), expecting \(expected)")
                            if result == .applied {
                                cache.setCollection(list, forKey: "c", context: nil)
                            }
                        }
                    }
                }
            }
            #expect(cache.remarks() == list)
        }
    }

    @Test("An edit at an index outside of the collection is out of date, however far outside")
    func outside() throws {
        try withCache { cache in
            cache.setCollection(Self.list, forKey: "c")
            for index in [.min, .min + 1, -2, -1, 7, .max - 1, .max] as [Int] {
                for edit in Self.edits(at: index) {
                    #expect(cache.result(edit, of: Self.list) == .outOfDate)
                }
                let far = CollectionNeighbours(count: index, previous: nil, current: nil, next: nil)
                for edit in Self.edits(at: index) + [.append([])] {
                    #expect(cache.result(edit, expecting: far) == .outOfDate)
                }
            }
            let end = CollectionNeighbours(count: 6, previous: "r:5", current: nil, next: nil)
            #expect(cache.result(.update(Remark.node(1), at: 6), expecting: end) == .outOfDate)
            #expect(cache.result(.remove(at: 6), expecting: end) == .outOfDate)
            #expect(cache.remarks() == Self.list)
        }
    }

    @Test("An edit of a missing or deleted collection is out of date")
    func missing() throws {
        try withCache { cache in
            func expectOutOfDate() {
                for edit in Self.edits(at: 0) {
                    #expect(cache.result(edit, of: []) == .outOfDate)
                    #expect(cache.result(edit, of: Self.list) == .outOfDate)
                }
                #expect(cache.result(.append([Remark.node(1)]), of: Self.list) == .outOfDate)
                #expect(cache.result(.insert([], at: 0), of: []) == .outOfDate)
                #expect(cache.remarks() == nil)
            }
            expectOutOfDate()
            #expect(try cache.statistics().records == 0)
            try cache.setCollection(Self.list, forKey: "c").wait()
            cache.deleteCollection(forKey: "c")
            expectOutOfDate()
            cache.setCollection(Self.list, forKey: "c")
            cache.removeAll()
            expectOutOfDate()
            // A node or a key of that name is not a collection.
            cache.setModel(Remark.node(1), forKey: "c")
            expectOutOfDate()
        }
    }

    @Test("An edit beside a deleted element is out of date, also after the element is set again")
    func deletedNeighbour() throws {
        try withCache { cache in
            for number in 1...3 {
                cache.setCollection(Self.list, forKey: "c")
                cache.delete("r:\(number)")
                for edit in Self.edits(at: 2) {
                    #expect(cache.result(edit, of: Self.list) == .outOfDate)
                }
                cache.set(Remark.node(number))
                for edit in Self.edits(at: 2) {
                    #expect(cache.result(edit, of: Self.list) == .outOfDate)
                }
                #expect(cache.remarks() == Self.list.filter { $0.id != "r:\(number)" })
            }
        }
    }

    @Test("An edit beside a large element that is deleted in steps is out of date")
    func largeNeighbour() throws {
        try withCache { cache in
            var list = Self.list
            list[2] = Remark(String(repeating: "long ", count: 40_000), id: "r:2")
            cache.setCollection(list, forKey: "c")
            #expect(cache.result(.update(list[1], at: 1), of: list) == .applied)
            try withBlockedWriter(cache) {
                cache.delete("r:2")
                cache.set(Remark.node(50))
            }
            #expect(cache.result(.update(list[1], at: 1), of: list) == .outOfDate)
            list.remove(at: 2)
            #expect(cache.result(.update(list[1], at: 1), of: list) == .applied)
        }
    }

    @Test("An edit is out of date if identifiers differ in one byte, however long or alike")
    func identifiers() throws {
        let long = String(repeating: "x", count: 600)
        let pairs = [
            ("e\u{301}", "\u{E9}"), (long + "a", long + "b"), (long, long + "x"), ("a\u{0}", "a"),
            ("a", ""),
            (String(repeating: "y", count: 510), String(repeating: "y", count: 511)),
        ]
        for (stored, other) in pairs {
            try withCache { cache in
                let list = [
                    Remark("first", id: "r:0"), Remark("text", id: stored),
                    Remark("last", id: "r:1"),
                ]
                cache.setCollection(list, forKey: "c")
                if !other.isEmpty { cache.set(Remark("other", id: other)) }
                var shown = list
                shown[1].id = other
                for place in 0...2 {
                    for edit in Self.edits(at: place) {
                        #expect(cache.result(edit, of: shown) == .outOfDate)
                    }
                }
                #expect(
                    cache.result(.update(Remark("new", id: stored), at: 1), of: list) == .applied)
            }
        }
    }
}
