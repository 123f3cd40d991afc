import Foundation
import Testing

@testable import EspalierGeneration

@Suite("Names of JSON become names of Swift")
struct WordTests {
    @Test(
        "Properties begin with a small letter, and types with a capital one",
        arguments: [
            ("created_at", "createdAt", "CreatedAt"), ("createdAt", "createdAt", "CreatedAt"),
            ("Created-At", "createdAt", "CreatedAt"), ("URL", "url", "URL"),
            ("URLs", "urls", "URLs"), ("URLPath", "urlPath", "URLPath"),
            ("_links", "links", "Links"),
            ("@type", "type", "Type"), ("$ref", "ref", "Ref"), ("+1", "plus1", "Plus1"),
            ("-1", "minus1", "Minus1"), ("1st", "_1st", "_1st"), ("", "empty", "Empty"),
            ("%", "empty", "Empty"), ("größe", "größe", "Größe"), ("a.b c", "aBC", "ABC"),
            ("id_str", "idStr", "IdStr"),
        ])
    func words(text: String, property: String, type: String) {
        #expect(Words.property(text) == property)
        #expect(Words.type(text) == type)
    }

    @Test(
        "Plurals have a singular, and other words stay",
        arguments: [
            ("users", "user"), ("statuses", "status"), ("entities", "entity"), ("boxes", "box"),
            ("branches", "branch"), ("pages", "page"), ("houses", "house"), ("classes", "class"),
            ("media", "media"), ("address", "address"), ("status", "status"), ("news", "news"),
            ("series", "series"), ("analysis", "analysis"), ("UserMentions", "UserMention"),
            ("ties", "tie"), ("s", "s"), ("aliases", "alias"), ("caches", "cache"),
            ("heroes", "hero"), ("shoes", "shoe"), ("knives", "knife"), ("leaves", "leaf"),
            ("moves", "move"), ("indices", "index"), ("prices", "price"), ("axes", "axis"),
            ("UserIndices", "UserIndex"), ("tree_leaves", "tree_leaf"),
            ("user_alias", "user_alias"), ("DNS", "DNS"), ("iOS", "iOS"), ("canvas", "canvas"),
            ("lens", "lens"),
            ("items", "item"), ("dns", "dns"), ("quizzes", "quiz"), ("selfies", "selfie"),
        ])
    func singular(plural: String, singular: String) {
        #expect(Words.singular(plural) == singular)
    }
}

@Suite("Generated source is in the style of swift format")
struct EmissionTests {
    private func members(_ keys: String...) throws -> [String] {
        let members = keys.map { "\"\($0)\": 1" }.joined(separator: ", ")
        return try Generated(samples: "{\(members)}").members(of: "Shop")
    }

