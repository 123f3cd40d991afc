#if Macros
import Testing

@Suite("Stored names and default values in expansions")
struct AttributeTests {
    @Test("@Stored changes the name of a property in the record")
    func name() {
        expectExpansion(
            of: #"@Normalized struct Person { @Stored("display_name") let name: String }"#,
            has: #"fields: ["display_name"]"#,
            #"try encoder.encode(self.name, forKey: "display_name")"#,
            #"return try decoder.decode(forKey: "display_name")"#,
            #"take(&builder.name, named: "display_name", from: other)"#, "var name: String")
    }

    @Test("A stored name may contain quotes and backslashes")
    func escapes() {
        expectExpansion(
            of: #"@Normalized struct Person { @Stored("a\"b\\") let name: String }"#,
            has: ##"forKey: #"a"b\"#)"##)
    }

    @Test("CodingKeys rename and omit properties, and @Stored overrides them")
    func codingKeys() {
        expectExpansion(
            of: """
                @Normalized struct Person {
                    let name: String
                    @Stored("a") let age: Int
                    let `class`: String
                    var open = false
                    private enum CodingKeys: String, CodingKey {
                        case name = "display_name", age = "years", `class`
                    }
                }
                """, has: #"fields: ["display_name", "a", "class"]"#, #"forKey: "display_name")"#,
            "builder.open", #"encode(self.`class`, forKey: "class")"#, without: ["encode(self.open"]
        )
    }

    @Test("@Stored with a default decodes with that default")
    func literal() {
        expectExpansion(
            of: """
                @Normalized struct Message {
                    @Stored(default: 0) let likes: Int
                    @Stored("n", default: -1.5) let score: Double
                    @Stored(default: []) let tags: [String]
                    @Stored(default: [:]) let counts: [String: Int]
                }
                """, has: #"return try decoder.decode(forKey: "likes", default: 0)"#,
            #"decode(forKey: "n", default: -1.5)"#, #"decode(forKey: "tags", default: [])"#,
            #"decode(forKey: "counts", default: [:])"#)
    }

    @Test("The builder decodes the members of a struct, so that type names resolve")
    func expression() {
        let source = "{ @Stored(default: Tone.plain) let tone: Tone }"
        expectExpansion(
            of: "@Normalized struct Message " + source,
            has: """
                fileprivate static func read_tone(\
                from decoder: inout EspalierRecords.RecordDecoder) throws -> Tone {
                """,
            #"return try decoder.decode(forKey: "tone", default: Tone.plain)"#,
            "let value0 = try Builder.read_tone(from: &decoder)")
        expectExpansion(
            of: "@Normalized final class Message " + source,
            has: #"self.tone = try decoder.decode(forKey: "tone", default: Tone.plain)"#,
            without: ["read_tone"])
    }

    @Test("A @NotStored property is compared, copied and visited, but not encoded or decoded")
    func notStored() {
        expectExpansion(
            of: """
                @Normalized struct Message {
                    let id: Int
                    @NotStored var open = false
                    @NotStored var draft: Person?
                }
                """,
            has: "a.open == b.open", "builder.draft = mapped0", "self.open = builder.open",
            "forEach(self.draft, visit)",
            #"fields: ["id"]"#, without: ["encode(self.open", "encode(self.draft", "\"open\""])
    }

    @Test("Constants, computed properties and static properties are not members")
    func noMembers() {
        expectExpansion(
            of: """
                @Normalized final class Message {
                    let id: Int
                    let version = 2
                    static let shared = 1
                    var length: Int { 0 }
                    var title: String { get { "" } }
                }
                """, has: "init(id: Int) {", #"fields: ["id"]"#,
            without: ["builder.version", "builder.length", "builder.title", "builder.shared"])
    }

    @Test("One declaration may declare several members, with observers or literals")
    func declarations() {
        expectExpansion(
            of: """
                @Normalized struct Message {
                    let a, b: String
                    var count: Int { didSet {} }
                    var x = 0, y = -1.5, z = "", f = true
                }
                """, has: #"fields: ["a", "b", "count", "x", "y", "z", "f"]"#, "var b: String",
            "var x: Int",
            "var y: Double",
            "var z: String", "var f: Bool")
    }

    @Test("@Stored renames a case, and CodingKeys rename its associated values")
    func cases() {
        expectExpansion(
            of: """
                @Normalized enum Entry {
                    @Stored("l") case link(url: String)
                    case page(Int)
                    enum LinkCodingKeys: String, CodingKey { case url = "u" }
                }
                """, has: #"encodeCase("l")"#, #"fields.encode(_0, forKey: "u")"#, #"case "l":"#,
            #"encodeCase("page")"#,
            #"link(url: fields.decode(forKey: "u"))"#)
    }

    @Test(
        "Self in a default value means the model",
        arguments: ["struct", "final class"])
    func ownDefault(kind: String) {
        expectExpansion(
            of: "@Normalized \(kind) Person { @Stored(default: Self.plain) let tone: Tone }",
            has: #"decode(forKey: "tone", default: Person.plain)"#)
        expectExpansion(
            of: "@Normalized \(kind) Person { @Stored(default: Self.plain) let tone: any P<Self> }",
            has: "ErasedModel<any P<Person>>((Person.plain as any P<Person>))")
    }

    @Test("An implicitly unwrapped optional is decoded as an optional")
    func forcedExistential() {
        expectExpansion(
            of: "@Normalized struct Person { @Stored(default: a) var one: (any P)! }",
            has: "var one: (any P)!",
            "(a as (any P)?)", "-> (any P)!", without: ["as (any P)!"])
        expectExpansion(
            of: #"@Normalized(identifier: \.urn) struct Person { var urn: String! }"#,
            has: "identifier(of: self.urn as String?)")
    }

    @Test("A policy becomes the write policy of the type, and there is none without")
    func policy() {
        for arguments in ["policy: .merge", #"type: "p", policy: .merge"#] {
            expectExpansion(
                of: "@Normalized(\(arguments)) public struct Person { let id: Int }",
                has: """
                    public nonisolated static var writePolicy: EspalierRecords.WritePolicy {
                            .merge
                    """)
        }
        expectExpansion(
            of: "@Normalized struct Person { let id: Int }", has: "modelIdentifier",
            without: ["writePolicy"])
    }

    @Test("A field may hold an existential")
    func fieldOfExistential() {
        expectExpansion(
            of: "@Normalized struct Person { let id: Int, pet: Field<any Pet> }",
            has: "EspalierRecords.Field<EspalierModels.ErasedModel<any Pet>>.self, forKey: \"pet\"",
            without: ["Field<any Pet>.self"])
    }
}
#endif
