import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Identifiers of any bytes")
struct IdentifierTests {
    private static let identifiers: [String] =
        [
            "a", "0", " ", "\n", "/", "../..", "a/b", ":", "nil", "null", "$ref", "#1", "%00",
            "\u{0}", "a\u{0}",
            "a\u{0}b",
            "\u{0}\u{0}", "é", "e\u{301}", "🐈", "👩‍👩‍👧", "\u{FFFF}", "\u{10FFFF}", "i̇", "ß", "ſ",
        ] + [509, 510, 511, 512, 513, 4_000].map { String(repeating: "x", count: $0) }
        + ["y", "z", "\u{0}"].map {
            String(repeating: "x", count: 500) + $0 + String(repeating: "x", count: 20)
        }
        + [String(repeating: "é", count: 255), String(repeating: "é", count: 256)]

    @Test("Each identifier is a node of its own, read, updated and deleted separately")
    func apart() throws {
        try withCache { cache in
            for (number, identifier) in Self.identifiers.enumerated() {
                try cache.set(Person(identifier, "\(number)")).wait()
            }
            for (number, identifier) in Self.identifiers.enumerated() {
                #expect(
                    cache.read(Person.self, identifier)?.name == "\(number)",
                    "\(identifier.debugDescription)")
            }
            for (number, identifier) in Self.identifiers.enumerated() where number % 2 == 0 {
                cache.delete(identifier)
            }
            for (number, identifier) in Self.identifiers.enumerated() {
                #expect(
                    (cache.read(Person.self, identifier) == nil) == (number % 2 == 0),
                    "\(identifier.debugDescription)")
            }
            #expect(try cache.statistics().nodes == Self.identifiers.count / 2)
        }
    }

    @Test("Each identifier is a key and a collection of its own, in one tree and after reopening")
    func otherNames() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        cache.set(
            Feed(
                "feed",
                people: Dictionary(
                    uniqueKeysWithValues: Self.identifiers.enumerated().map {
                        ("\($0)", Person($1, "\($0)"))
                    })))
        for (number, identifier) in Self.identifiers.enumerated() {
            cache.setModel(Remark("\(number)"), forKey: identifier)
            cache.setCollection([Remark("\(number)"), Remark("\(number)")], forKey: identifier)
        }
        cache.close()
        cache = try scratch.open()
        let feed = try #require(cache.read(Feed.self, "feed"))
        for (number, identifier) in Self.identifiers.enumerated() {
            #expect(cache.modelOutcome(Remark.self, forKey: identifier).value?.text == "\(number)")
            #expect(
                cache.collection(of: Remark.self, forKey: identifier)?.map(\.text) == [
                    "\(number)", "\(number)",
                ])
            let person = feed.people["\(number)"]
            #expect(
                person?.name == "\(number)"
                    && person.map { Identifier($0.id) == Identifier(identifier) } == true)
        }
        try expectClean(cache)
        cache.close()
    }

    @Test("Long identifiers that differ only at their end are different nodes")
    func longPair() throws {
        try withCache { cache in
            let long = String(repeating: "z", count: 1 << 20)
            for (end, name) in [("a", "first"), ("b", "second"), ("", "third")] {
                cache.set(Person(long + end, name))
            }
            cache.delete(long + "a")
            #expect(cache.read(Person.self, long + "a") == nil)
            #expect(cache.read(Person.self, long + "b")?.name == "second")
            #expect(cache.read(Person.self, long)?.name == "third")
        }
    }

    @Test("The empty identifier names no record")
    func empty() throws {
        try withCache { cache in
            #expect(cache.readOutcome(Person.self, "").reason == .notFound)
            #expect(cache.modelOutcome(Person.self, forKey: "").reason == .notFound)
            #expect(cache.collectionOutcome(of: Person.self, forKey: "").reason == .notFound)
            #expect(code(cache.set(Person("", "nobody"))) == .noIdentifier)
            #expect(code(cache.setCollection([Person("", "nobody")], forKey: "c")) == .noIdentifier)
            #expect(code(cache.setCollection([Remark("inline")], forKey: "")) == .noIdentifier)
        }
    }

    @Test(
        "A key of the index fits LMDB's limit, and long identifiers that differ have different keys"
    )
    func indexKeys() {
        for count in 0...1_100 {
            let key = IndexKey.bytes(.node, String(repeating: "k", count: count))
            #expect(key.count <= 511)
            #expect((key.first == IndexKey.longMark) == (count > 510))
        }
        let keys = Self.identifiers.map { IndexKey.bytes(.node, $0) }
        #expect(Set(keys).count == keys.count)
    }
}