    @Test("Words of the language have backticks, and names that a model uses get another")
    func escaped() throws {
        #expect(
            try members("default", "public", "map", "self", "hashValue", "modelIdentifier") == [
                "let `default`: Int", #"@Stored("hashValue") let hashValueValue: Int"#,
                "let map: Int",
                #"@Stored("modelIdentifier") let modelIdentifierValue: Int"#,
                "let `public`: Int", #"@Stored("self") let selfValue: Int"#,
            ])
    }

    @Test("Two keys with one name get two, and the key that is a name keeps it")
    func sameNames() throws {
        #expect(
            try members("user_id", "userId", "user-id") == [
                #"@Stored("user-id") let userId2: Int"#, "let userId: Int",
                #"@Stored("user_id") let userId3: Int"#,
            ])
    }

    @Test("A line that is too long is broken behind its attribute")
    func longLines() throws {
        let key = String(repeating: "long_", count: 12) + "name"
        let lines = try members(key)
        #expect(lines.count == 2 && lines[0] == "@Stored(\"\(key)\")")
        let source = try Generated(
            schema: """
                {"title": "A", "description": "\(String(repeating: "word ", count: 60))",
                 "properties": {"\(key)": {"type": "string", "description": "One.\\n\\nTwo."}}}
                """)
        #expect(source.text.split(separator: "\n").allSatisfy { $0.count <= 100 })
        #expect(source.text.contains("    /// One.\n    ///\n    /// Two.\n"))
    }

    @Test(
        "Keys and values are literals with all their characters",
        arguments: [
            ("a\"b", #""a\"b""#), ("a\\(b)", #""a\\(b)""#), ("a\nb\tc\rd", #""a\nb\tc\rd""#),
            ("\u{1}", #""\u{1}""#), ("\u{200E}", #""\u{200e}""#), ("é", "\"é\""),
        ])
    func literals(text: String, literal: String) {
        #expect(SwiftEmitter.literal(text) == literal)
    }

    @Test(
        "Access levels stand at types, members and imports",
        arguments: [
            (GenerationOptions.Access.internal, ""), (.package, "package "), (.public, "public "),
        ])
    func access(level: GenerationOptions.Access, text: String) throws {
        let source = try Generated(
            schema: """
                {"title": "A", "required": ["b", "u"], "properties": {
                  "b": {"enum": ["c", "d"]}, "u": {"type": "string", "format": "uri"},
                  "v": {"type": ["string", "number"]}}}
                """
        ) {
            $0.access = level
            $0.module = "EspalierNormalized"
        }
        for line in [
            "\(text)import EspalierNormalized", "\(text)import Foundation",
            "@Normalized(.codable) \(text)struct A {", "\(text)let u: URL",
            "\(text)init(rawValue: String) {", "\(text)var rawValue: String {",
            "@Normalized \(text)nonisolated enum V: Codable {",
            "\(text)init(from decoder: any Decoder) throws {",
            "\(text)func encode(to encoder: any Encoder) throws {",
            "\(text)nonisolated enum AJSON: Codable, Hashable, Sendable {",
        ] {
            #expect(source.has(line), "\(line)")
        }
    }

    @Test("The case for unknown values has another name if a value has its own")
    func unknown() throws {
        let source = try Generated(
            schema: """
                {"$defs": {"a": {"enum": ["unknown", "none", "in", "init", "In"]}}}
                """)
        #expect(
            source.members(of: "A") == [
                "case unknown", "case noneCase", "case `in`", "case initCase", "case in2",
                "/// A value that this file does not know.", "case other(String)",
            ])
        #expect(source.has(#"case "in": self = .in"#))
    }

    @Test("A type that would hide one of Swift gets another name")
    func reservedTypes() throws {
        let source = try Generated(samples: #"{"error": {"a": 1}, "data": {"b": {"c": 1}}}"#) {
            $0.rootType = "Result"
        }
        #expect(
            source.types.map { $0.split(separator: " ").last } == [
                "ResultModel", "B", "ResultData", "ResultError",
            ])
    }

    @Test("A type without members is empty on one line")
    func empty() throws {
        #expect(try Generated(samples: "{}").has("@Normalized(.codable) struct Shop {}"))
    }
}

@Suite("Options of the plugin")
struct GenerationOptionsTests {
    private func options(_ text: String) throws -> GenerationOptions {
        try GenerationOptions(parsing: Data(text.utf8), named: "options.json")
    }

    @Test("A file has any of the options")
    func reading() throws {
        let all = try options(
            """
            {"access": "public", "import": "M", "idKey": "urn", "absent": "none",
             "types": {"a": "B"}}
            """)
        #expect(all.access == .public && all.module == "M" && all.idKey == "urn")
        #expect(all.absence == .none && all.records == ["a": "B"])
        let none = try options("{}")
        #expect(none.access == .internal && none.module == "Espalier" && none.records == [:])
    }

    @Test(
        "An option that is unknown or cannot have its value is a problem",
        arguments: [
            (#"{"acces": "public"}"#, "options.json: #/acces: this option is unknown"),
            (
                #"{"access": "open"}"#,
                "options.json: #/access: one of internal, package, public"
            ),
            (#"{"absent": 1}"#, "options.json: #/absent: one of not-fetched, none"),
            (#"{"types": {"a": 1}}"#, "options.json: #/types: an object with the names of types"),
            ("[]", "options.json: the options are an object"),
        ])
    func problems(text: String, problem: String) {
        let error = #expect(throws: GenerationError.self) { try options(text) }
        #expect(error?.description == problem)
    }
}
