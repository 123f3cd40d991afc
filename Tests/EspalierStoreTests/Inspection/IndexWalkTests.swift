import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("An inspection walks the index in order")
struct IndexWalkTests {
    private func entries(
        _ cache: NormalizedCache, _ nameSpace: NameSpace = .node, startingWith prefix: String = "",
        limit: Int = .max
    ) throws -> [IndexEntry] {
        try cache.inspect { inspection throws in
            var found: [IndexEntry] = []
            try inspection.forEachEntry(of: nameSpace, startingWith: prefix) { entry in
                found.append(entry)
                return found.count < limit
            }
            return found
        }
    }

    private static func long(_ end: String, count: Int = 600) -> String {
        String(repeating: "x", count: count) + end
    }

    private static let identifiers =
        [
            "a", "ab", "abc", "b", "é", "e\u{301}", "日本", "日本語", "😀", "\u{0}", "x",
            long("", count: 509),
            long("", count: 510),
        ] + [long("", count: 511), long("a"), long("b"), String(repeating: "é", count: 400)]

    private func precedes(_ a: String, _ b: String) -> Bool {
        let (isLong, isOtherLong) = (a.utf8.count > 510, b.utf8.count > 510)
        return isLong == isOtherLong ? a.utf8.lexicographicallyPrecedes(b.utf8) : isOtherLong
    }

