import Foundation
import Testing

@testable import EspalierGeneration

@Suite("Types of a schema")
struct SchemaReaderTests {
    // MARK: Members

    /// An object with the members `id` and `x`, of which `required` names the necessary ones.
    private func object(x: String, required: String, id: String = #"{"type": "integer"}"#) -> String
    {
        """
        {"title": "Item", "type": "object", "required": [\(required)],
         "properties": {"id": \(id), "x": \(x)}}
        """
    }

    @Test(
        "A member that may be null is a Field, and one that may be missing is a Field of a node",
        arguments: [
            (#"{"type": "string"}"#, #""id", "x""#, "String"),
            (#"{"type": "string"}"#, #""id""#, "Field<String>"),
            (#"{"type": ["string", "null"]}"#, #""id", "x""#, "Field<String>"),
            (#"{"type": "string", "nullable": true}"#, #""id""#, "Field<String>"),
            // Without a required identifier, the object is no node.
            (#"{"type": "string"}"#, #""x""#, "String"), (#"{"type": "string"}"#, "", "String?"),
            (#"{"type": ["null", "string"]}"#, "", "Field<String>"),
            (#"{"oneOf": [{"type": "null"}, {"type": "string"}]}"#, "", "Field<String>"),
            (#"{"anyOf": [{"type": "boolean"}, {"type": "null"}]}"#, #""x""#, "Field<Bool>"),
            (#"{}"#, #""x""#, "ItemJSON"), ("true", "", "Field<ItemJSON>"),
        ])
    func presence(schema: String, required: String, type: String) throws {
        let source = try Generated(schema: object(x: schema, required: required))
        #expect(source.has("let x: \(type)"), "\(source)")
    }

    @Test("A node of which members may be missing merges, and says so only then")
    func policy() throws {
        let string = #"{"type": "string"}"#
        let partial = try Generated(schema: object(x: string, required: #""id""#))
        #expect(partial.types == ["@Normalized(.codable, policy: .merge) struct Item"])
        let whole = try Generated(schema: object(x: string, required: #""id", "x""#))
        #expect(whole.types == ["@Normalized(.codable) struct Item"])
        let none = try Generated(schema: object(x: string, required: #""id""#)) {
            $0.absence = .none
        }
        #expect(none.types == ["@Normalized(.codable) struct Item"])
        #expect(none.has("let x: String?"))
    }

    @Test(
        "Types and formats are the types of Swift",
        arguments: [
            (#"{"type": "string", "format": "date-time"}"#, "Date"),
            (#"{"type": "string", "format": "uri"}"#, "URL"),
            (#"{"type": "string", "format": "uuid"}"#, "UUID"),
            (#"{"type": "string", "format": "email"}"#, "String"),
            (#"{"type": "integer"}"#, "Int"), (#"{"type": "number"}"#, "Double"),
            (#"{"type": "boolean"}"#, "Bool"), (#"{"const": 7}"#, "Int"),
            (#"{"const": "a"}"#, "String"), (#"{"const": true}"#, "Bool"),
            (#"{"const": 0.5}"#, "Double"), (#"{"enum": [true, false]}"#, "Bool"),
            (#"{"enum": ["a", 1]}"#, "ItemJSON"), (#"{"enum": ["a"]}"#, "String"),
            (#"{"type": "array", "items": {"type": "integer"}}"#, "[Int]"),
            (#"{"items": {"type": ["integer", "null"]}}"#, "[Int?]"),
            (#"{"type": "array"}"#, "[ItemJSON]"),
            (#"{"type": "array", "items": {"items": {"type": "number"}}}"#, "[[Double]]"),
            (#"{"type": "object"}"#, "[String: ItemJSON]"),
            (
                #"{"type": "object", "additionalProperties": {"type": "number"}}"#,
                "[String: Double]"
            ),
            (
                #"{"additionalProperties": {"type": "string", "nullable": true}}"#,
                "[String: String?]"
            ),
            (#"{"allOf": [{"type": "integer"}], "description": "a"}"#, "Int"),
        ])
    func types(schema: String, type: String) throws {
        let source = try Generated(schema: object(x: schema, required: #""id", "x""#))
        #expect(source.has("let x: \(type)"), "\(source)")
        let needsFoundation = ["Date", "URL", "UUID"].contains(type)
        #expect(source.has("import Foundation") == needsFoundation)
    }

    // MARK: Identifiers

    @Test(
        "An id that may be missing or null, or is no plain value, identifies nothing",
        arguments: [
            (#"{"type": "integer"}"#, #""x""#, "`id` is not required"),
            (#"{"type": ["integer", "null"]}"#, #""id""#, "`id` may be null"),
            (
                #"{"type": "string", "format": "uri"}"#, #""id""#,
                "`id` is no string, integer or UUID"
            ),
        ])
    func denied(id: String, required: String, reason: String) throws {
        let source = try Generated(schema: object(x: "true", required: required, id: id))
        #expect(source.has("/// No node: \(reason)."), "\(source)")
        #expect(source.has("var modelIdentifier: String? { nil }"))
    }

    @Test("Definitions may be of one record, by an option or by a keyword of the schema")
    func records() throws {
        let members = #""required": ["id"], "properties": {"id": {"type": "string"}}"#
        let schema = """
            {"$defs": {"row": {\(members)}, "page": {\(members), "x-espalier-record": "User"},
                       "User": {\(members)}}}
            """
        for name in ["Row", "row"] {
            let source = try Generated(schema: schema) { $0.records = [name: "User"] }
            #expect(
                source.types == [
                    #"@Normalized(.codable, type: "User") struct Page"#,
                    #"@Normalized(.codable, type: "User") struct Row"#,
                    "@Normalized(.codable) struct User",
                ])
        }
    }

    @Test("A definition whose name Swift has keeps it as the name of its record")
    func reservedRecord() throws {
        let members = #""required": ["id"], "properties": {"id": {"type": "string"}}"#
        let schema = #"{"$defs": {"Task": {\#(members)}, "TaskRow": {\#(members)}}}"#
        let source = try Generated(schema: schema) { $0.records = ["TaskRow": "Task"] }
        #expect(
            source.types == [
                #"@Normalized(.codable, type: "Task") struct TaskModel"#,
                #"@Normalized(.codable, type: "Task") struct TaskRow"#,
            ])
    }

    @Test("Another member may be the identifier")
    func idKey() throws {
        let source = try Generated(
            schema: """
                {"title": "User", "required": ["urn", "id"],
                 "properties": {"urn": {"type": "string"}, "id": {"type": "integer"}}}
                """
        ) { $0.idKey = "urn" }
        #expect(
            source.members(of: "User")
                == [#"@Stored("urn") let id: String"#, #"@Stored("id") let id2: Int"#])
    }

    // MARK: References

    @Test("An object that contains itself is a class, and one in an array of its own is a struct")
    func recursion() throws {
        let source = try Generated(
            schema: """
                {"$defs": {
                  "list": {"properties": {"next": {"$ref": "#/$defs/list"}}},
                  "tree": {"properties": {"trees": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
                  "a": {"properties": {"b": {"$ref": "#/$defs/b"}}},
                  "b": {"properties": {"a": {"$ref": "#/$defs/a"}}}}}
                """)
        #expect(
            source.types == [
                "@Normalized(.codable) final class A", "@Normalized(.codable) final class B",
                "@Normalized(.codable) final class List", "@Normalized(.codable) struct Tree",
            ])
        #expect(source.members(of: "List") == ["let next: List?"])
    }

    @Test("A reference may lead to the document, to any place in it, and through its own address")
    func references() throws {
        let source = try Generated(
            schema: """
                {"$id": "https://a.b/c", "title": "Node", "properties": {
                  "all": {"items": {"$ref": "#"}}, "k~v/w": {"type": "number"},
                  "same": {"$ref": "#/properties/k~0v~1w"},
                  "far": {"$ref": "https://a.b/c#/$defs/word"},
                  "old": {"$ref": "#/definitions/maybe"}},
                 "$defs": {"word": {"type": "string"}},
                 "definitions": {"maybe": {"type": ["integer", "null"]}}}
                """)
        #expect(
            source.members(of: "Node") == [
                "let all: [Node]?", "let far: String?", #"@Stored("k~v/w") let kVW: Double?"#,
                "let old: Field<Int>", "let same: Double?",
            ])
    }

    @Test(
        "A reference that leads nowhere is a problem",
        arguments: [
            (
                "other.json",
                "other.json is in another document: put the definition under $defs of this one"
            ),
            ("#/$defs/b", "there is nothing at #/$defs/b"),
            ("#anchor", "#anchor is no JSON pointer: write #/$defs/ and the name"),
        ])
    func broken(reference: String, problem: String) {
        expectProblems(
            ["#/properties/a/$ref: \(problem)"],
            schema: #"{"properties": {"a": {"$ref": "\#(reference)"}}}"#)
    }

    @Test("A member without a name is a problem")
    func emptyName() {
        expectProblems(
            [
                ": an object of the type Shop has a member with an empty name, which no property "
                    + "can have"
            ],
            schema: #"{"properties": {"": {"type": "string"}, "x": {"type": "integer"}}}"#)
    }

    @Test("References in a circle are a problem")
    func circle() {
        let text = "this reference leads back to itself"
        expectProblems(
            ["#/$defs/a: \(text)", "#/$defs/b: \(text)"],
            schema: """
                {"properties": {"x": true}, "$defs": {
                  "a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
                """)
    }

    // MARK: Composition

    @Test("`allOf` and members beside a reference are one object with the members of all")
    func allOf() throws {
        let source = try Generated(
            schema: """
                {"$defs": {
                  "base": {"required": ["kind"], "properties": {"kind": {"type": "string"}}},
                  "both": {"allOf": [{"$ref": "#/$defs/base"},
                                     {"required": ["n"], "properties": {"n": {"type": "integer"}}}],
                           "properties": {"kind": {"const": "both"}}},
                  "beside": {"$ref": "#/$defs/both", "properties": {"m": {"type": "number"}}}}}
                """)
        let both = ["/// Always `both`.", "let kind: String"]
        #expect(source.members(of: "Both") == both + ["let n: Int"])
        #expect(source.members(of: "Beside") == both + ["let m: Double?", "let n: Int"])
    }

    @Test("An enum is one type, also if an object that refers to it is read before it")
    func enumOnce() throws {
        let source = try Generated(
            schema: """
                {"$defs": {
                  "Account": {"properties": {"s": {"$ref": "#/$defs/Status"}}},
                  "Base": {"properties": {"kind": {"enum": ["c", "d"]}}},
                  "Article": {"allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"n": true}}]},
                  "Status": {"enum": ["a", "b"]},
                  "Zoo": {"properties": {"s": {"$ref": "#/$defs/Status"}}}}}
                """)
        #expect(
            source.types.map(Self.typeName) == [
                "Account", "Article", "Base", "Kind", "Status", "Zoo", "ShopJSON",
            ])
        for member in ["Account", "Zoo"] {
            #expect(source.members(of: member) == ["let s: Status?"])
        }
        #expect(source.members(of: "Base") == ["let kind: Kind?"])
        #expect(source.members(of: "Article").first == "let kind: Kind?")
    }

    private static func typeName(_ declaration: String) -> String {
        let words = declaration.prefix { $0 != ":" }.split(separator: " ")
        return words.last.map(String.init) ?? ""
    }

    /// The definitions of the tests of `allOf`.
    private static let joinable = """
        "Status": {"enum": ["a", "b"]}, "Base": {"properties": {"b": {"type": "string"}}},
        "Map": {"type": "object", "additionalProperties": {"type": "integer"}}
        """

    @Test(
        "Of `allOf`, a schema that alone says something about the type is the type",
        arguments: [
            (##"{"allOf": [{"$ref": "#/$defs/Status"}, {"description": "x"}]}"##, "Status"),
            (##"{"allOf": [{"$ref": "#/$defs/Status"}, {"nullable": true}]}"##, "Field<Status>"),
            (##"{"allOf": [{"$ref": "#/$defs/Status"}], "nullable": true}"##, "Field<Status>"),
            (##"{"allOf": [{"$ref": "#/$defs/Base"}, {"nullable": true}]}"##, "Field<Base>"),
            (##"{"type": "string", "allOf": [{"$ref": "#/$defs/Status"}]}"##, "Status"),
            (##"{"type": "object", "allOf": [{"$ref": "#/$defs/Base"}]}"##, "Base"),
            (##"{"$ref": "#/$defs/Status", "allOf": [{"deprecated": true}, true]}"##, "Status"),
            (#"{"type": "integer", "allOf": [{"minimum": 1}, {"example": 2}]}"#, "Int"),
            (
                #"{"allOf": [{"oneOf": [{"type": "null"}, {"type": "integer"}]}, {"x-a": 1}]}"#,
                "Field<Int>"
            ),
            (##"{"allOf": [{"$ref": "#/$defs/Map"}, {"required": ["a"]}]}"##, "[String: Int]"),
            (#"{"allOf": [{"title": "x"}]}"#, "ItemJSON"),
        ])
    func single(schema: String, type: String) throws {
        let source = try Generated(
            schema: """
                {"title": "Item", "required": ["x"], "properties": {"x": \(schema)},
                 "$defs": {\(Self.joinable)}}
                """)
        #expect(source.has("let x: \(type)"), "\(source)")
        if schema.contains("description") { #expect(source.has("/// x")) }
    }

    @Test("What parts of `allOf` say of required members and of null is kept")
    func requiredAndNull() throws {
        let source = try Generated(
            schema: """
                {"$defs": {\(Self.joinable),
                  "Whole": {"allOf": [{"$ref": "#/$defs/Base"}], "required": ["b"]},
                  "Maybe": {"allOf": [{"$ref": "#/$defs/Base"},
                                      {"nullable": true, "properties": {"c": {"type": "number"}}}]},
                  "User": {"properties": {"m": {"$ref": "#/$defs/Maybe"}}}}}
                """)
        #expect(source.members(of: "Whole") == ["let b: String"])
        #expect(source.members(of: "Maybe") == ["let b: String?", "let c: Double?"])
        #expect(source.members(of: "User") == ["let m: Field<Maybe>"])
    }

    @Test("Schemas that are no objects cannot be joined, and the keywords of all parts are checked")
    func unjoinable() {
        let text = "this is no object: allOf, and keywords beside a $ref, can only join objects"
        expectProblems(
            [
                "#/properties/a/allOf/0: \(text)",
                "#/properties/b: \(text)",
                "#/properties/c/allOf/1/propertis: "
                    + "this keyword is unknown; keywords of your own begin with x-",
                "#/properties/d/allOf/1/not: "
                    + "this keyword is not supported: describe what the value is",
                "#/properties/e/allOf/1: a schema is an object or true, and this is boolean",
            ],
            schema: """
                {"properties": {
                  "a": {"allOf": [{"$ref": "#/$defs/Status"}, {"properties": {"n": true}}]},
                  "b": {"$ref": "#/$defs/Status", "required": ["n"]},
                  "c": {"allOf": [{"$ref": "#/$defs/Base"}, {"propertis": {"n": true}}]},
                  "d": {"allOf": [{"$ref": "#/$defs/Base"}, {"not": {"required": ["b"]}}]},
                  "e": {"allOf": [{"$ref": "#/$defs/Base"}, false]}},
                 "$defs": {\(Self.joinable)}}
                """)
    }

    @Test("Alternatives with a constant each are told apart by it, and others by trying")
    func oneOf() throws {
        let source = try Generated(
            schema: """
                {"$defs": {
                  "cat": {"required": ["kind"], "properties": {"kind": {"const": "CAT"}}},
                  "dog": {"required": ["kind", "n"],
                          "properties": {"kind": {"enum": ["dog"]}, "n": {"type": "integer"}}},
                  "pet": {"oneOf": [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}]},
                  "any": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "integer"},
                                    {"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}]}}}
                """)
        #expect(
            source.members(of: "Pet") == [
                "case cat(Cat)", "case dog(Dog)", "/// A kind that this file does not know.",
                "case unknown(ShopJSON)",
            ])
        #expect(source.has(#"case "CAT"?: self = .cat(try container.decode(Cat.self))"#))
        let tried = source.text.split(separator: "enum AnyModel").last?.split(separator: "\n")
            .compactMap { $0.split(separator: "try? container.decode(").dropFirst().first }
            .prefix(5).map { String($0.prefix { $0 != "." }) }
        #expect(tried == ["Int", "Double", "String", "Dog", "Cat"])
    }

    @Test("Without a discriminator, an object is read only if its constants are there")
    func constants() throws {
        let source = try Generated(
            schema: """
                {"$defs": {
                  "image": {"required": ["kind", "url"], "properties": {
                    "kind": {"const": "image"}, "url": {"type": "string"}}},
                  "video": {"required": ["kind", "url"], "properties": {
                    "kind": {"const": "video"}, "url": {"type": "string"}}},
                  "medium": {"anyOf": [{"$ref": "#/$defs/image"}, {"$ref": "#/$defs/video"},
                                       {"type": "string"}]}}}
                """)
        for kind in ["image", "video"] {
            let attempt = "let value = try? container.decode(\(kind.capitalized).self),"
            let lines = source.lines
            let index = try #require(lines.firstIndex { $0.hasSuffix(attempt) }, "\(source.text)")
            #expect(lines[index + 1] == "value.kind == \"\(kind)\"", "\(source.text)")
        }
    }

    @Test("Of two arrays of objects, the one whose objects have more required members comes first")
    func arrays() throws {
        let source = try Generated(
            schema: """
                {"$defs": {
                  "ref": {"required": ["id"], "properties": {"id": {"type": "string"}}},
                  "page": {"required": ["id", "title"], "properties": {
                    "id": {"type": "string"}, "title": {"type": "string"}}},
                  "data": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/ref"}},
                                     {"type": "array", "items": {"$ref": "#/$defs/page"}}]}}}
                """)
        let text = source.text
        let page = try #require(text.range(of: "decode([Page].self)"), "\(text)")
        let ref = try #require(text.range(of: "decode([Ref].self)"))
        #expect(page.lowerBound < ref.lowerBound)
    }

    @Test(
        "A null in an alternative makes the member a Field",
        arguments: [
            #"[{"type": ["integer", "null"]}, {"type": "string"}]"#,
            #"[{"type": "integer", "nullable": true}, {"type": "string"}]"#,
            #"[{"type": "integer"}, {"type": "string"}, {"const": null}]"#,
            #"[{"type": "integer"}, {"type": "string"}, {"enum": [null]}]"#,
        ])
    func nullAlternatives(alternatives: String) throws {
        let source = try Generated(
            schema: #"{"title": "Page", "properties": {"x": {"anyOf": \#(alternatives)}}}"#)
        #expect(source.text.contains("let x: Field<X>"), "\(source.text)")
        #expect(source.text.components(separatedBy: "case any").count == 1)
    }

    @Test("A union of null alone is any JSON, and a type is not named as the generated code's")
    func unusualUnions() throws {
        let null = try Generated(
            schema: #"{"title": "Page", "properties": {"x": {"anyOf": [{"type": "null"}]}}}"#)
        #expect(null.text.contains("let x: Field<PageJSON>"), "\(null.text)")
        let named = try Generated(
            schema: """
                {"$defs": {"discriminator": {"oneOf": [
                  {"title": "a", "required": ["k"], "properties": {"k": {"const": "a"}}},
                  {"title": "b", "required": ["k"], "properties": {"k": {"const": "b"}}}]}}}
                """)
        #expect(!named.text.contains("enum Discriminator: Codable"), "\(named.text)")
    }

    /// A schema of pets that have no constants.
    private func pets(
        _ discriminator: String, dog: String = ##"{"$ref": "#/$defs/Dog"}"##
    ) -> String {
        let type = #""petType": {"type": "string"}"#
        return """
            {"$defs": {
              "Cat": {"required": ["petType", "name"],
                      "properties": {\(type), "name": {"type": "string"}}},
              "Dog": {"required": ["petType", "name"],
                      "properties": {\(type), "name": {"type": "string"}, "bark": true}},
              "Fish": {"properties": {"name": {"type": "string"}}},
              "Pet": {"oneOf": [{"$ref": "#/$defs/Cat"}, \(dog)],
                      "discriminator": \(discriminator)}}}
            """
    }

    @Test(
        "A discriminator has the values of its mapping, or the names of the definitions",
        arguments: [
            (#"{"propertyName": "petType"}"#, [("Cat", "cat", "Cat"), ("Dog", "dog", "Dog")]),
            (
                ##"{"propertyName": "petType", "mapping": {"c": "#/$defs/Cat", "d": "Dog"}}"##,
                [("c", "c", "Cat"), ("d", "d", "Dog")]
            ),
            (
                #"{"propertyName": "petType", "mapping": {"wolf": "Dog", "pug": "Dog"}}"#,
                [("Cat", "cat", "Cat"), ("pug", "pug", "Dog"), ("wolf", "wolf", "Dog")]
            ),
        ])
    func discriminators(text: String, cases: [(String, String, String)]) throws {
        let source = try Generated(schema: pets(text))
        #expect(source.has(#"case key = "petType""#))
        for (tag, name, type) in cases {
            #expect(
                source.has(
                    "case \"\(tag)\"?: self = .\(name)(try container.decode(\(type).self))"),
                "\(source)")
        }
        #expect(source.members(of: "Pet").count == cases.count + 2)
    }

    @Test("A discriminator that tells nothing apart is a problem")
    func badDiscriminators() {
        let place = "#/$defs/Pet/discriminator"
        let nothing =
            "\(place): this tells nothing apart: each schema needs the member of propertyName, "
            + "and a const there, a mapping or a definition of its own"
        let stranger =
            "\(place)/mapping/f: "
            + "this leads to none of the schemas that the discriminator tells apart"
        let plain = #"{"propertyName": "petType"}"#
        expectProblems([nothing], schema: pets("{}"))
        expectProblems([nothing], schema: pets(plain, dog: ##"{"$ref": "#/$defs/Fish"}"##))
        expectProblems(
            [nothing], schema: pets(plain, dog: #"{"properties": {"petType": {"type": "string"}}}"#)
        )
        expectProblems(
            [nothing],
            schema: pets(#"{"propertyName": "petType", "mapping": {"Dog": "Cat"}}"#))
        expectProblems(
            [stranger],
            schema: pets(##"{"propertyName": "petType", "mapping": {"f": "#/$defs/Fish"}}"##))
    }

    @Test("An enum is tried for its own values before a type that reads others")
    func enumsInUnions() throws {
        func tried(_ alternatives: String) throws -> [String] {
            let source = try Generated(schema: #"{"$defs": {"u": {"anyOf": [\#(alternatives)]}}}"#)
            return source.lines.filter {
                $0.contains("let value = try?") || $0.hasSuffix("value.absoluteString")
                    || $0.contains("].contains(")
            }.prefix { !$0.contains("Bool.self") }.map {
                $0.replacingOccurrences(of: "} else ", with: "")
            }
        }
        let mode = #"{"title": "Mode", "enum": ["auto", "none"]}"#
        let url = #"{"type": "string", "format": "uri"}"#
        let known = [
            "if let value = try? container.decode(Mode.self),",
            #"["auto", "none"].contains(value.rawValue)"#,
        ]
        let verbatim = [
            "if let value = try? container.decode(URL.self),",
            "(try? container.decode(String.self)) == value.absoluteString",
        ]
        let string = ["if let value = try? container.decode(String.self) {"]
        let open = ["if let value = try? container.decode(Mode.self) {"]
        #expect(try tried("\(url), \(mode)") == known + verbatim + open)
        #expect(try tried(#"{"type": "string"}, \#(url)"#) == verbatim + string)
        #expect(try tried(#"{"type": "string"}, \#(url), \#(mode)"#) == known + verbatim + string)
        #expect(
            try tried(#"\#(mode), {"type": "integer"}"#)
                == ["if let value = try? container.decode(Int.self) {"] + open)
        #expect(
            try tried(#"{"title": "Mode", "enum": [1, 2]}, {"type": "integer"}"#) == [
                known[0], "[1, 2].contains(value.rawValue)",
                "if let value = try? container.decode(Int.self) {",
            ])
        #expect(
            try tried(#"\#(url), {"type": "integer"}"#) == [
                "if let value = try? container.decode(Int.self) {",
                "if let value = try? container.decode(URL.self) {",
            ])
    }

    @Test("Alternatives that only say what is required are no types")
    func requirements() throws {
        let source = try Generated(
            schema: """
                {"title": "A", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                 "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
                """)
        #expect(source.types == ["@Normalized(.codable) struct A"])
    }

    @Test("Several types are an enum with a case for each")
    func severalTypes() throws {
        let source = try Generated(
            schema: object(x: #"{"type": ["string", "integer", "null"]}"#, required: #""id", "x""#))
        #expect(source.has("let x: Field<X>"))
        #expect(source.members(of: "X:").isEmpty)
        #expect(source.has("case string(String)") && source.has("case integer(Int)"))
    }

    @Test("The schemas of a web service are types, and the rest of its description is not read")
    func service() throws {
        let source = try Generated(
            schema: """
                {"openapi": "3.0.0", "info": {"title": "Shop"}, "paths": {}, "components": {
                  "schemas": {"Item": {"properties": {"name": {"type": "string", "example": "a"}}}}}}
                """)
        #expect(source.types == ["@Normalized(.codable) struct Item"])
    }

    // MARK: Problems

    @Test(
        "A keyword that no type can follow is a problem at its place",
        arguments: [
            ("not", "{}", "describe what the value is"),
            ("if", "{}", "use oneOf"), ("dependentSchemas", "{}", "use oneOf"),
            ("patternProperties", "{}", "use additionalProperties"),
            ("prefixItems", "[]", "use items with one schema for all elements"),
            ("$dynamicRef", "\"#a\"", "use $ref"),
        ])
    func unsupported(keyword: String, value: String, remedy: String) {
        expectProblems(
            ["#/properties/a/\(keyword): this keyword is not supported: \(remedy)"],
            schema: #"{"properties": {"a": {"\#(keyword)": \#(value)}}}"#)
    }

    @Test("All problems of a schema are found at once")
    func problems() {
        expectProblems(
            [
                "#/properties/a/propertis: "
                    + "this keyword is unknown; keywords of your own begin with x-",
                "#/properties/b: a schema is an object or true, and this is boolean",
                "#/properties/c/additionalProperties: "
                    + "a type for further members beside properties is not supported",
                "#/properties/d/oneOf: "
                    + "members beside oneOf are not supported: move them into its schemas",
                "#/properties/e/type: text is no type of JSON Schema",
                "#/properties/f/allOf/0/oneOf: oneOf together with allOf or $ref is not supported",
            ],
            schema: """
                {"properties": {
                  "a": {"propertis": {}, "x-own": 1}, "b": false,
                  "c": {"properties": {"d": true}, "additionalProperties": {"type": "string"}},
                  "d": {"oneOf": [{"type": "string"}, {"type": "number"}], "properties": {"e": true}},
                  "e": {"type": "text"},
                  "f": {"allOf": [{"oneOf": [{"type": "string"}, {"type": "number"}]},
                                  {"properties": {"g": true}}]}}}
                """)
        expectProblems([": this is no JSON: \(Self.endOfFile)"], schema: "{")
        expectProblems(["#: a schema is an object, and this is array"], schema: "[]")
        expectProblems(
            ["#: no object, no enum and no oneOf: there is no type to generate"],
            schema: #"{"type": "string"}"#)
    }

    private static let endOfFile = "Unexpected end of file during JSON parse."

    // MARK: Names

    @Test("Types that want the same name have the names of their parents in front, in any order")
    func names() throws {
        let inner = #"{"properties": {"kind": {"enum": ["a", "b"]}}}"#
        let source = try Generated(
            schema: """
                {"title": "Root", "properties": {"cat": \(inner), "dog": \(inner),
                  "type": {"enum": ["c", "d"]}, "state": {"enum": ["e", "f"]}}}
                """)
        let names = source.types.map {
            $0.split(separator: ":")[0].split(separator: " ").last.map(String.init)
        }
        #expect(
            names == ["Root", "Cat", "Dog", "RootCatKind", "RootDogKind", "RootType", "State"])
    }

    @Test("The document has the name of the option, of its title or of its file, in this order")
    func rootName() throws {
        let body = #""type": "array", "items": {"properties": {"a": true}}"#
        #expect(
            try Generated(schema: "{\(body)}").types.first == "@Normalized(.codable) struct Shop")
        let titled = try Generated(schema: #"{"title": "open orders", \#(body)}"#)
        #expect(titled.types.first == "@Normalized(.codable) struct OpenOrder")
        #expect(titled.has("// A document is [OpenOrder]."))
        let chosen = try Generated(schema: #"{"title": "orders", \#(body)}"#) {
            $0.rootType = "Status"
        }
        #expect(chosen.has("// A document is [Status]."))
    }
}
