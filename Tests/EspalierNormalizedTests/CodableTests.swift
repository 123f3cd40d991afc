#if Macros
import Espalier
import Foundation
import Testing

@Normalized(.codable) private struct Repository {
    let id: Int
    @Stored("full_name") let name: String
    @Stored(default: []) let topics: [String]
    @Stored("stars", default: 0) let likes: Int
    let homepage: String?
    let license: Field<String>
    let owner: Owner?
    @NotStored var isExpanded = false
    @NotStored var draft: String?
    let version = 2
}

@Normalized(.codable, type: "user", policy: .merge) private final class Owner {
    let id: Int
    let login: String
    @Stored("site_admin", default: false) let isAdmin: Bool
}

@Normalized(.codable) private enum Payload {
    @Stored("link_to") case link(String)
    case card(title: String)
}

private enum Outer {
    enum Tone: String, FieldValue, Codable { case plain, loud }

    @Normalized(.codable) struct Post {
        let id: Int
        @Stored(default: Tone.plain) let tone: Tone
        @Stored(default: Self.fallback) let text: String
        let payload: Payload?

        static let fallback = "none"
    }
}

@Normalized(.codable) private struct Keyed {
    let id: Int
    let name: String
    @Stored(default: 7) let count: Int

    enum CodingKeys: String, CodingKey {
        case id, count
        case name = "title"
    }
}

@Normalized(.codable) private struct Empty {}

@Suite("Models that are Codable by the macro")
struct CodableTests {
    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test("JSON has the stored names, the defaults of missing keys, and nothing that is not stored")
    func names() throws {
        let read = try decode(
            Repository.self,
            #"{"id": 1, "full_name": "a/b", "owner": {"id": 7, "login": "ada"}, "draft": "x"}"#)
        #expect(read.name == "a/b")
        #expect(read.topics == [])
        #expect(read.likes == 0)
        #expect(read.homepage == nil)
        #expect(read.license == .absent)
        #expect(read.owner?.isAdmin == false)
        #expect(read.draft == nil)
        let changed = read.copy {
            $0.likes = 3
            $0.draft = "secret"
            $0.license = .null
        }
        #expect(
            try json(changed) == """
                {"full_name":"a\\/b","id":1,"license":null,"owner":{"id":7,"login":"ada",\
                "site_admin":false},"stars":3,"topics":[]}
                """)
        let again = try decode(Repository.self, json(changed))
        #expect(again == changed.copy { $0.draft = nil })
    }

    @Test("JSON from a record without models has the same members")
    func records() async throws {
        let cache = try NormalizedCache(inMemory: Configuration())
        defer { cache.close() }
        let model = try decode(
            Repository.self, #"{"id": 1, "full_name": "a/b", "stars": 5, "license": "MIT"}"#)
        try await cache.set(model).committed
        let bytes = try #require(await cache.json(of: "Repository:1"))
        let fromRecord = try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary
        let fromModel = try JSONSerialization.jsonObject(with: Data(json(model).utf8))
        #expect(fromRecord == fromModel as? NSDictionary)
    }

    @Test("A null where a value is required is an error that names the key")
    func null() {
        #expect(throws: DecodingError.self) {
            try decode(Repository.self, #"{"id": 1, "full_name": "a", "topics": null}"#)
        }
    }

    @Test("A nested type sees its own names in defaults")
    func nested() throws {
        let post = try decode(
            Outer.Post.self, #"{"id": 1, "payload": {"link_to": {"_0": "a"}}}"#)
        #expect(post.tone == .plain)
        #expect(post.text == "none")
        #expect(post.payload == .link("a"))
        #expect(try json(Payload.card(title: "t")) == #"{"card":{"title":"t"}}"#)
    }

    @Test("CodingKeys of the type's own name the keys")
    func keys() throws {
        let keyed = try decode(Keyed.self, #"{"id": 1, "title": "a"}"#)
        #expect(keyed == Keyed(id: 1, name: "a", count: 7))
        #expect(try json(keyed) == #"{"count":7,"id":1,"title":"a"}"#)
        #expect(try json(Empty()) == "{}")
        #expect(try decode(Empty.self, "{}") == Empty())
    }

    @Test(
        "A model that is @unchecked Sendable may have members that are not",
        .enabled(if: Compiler() != nil))
    func uncheckedSendable() throws {
        let source = """
            final class Cell: Hashable {
                var value = 0
                static func == (left: Cell, right: Cell) -> Bool { left === right }
                func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
            }
            @Normalized struct Note: @unchecked Sendable {
                let id: String
                @NotStored var cell: Cell? = nil
                @NotStored var draft: Optional<String> = nil
            }
            """
        let (status, text) = try #require(Compiler()).output(of: source)
        #expect(status == 0, "\(text)")
    }

    @Test("Attributes that JSON does not follow are warnings", .enabled(if: Compiler() != nil))
    func warnings() throws {
        let source = """
            @Normalized struct Draft: Codable {
                let id: String
                @Stored("a") let b: String
                @NotStored var draft = ""
                @Stored(default: 0) let count: Int
            }
            @Normalized struct Keyed: Codable {
                let id: String
                @NotStored var draft = ""
                enum CodingKeys: String, CodingKey { case id }
            }
            @Normalized(.codable) struct Right {
                let id: String
                @Stored("a") let b: String
                @NotStored var draft = ""
            }
            """
        let (status, text) = try #require(Compiler()).output(of: source)
        #expect(status == 0, "\(text)")
        for line in [
            "4:5: warning: JSONDecoder and JSONEncoder do not follow @Stored",
            "5:5: warning: JSONEncoder does not follow @NotStored",
            "6:5: warning: JSONDecoder does not follow @Stored(default:)",
        ] {
            #expect(text.contains(line), "\(text)")
        }
        #expect(text.components(separatedBy: ": warning:").count == 4, "\(text)")
    }
}
#endif