    @Test("A walk visits every identifier once, whole, in the order of its bytes, long ones last")
    func order() throws {
        try withCache { cache in
            for identifier in Self.identifiers.shuffled() { cache.set(Person(identifier, "")) }
            cache.setModel(Person("a", ""), forKey: "key")
            cache.setCollection([Person("a", "")], forKey: "collection")
            let found = try entries(cache)
            // Long identifiers with the same beginning are in the order of a hash.
            let isShort = { (identifier: String) in identifier.utf8.count <= 510 }
            let short = Self.identifiers.filter(isShort).sorted(by: precedes)
            #expect(
                found.map(\.identifier).filter(isShort).map(Identifier.init)
                    == short.map(Identifier.init))
            #expect(found.map(\.identifier).drop(while: isShort).allSatisfy { !isShort($0) })
            #expect(
                Set(found.map { Identifier($0.identifier) })
                    == Set(Self.identifiers.map(Identifier.init)))
            #expect(found.allSatisfy { $0.isWhole && $0.nameSpace == .node })
            for entry in found { #expect(try cache.handle(entry.identifier) == entry.handle) }
            #expect(try entries(cache, .key).map(\.identifier) == ["key"])
            #expect(try entries(cache, .collection).map(\.identifier) == ["collection"])
            #expect(try entries(cache, .segment) == [])
        }
    }

    @Test(
        "A prefix finds the identifiers that begin with its bytes, and no others",
        arguments: [
            "", "a", "ab", "abcd", "e", "é", "日", "x", long("", count: 493), long("", count: 494),
            long("", count: 509),
            long("", count: 510), long("", count: 511), long(""), long("a"), long("c"),
            String(repeating: "é", count: 247),
            String(repeating: "é", count: 390), "\u{0}", "z",
        ])
    func prefix(prefix: String) throws {
        try withCache { cache in
            for identifier in Self.identifiers { cache.set(Person(identifier, "")) }
            let expected = Self.identifiers.filter { $0.utf8.starts(with: prefix.utf8) }
            let found = try entries(cache, startingWith: prefix)
            #expect(
                Set(found.map { Identifier($0.identifier) }) == Set(expected.map(Identifier.init)))
            #expect(found.count == expected.count)
        }
    }

    @Test(
        "A walk ends as soon as its body returns false, among short and long identifiers",
        arguments: [1, 2, 13, 14, 17, 18])
    func stop(limit: Int) throws {
        try withCache { cache in
            for identifier in Self.identifiers { cache.set(Person(identifier, "")) }
            let all = try entries(cache)
            #expect(try entries(cache, limit: limit) == Array(all.prefix(limit)))
        }
    }

    @Test(
        "A walk visits unreadable entries with the known part of their identifier and the problem"
    )
    func damage() throws {
        try withCache(isDamaged: true) { cache in
            let (a, b) = (Self.long("a"), Self.long("b"))
            for identifier in ["p:1", "p:2", "p:3", a, b] {
                try cache.set(Person(identifier, "")).wait()
            }
            try cache.damage("p:1")
            try cache.damage(a)
            let one = try present(cache.handle("p:1"))
            try cache.tamperIndex {
                $0.set("p:2", to: Handle(1 << 40))
                $0.set("p:3", to: one)
            }
            let found = try entries(cache)
            #expect(found.count == 5)
            #expect(found.prefix(3).map(\.identifier) == ["p:1", "p:2", "p:3"])
            let cut = try #require(found.first { !$0.isWhole })
            #expect(cut.identifier == String(repeating: "x", count: 493))
            #expect(found.contains { $0.identifier == b && $0.isWhole })
            let kinds = try cache.inspect { inspection in
                try found.map { try kind(inspection.record(of: $0)) }
            }
            #expect(kinds.prefix(3) == ["damaged", "nothing", "damaged"])
            #expect(zip(found, kinds).allSatisfy { ($0.identifier == b) == ($1 == "record") })
            // A prefix longer than the known part of the identifier finds it, too.
            #expect(try entries(cache, startingWith: String(repeating: "x", count: 599)).count == 2)

            // An index entry that leads to a record with another identifier is damaged.
            let two = try present(cache.handle(b))
            try cache.tamperIndex {
                $0.set("p:1", to: two)
                $0.set(a, to: two)
            }
            let misled = try entries(cache).filter { $0.identifier != b }
            for entry in misled {
                #expect(try cache.inspect { try kind($0.record(of: entry)) } != "record")
            }
        }
    }

    @Test("The beginning of a long identifier leaves out a character that the key cuts through")
    func cut() {
        for (count, character) in [(492, "é"), (491, "日"), (490, "😀"), (492, "😀")] {
            let beginning = String(repeating: "x", count: count)
            let key = IndexKey.bytes(
                .node, beginning + character + String(repeating: "y", count: 200))
            let whole = count + character.utf8.count <= 493
            #expect(IndexKey.beginning(of: key).hasPrefix(beginning + (whole ? character : "")))
            #expect(!IndexKey.beginning(of: key).unicodeScalars.contains("\u{FFFD}"))
        }
    }

    @Test(
        """
        A walk visits every record by handle, damaged records and segments included, and no chunk \
        as a record
        """)
    func records() throws {
        try withCache(isDamaged: true) { cache in
            cache.set(
                Message(
                    "m:1", from: Person("p:1", String(repeating: "t", count: 20_000)),
                    to: Person("p:2", "")))
            try cache.setCollection((0..<1_100).map { _ in Person("p:2", "") }, forKey: "c").wait()
            try cache.damage("p:2")
            try cache.inspect { inspection throws in
                var handles: [Handle] = []
                var kinds: [String] = []
                try inspection.forEachRecord { handle, stored in
                    handles.append(handle)
                    if case .record(let record) = stored {
                        kinds.append("\(record.nameSpace)")
                    } else {
                        kinds.append(kind(stored))
                    }
                    return true
                }
                #expect(handles == handles.sorted() && Set(handles).count == handles.count)
                #expect(
                    kinds.sorted() == [
                        "collection", "damaged", "node", "node", "segment", "segment", "segment",
                    ])
                var count = 0
                try inspection.forEachRecord { _, _ in
                    count += 1
                    return count < 3
                }
                #expect(count == 3)
            }
        }
    }

    @Test(
        "A walk visits each record of a damaged frame or container once, between the others",
        arguments: NormalizedCache.DamagedPart.allCases)
    func damagedFrame(part: NormalizedCache.DamagedPart) throws {
        try withCache(.uncompressed, isDamaged: true) { cache in
            // Roots, records with one reference, and their parents.
            for number in 0..<200 {
                cache.set(Message("m:\(number)", from: Person("p:\(number)", "Person \(number)")))
            }
            try cache.delete("p:52").wait()
            func walk() throws -> [Handle: String] {
                var kinds: [Handle: String] = [:]
                var last = Handle(0)
                try cache.inspect { inspection in
                    try inspection.forEachRecord { handle, stored in
                        #expect(handle > last)
                        last = handle
                        kinds[handle] = kind(stored)
                        return true
                    }
                }
                return kinds
            }
            let before = try walk()
            #expect(before.count == 399)
            let deleted = try #require(
                try cache.record(present(cache.handle("m:52")))?.children.first)
            let handle = try present(cache.handle("m:52"))
            let lost = try cache.damage(part, around: handle)
            #expect(lost.contains(handle) && (lost.count > 8) == (part == .directory))
            let after = try walk()
            #expect(after.keys == before.keys && after[deleted] == nil)
            #expect(Set(after.filter { $0.value == "damaged" }.keys) == lost)
        }
    }

    @Test(
        "A walk visits the roots by their last access, oldest first, until its body returns false"
    )
    func roots() throws {
        try withCache { cache in
            for number in 1...4 {
                try cache.set(Message("m:\(number)", from: Person("p:\(number)", ""))).wait()
            }
            // A second write makes the first root the latest; only roots are listed.
            try cache.set(Message("m:1", from: Person("p:1", "again"))).wait()
            let (roots, now) = try cache.inspect { inspection throws in
                var roots: [(handle: Handle, stamp: Stamp)] = []
                try inspection.forEachRoot { handle, stamp in
                    roots.append((handle, stamp))
                    return true
                }
                return (roots, try inspection.commit)
            }
            let expected = try ["m:2", "m:3", "m:4", "m:1"].map { try cache.handle($0) }
            #expect(roots.map(\.handle) == expected.compactMap(\.self))
            #expect(roots.map(\.stamp.rawValue) == [2, 3, 4, 5])
            #expect(now == Stamp(5))
            #expect(roots.last?.stamp == (try cache.state("m:1").stamp))
            var visits = 0
            try cache.inspect { inspection throws in
                try inspection.forEachRoot { _, _ in
                    visits += 1
                    return visits < 2
                }
            }
            #expect(visits == 2)
        }
    }
}

/// The name of the case that an inspection found.
func kind(_ stored: StoredRecord) -> String {
    switch stored {
    case .record: "record"
    case .deleted: "deleted"
    case .lost: "lost"
    case .damaged: "damaged"
    case .nothing: "nothing"
    }
}
