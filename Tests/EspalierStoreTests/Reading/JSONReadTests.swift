import EspalierModels
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Trees as JSON")
struct JSONReadTests {
    private struct Author: Codable, NormalizedModel {
        let id: Int
        var name: String?
        var modelIdentifier: String? { "Author:\(id)" }
    }

    private enum Kind: String, Codable { case note, reply }

    private struct Post: Codable, NormalizedModel {
        let id: Int
        var text: String
        var author: Author?
        var replies: [Post] = []
        var tags: [String: Int] = [:]
        var created = Date(timeIntervalSinceReferenceDate: 1_234.5)
        var score = 2.0
        var ratio = 0.1
        var data = Data([1, 2, 3])
        var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        var link = URL(string: "https://example.org/a/b?c=d")
        var kind = Kind.note
        var isRead = false
        var big = UInt64.max
        var modelIdentifier: String? { "Post:\(id)" }
    }

    private static let ada = Author(id: 1, name: "Ada \"L\" \\ / \u{1} \n ü 🐈")
    private static let post = Post(
        id: 1, text: "tab\tnew\r\nline", author: ada,
        replies: [
            Post(id: 2, text: "", author: ada, tags: ["a": -1, "b": 70_000]),
            Post(id: 3, text: "x", author: Author(id: 2)),
        ])

    private func object(_ data: Data?) throws -> NSDictionary {
        let data = try #require(data)
        return try #require(try JSONSerialization.jsonObject(with: data) as? NSDictionary)
    }

    @Test("The text is what JSONEncoder writes for the Codable model")
    func equal() throws {
        try withCache { cache in
            try cache.set(Self.post).wait()
            let expected = try object(JSONEncoder().encode(Self.post))
            #expect(try object(cache.json(of: "Post:1")) == expected)
            let text = try #require(cache.json(of: "Post:1"))
            let decoded = try JSONDecoder().decode(Post.self, from: text)
            #expect(decoded.replies[0].author?.name == Self.ada.name)
        }
    }

    @Test("A node below the depth is its identifier, and excluded members are left out")
    func parts() throws {
        try withCache { cache in
            try cache.set(Self.post).wait()
            let flat = try object(cache.json(of: "Post:1", depth: 1))
            #expect(flat["author"] as? String == "Author:1")
            #expect(flat["replies"] as? [String] == ["Post:2", "Post:3"])
            let less = try object(
                cache.json(of: "Post:1", leavingOut: ["text", "replies.author.name", "tags"]))
            #expect(less["text"] == nil && less["tags"] == nil)
            let replies = try #require(less["replies"] as? [NSDictionary])
            #expect(replies.allSatisfy { ($0["author"] as? NSDictionary)?.count == 1 })
            #expect((less["author"] as? NSDictionary)?["name"] as? String == Self.ada.name)
        }
    }

    @Test("A lost or damaged node below the depth is a miss, as above it")
    func lostBelowDepth() throws {
        try withCache(.uncompressed, isDamaged: true) { cache in
            try cache.set(Self.post).wait()
            let reply = try present(cache.handle("Post:2"))
            try cache.damage("Post:2")
            #expect(cache.json(of: "Post:1") == nil)
            #expect(cache.json(of: "Post:1", depth: 1) == nil)
            try cache.tamper { transaction, keyspaces in
                var state = try transaction.state(keyspaces, of: reply) ?? .default
                state.flags = .lost
                try transaction.put(state, of: reply, keyspaces)
            }
            try cache.removeBytes(of: reply)
            #expect(cache.json(of: "Post:1", depth: 1) == nil)
            #expect(try object(cache.json(of: "Author:1", depth: 1))["id"] as? Int == 1)
        }
    }

    @Test("With depth 0, a node is its identifier, if it is there")
    func depthZero() throws {
        try withCache { cache in
            try cache.set(Author(id: 1)).wait()
            #expect(cache.json(of: "Author:1", depth: 0) == Data(#""Author:1""#.utf8))
            #expect(cache.json(of: "Post:9", depth: 0) == nil)
        }
    }

    @Test(
        "Digits that are no JSON number are text",
        arguments: [
            ("19.90", "19.90"), ("-0.5e+7", "-0.5e+7"), ("+19.90", #""+19.90""#), (".5", #"".5""#),
            ("5.", #""5.""#), ("007", #""007""#), ("1e", #""1e""#), ("", "null"), ("NaN", "null"),
        ])
    func digits(stored: String, text: String) throws {
        try withCache { cache in
            try cache.set(Amount(digits: stored)).wait()
            #expect(cache.json(of: "Amount") == Data("{\"value\":\(text)}".utf8))
        }
    }

    private struct Amount: NormalizedModel {
        let digits: String
        var modelIdentifier: String? { "Amount" }

        init(digits: String) { self.digits = digits }

        init(from decoder: inout RecordDecoder) throws { digits = "" }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(Digits(text: digits), forKey: "value")
        }

        struct Digits: FieldValue {
            let text: String

            func encodeValue(into encoder: ValueEncoder) throws { encoder.encode(decimal: text) }

            static func decodeValue(from decoder: inout ValueDecoder) throws -> Digits {
                Digits(text: try decoder.decodeDecimalDigits())
            }
        }
    }

    @Test("A deleted node is left out, and null where nulls are asked for")
    func deleted() throws {
        try withCache { cache in
            cache.set(Self.post)
            try cache.delete("Author:1").wait()
            try cache.delete("Post:3").wait()
            let less = try object(cache.json(of: "Post:1"))
            #expect(less["author"] == nil)
            #expect((less["replies"] as? [NSDictionary])?.count == 1)
            let nulls = try object(cache.json(of: "Post:1", includesNulls: true))
            #expect(nulls["author"] is NSNull)
            #expect(cache.json(of: "Post:3") == nil)
            #expect(cache.json(of: "nothing") == nil)
        }
    }

    @Test("A reference back to an enclosing node is left out")
    func cycle() throws {
        try withCache { cache in
            try cache.set(
                Branch("a", "", [Branch("b", "", [Branch(stub: "a")])])
            ).wait()
            #expect(try object(cache.json(of: "a"))["id"] as? String == "a")
        }
    }

    @Test("The fields of one type are written, or those of all")
    func types() throws {
        try withCache { cache in
            cache.set(Person("p", "Ada"))
            try cache.set(Card("p", name: "Ada", badge: 7)).wait()
            #expect(try object(cache.json(of: "p"))["badge"] as? Int == 7)
            #expect(try object(cache.json(of: "p", as: Person.self))["badge"] == nil)
            #expect(try object(cache.json(of: "p", as: Card.self))["badge"] as? Int == 7)
        }
    }

    @Test("A collection is an array, whole or in part")
    func collection() throws {
        try withCache { cache in
            try cache.setCollection((0..<9).map { Author(id: $0) }, forKey: "c").wait()
            func ids(_ data: Data?) throws -> [Int] {
                let data = try #require(data)
                return try JSONDecoder().decode([Author].self, from: data).map(\.id)
            }
            #expect(try ids(cache.json(ofCollection: "c")) == Array(0..<9))
            #expect(try ids(cache.json(ofCollection: "c", range: 3..<5)) == [3, 4])
            try cache.setCollection([Author](), forKey: "empty").wait()
            #expect(try ids(cache.json(ofCollection: "empty")) == [])
        }
    }
}
