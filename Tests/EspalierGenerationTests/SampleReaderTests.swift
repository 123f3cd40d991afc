import Foundation
import Testing

@testable import EspalierGeneration

@Suite("Types of samples")
struct SampleReaderTests {
    // MARK: Values

    @Test(
        "A value has the narrowest type that reads all samples and writes them again",
        arguments: [
            ("1, 2", "Int"), ("1, 2.5", "Double"), ("true, false", "Bool"),
            // A server that writes 1.0 will write 1.5, too.
            ("1, 2.0", "Double"), ("1E5", "Double"), ("1, 18446744073709551615", "UInt64"),
            ("-1, 18446744073709551615", "Double"), ("18446744073709551616", "Double"),
            (#""a", "b""#, "String"), ("null, 1", "Field<Int>"), ("1, \"a\"", "ShopJSON"),
            ("null", "ShopJSON"), ("[]", "[ShopJSON]"), ("[1], [2.5, null]", "[Double?]"),
            ("[[1]], []", "[[Int]]"), ("{\"a\": 1}, [1]", "ShopJSON"),
            (#""2013-01-10T07:58:30Z""#, "Date"), (#""2013-01-10T07:58:30.5Z""#, "String"),
            (#""2013-01-10""#, "String"), (#""2013-13-10T07:58:30Z""#, "String"),
            (#""https://a.b/c", "http://d.e""#, "URL"), (#""https://a.b/{c}""#, "String"),
            (#""https://a.b/c", """#, "String"), (#""git://a.b""#, "String"),
            (#""0F0A1C5E-91B4-4C6F-9A51-0B7C0C3A4D10""#, "UUID"),
            // Foundation writes capital letters.
            (#""0f0a1c5e-91b4-4c6f-9a51-0b7c0c3a4d10""#, "String"),
        ])
    func values(values: String, type: String) throws {
        // One object for each value: an array would be joined to them.
        let parts = try JSON(parsing: Data("[\(values)]".utf8), name: "").elements ?? []
        #expect(!parts.isEmpty)
        let source = try Generated(samples: "[\(Self.objects(values).joined(separator: ","))]")
        #expect(source.has("let x: \(type)"), "\(source)")
    }

    /// Returns `{"x": ...}` for each value of a list.
    private static func objects(_ values: String) -> [String] {
        var parts: [String] = []
        var depth = 0
        for part in values.split(separator: ",", omittingEmptySubsequences: false) {
            if depth > 0 {
                parts[parts.count - 1] += ",\(part)"
            } else {
                parts.append(String(part))
            }
            depth += part.count { "[{".contains($0) } - part.count { "]}".contains($0) }
        }
        return parts.map { "{\"x\":\($0)}" }
    }

    @Test("An object is a dictionary if its keys are data")
    func dictionaries() throws {
        func type(_ samples: String) throws -> String? {
            try Generated(samples: samples).members(of: "Shop").first { $0.hasPrefix("let m:") }
        }
        let many = (0..<8).map { "\"-NaB\($0)\": {\"x\": \($0)}" }.joined(separator: ", ")
        #expect(try type(#"{"m": {"2014-08-31": 7}}"#) == "let m: [String: Int]")
        #expect(try type("{\"m\": {\(many)}}") == "let m: [String: M]")
        #expect(try type("{\"m\": {\(many), \"total\": 8}}") == "let m: M")
        // One lacks a member, another one has its own.
        let similar = many + #", "-NaB8": {"x": 1, "y": 2}"#
        #expect(try type("{\"m\": {\(similar)}}") == "let m: [String: M]")
        let different = many + #", "-NaB8": {"y": 1}"#
        #expect(try type("{\"m\": {\(different)}}") == "let m: M")
        // An object with an identifier, and objects that all have the same keys.
        #expect(try type(#"{"m": {"id": 1, "a b": 2}}"#) == "let m: M")
        #expect(
            try type(#"{"m": [{"a b": 1}, {"a b": 2}]}"#) == "let m: [M]")
        #expect(
            try type(#"{"m": [{"a b": 1}, {"a c": 2}]}"#) == "let m: [[String: Int]]")
    }

    @Test("Thousands of members are read in a moment, nodes or not")
    func manyMembers() throws {
        for member in [#"{"id": 1, "x": 0}"#, #"{"x": 0}"#, #"{"x": [{"y": 0}], "z": 1}"#] {
            let members = (0..<1_000).map { "\"k\($0)\": \(member)" }
            // With one that differs, they are no dictionary.
            let text = (members + ["\"other\": {}"]).joined(separator: ", ")
            let source = try Generated(samples: "{\"m\": {\(text)}}")
            #expect(source.members(of: "M").count == 1_001)
        }
    }

    @Test("Objects in members that only wrap others have the name of the member around them")
    func wrappers() throws {
        let connections = try Generated(
            samples: """
                {"repository": {"id": 1,
                  "issues": {"edges": [{"node": {"id": 1, "title": "t"}}]},
                  "users": {"nodes": [{"id": 1, "login": "l"}]}}}
                """)
        #expect(connections.members(of: "Issue") == ["let id: Int", "let title: String"])
        #expect(connections.members(of: "User") == ["let id: Int", "let login: String"])
        #expect(connections.members(of: "Node").isEmpty, "\(connections)")
        let lists = try Generated(
            samples: """
                {"data": [{"id": 1, "name": "p", "comments": {"data": [{"id": 1, "name": "c"}]}}]}
                """)
        #expect(lists.members(of: "Comment") == ["let id: Int", "let name: String"])
        #expect(lists.members(of: "Data").isEmpty, "Data is Foundation's")
        // A choice of the user counts.
        let chosen = try Generated(samples: #"{"issues": {"nodes": [{"id": 1}]}}"#) {
            $0.records["nodes"] = "Ticket"
        }
        #expect(chosen.members(of: "Ticket") == ["let id: Int"])
        // Its text is the prefix of identifiers, whether or not it is a name in Swift.
        for name in ["github-user", "2fa", "class"] {
            let source = try Generated(samples: #"{"issues": {"nodes": [{"id": 1}]}}"#) {
                $0.records["nodes"] = name
            }
            #expect(
                source.has(
                    #"@Normalized(.codable, type: "\#(name)") struct \#(Words.type(name)) {"#))
        }
    }

    @Test("An object that is always empty is any JSON: other documents may have members there")
    func emptyObject() throws {
        let source = try Generated(samples: #"[{"id": 1, "m": {}}, {"id": 2, "m": {}}]"#)
        #expect(source.members(of: "Shop").contains("let m: ShopJSON"))
        let filled = try Generated(samples: #"[{"id": 1, "m": {}}, {"id": 2, "m": {"x": 1}}]"#)
        #expect(filled.members(of: "Shop").contains("let m: M"))
    }

    @Test("Identifiers of two kinds make no nodes, and the comment says why")
    func mixedIdentifiers() throws {
        for samples in [
            #"[{"id": 1, "u": {"id": "7"}}, {"id": 2, "u": {"id": 7}}]"#, #"[{"id": 1.5, "a": 1}]"#,
        ] {
            let source = try Generated(samples: samples)
            #expect(
                "\(source)".contains("neither a string in all objects nor a whole number in all"),
                "\(source)")
        }
        let source = try Generated(samples: #"[{"id": 1}, {"a": 1}]"#)
        #expect("\(source)".contains("not every object has `id`"), "\(source)")
    }

    @Test("A number that Foundation can't read is not called invalid JSON")
    func hugeNumber() {
        #expect {
            _ = try Generated(samples: #"{"id": 1, "a": 1e400}"#)
        } throws: {
            "\($0)".contains("a number is too large")
        }
    }

    @Test("A document without a declaration of its own has the type for any JSON")
    func mixedRoot() throws {
        let source = try Generated(samples: "[{}, 1]")
        #expect("\(source)".contains("enum ShopJSON"), "\(source)")
    }

    @Test(
        "An empty name of a member is a clear error, and characters that can't be seen are escaped")
    func names() throws {
        #expect {
            _ = try Generated(samples: #"{"id": 1, "o": {"id": 2, "": 1, "x": 2}}"#)
        } throws: {
            "\($0)".contains("an object of the type O has a member with an empty name")
        }
        // Without an identifier, the names may be data.
        let dictionary = try Generated(samples: #"{"id": 1, "o": {"": 1, "x": 2}}"#)
        #expect("\(dictionary)".contains("let o: [String: Int]"), "\(dictionary)")
        let source = try Generated(samples: #"{"a\u007f": 1, "b\u2028": 2}"#)
        let text = "\(source)"
        #expect(
            text.contains(#"@Stored("a\u{7f}")"#) && text.contains(#"@Stored("b\u{2028}")"#),
            "\(text)")
    }

    @Test("Strings stay strings if the user wants it")
    func plainStrings() throws {
        let source = try Generated(samples: #"{"x": "https://a.b/c"}"#) { $0.keepsStrings = true }
        #expect(source.has("let x: String"))
        #expect(!source.has("import Foundation"))
    }

    @Test("A member that some objects lack is a Field of a node, and an optional of others")
    func absent() throws {
        let nodes = try Generated(samples: #"[{"id": 1, "x": 1}, {"id": 2}]"#)
        #expect(nodes.types == ["@Normalized(.codable, policy: .merge) struct Shop"])
        #expect(nodes.members(of: "Shop") == ["let id: Int", "let x: Field<Int>"])
        let whole = try Generated(samples: #"[{"id": 1, "x": 1}, {"id": 2}]"#) {
            $0.absence = .none
        }
        #expect(whole.types == ["@Normalized(.codable) struct Shop"])
        #expect(whole.members(of: "Shop") == ["let id: Int", "let x: Int?"])
        let others = try Generated(samples: #"[{"x": 1}, {}]"#)
        #expect(others.members(of: "Shop") == ["let x: Int?"])
        let nulls = try Generated(samples: #"[{"x": 1}, {"x": null}, {}]"#)
        #expect(nulls.members(of: "Shop") == ["let x: Field<Int>"])
    }

    @Test("Several samples together show what may be missing")
    func severalSamples() throws {
        let source = try Generated(
            samples: #"{"a": 1, "b": "x"}"#, #"{"a": 2.5, "c": null}"#)
        #expect(
            source.members(of: "Shop") == [
                "let a: Double", "let b: String?", "let c: Field<ShopJSON>",
            ])
    }

    @Test("Keys that are no names are data")
    func dictionary() throws {
        let source = try Generated(
            samples: """
                {"days": {"2014-08-31": {"n": 1, "m": 2}, "2014-09-01": {"n": 3}},
                 "sums": {"1": 2, "b": 3.5}, "by id": {"7": {"id": 7}}}
                """)
        #expect(
            source.members(of: "Shop") == [
                #"@Stored("by id") let byId: [String: ById]"#, "let days: [String: Day]",
                "let sums: [String: Double]",
            ])
        #expect(source.members(of: "Day") == ["let m: Int?", "let n: Int"])
    }

    // MARK: One type

    @Test("Objects without identifiers and with the same members are one type")
    func sameMembers() throws {
        let source = try Generated(
            samples: """
                {"sizes": {"small": {"w": 1, "h": 2}, "large": {"w": 3, "h": 4}},
                 "box": {"w": "wide", "h": "high"}, "crate": {"w": "a", "h": "b"},
                 "point": {"x": 1}, "dot": {"x": 1}}
                """)
        #expect(source.members(of: "Sizes") == ["let large: Size", "let small: Size"])
        #expect(
            source.members(of: "Shop") == [
                "let box: Box", "let crate: Box",
                // One member is too little to tell.
                "let dot: Dot", "let point: Point", "let sizes: Sizes",
            ])
    }

    @Test("What one type contains is one type, however different it is")
    func members() throws {
        let user = #""id": 1, "name": "a""#
        let source = try Generated(
            samples: """
                [{"id": 1, "user": {\(user), "more": {"a": 1, "b": 2}}},
                 {"id": 2, "user": {"id": 2, "name": "b", "more": {"c": 3}},
                  "seen": {"user": {\(user), "more": {"d": 1}}}}]
                """)
        #expect(
            source.members(of: "More") == [
                "let a: Int?", "let b: Int?", "let c: Int?", "let d: Int?",
            ])
    }

    @Test("Objects with the same identifier and other members are projections of one record")
    func projections() throws {
        let source = try Generated(
            samples: """
                {"actor": {"id": 1, "login": "a"}, "author": {"id": 2, "login": "b"},
                 "user": {"id": 1, "login": "a", "bio": "c"}}
                """
        ) { $0.records = ["actor": "User", "author": "User"] }
        #expect(
            source.members(of: "Shop") == [
                "let actor: Actor", "let author: Actor", "let user: User",
            ])
        #expect(source.has(#"@Normalized(.codable, type: "User") struct Actor {"#))
        #expect(source.has("@Normalized(.codable) struct User {"))
    }

    @Test("Projections of one record agree about what the record has")
    func agreement() throws {
        let source = try Generated(
            samples: """
                {"actor": {"id": 1, "at": "2013-01-10T07:58:30Z", "n": 1, "bio": null,
                           "more": {"a": 1}, "org": {"id": 1, "a": 1}},
                 "user": {"id": 2, "at": "yesterday", "n": 2.5, "bio": "b", "x": 1,
                          "more": {"b": 1}, "org": {"id": 1, "b": 2}}}
                """
        ) { $0.records = ["actor": "User"] }
        let members = [
            "let at: String", "let bio: Field<String>", "let more: More", "let n: Double",
        ]
        #expect(
            source.members(of: "Actor")
                == ["let id: Int"] + members + ["let org: Org"])
        #expect(
            source.members(of: "User")
                == ["let id: Int"] + members + ["let org: UserOrg", "let x: Int"])
        #expect(source.members(of: "More") == ["let a: Int?", "let b: Int?"])
        #expect(source.has(#"@Normalized(.codable, type: "Org") struct UserOrg {"#))
    }

    @Test("A record that contains itself is a class")
    func recursion() throws {
        let source = try Generated(
            samples: #"{"users": [{"id": 1, "boss": {"id": 2}}, {"id": 3}]}"#
        ) { $0.records = ["boss": "User"] }
        #expect(source.has("@Normalized(.codable, policy: .merge) final class User {"))
        #expect(source.members(of: "User") == ["let id: Int", "let boss: Field<User>"])
    }

    // MARK: Nodes

    @Test("Objects with one identifier and different content are no nodes, and those around are")
    func contradictions() throws {
        let source = try Generated(
            samples: """
                [{"id": 1, "mentions": [{"id": 7, "at": 1}]}, {"id": 2, "mentions": [{"id": 7, "at": 2}]},
                 {"id": 1, "mentions": [{"id": 7, "at": 1}]}]
                """)
        #expect(source.members(of: "Shop") == ["let id: Int", "let mentions: [Mention]"])
        #expect(
            source.has(
                "/// No node: two objects of the sample have one `id` and another `at`."))
        #expect(source.lines.count { $0 == "var modelIdentifier: String? { nil }" } == 1)
    }

    @Test("A member that only one of two objects has contradicts the other if nothing is left out")
    func absentContradicts() throws {
        let sample = #"[{"id": 1, "a": 1}, {"id": 1}]"#
        let partial = try Generated(samples: sample)
        #expect(!partial.has("var modelIdentifier: String? { nil }"))
        let whole = try Generated(samples: sample) { $0.absence = .none }
        #expect(whole.has("var modelIdentifier: String? { nil }"))
    }

    @Test("A record whose identifiers are numbers and strings is no node")
    func kindsOfIdentifiers() throws {
        let source = try Generated(
            samples: #"{"a": {"user": {"id": 1, "b": 1}}, "user": {"id": "1"}}"#)
        #expect(source.lines.count { $0 == "var modelIdentifier: String? { nil }" } == 2)
    }

    @Test("What contains an object that is no node may itself become none")
    func contradictionsAround() throws {
        let source = try Generated(
            samples: """
                [{"id": 1, "mention": {"id": 7, "at": 1}}, {"id": 1, "mention": {"id": 7, "at": 2}}]
                """)
        #expect(source.lines.count { $0 == "var modelIdentifier: String? { nil }" } == 2)
    }

    @Test(
        "Identifiers are strings or whole numbers, of one kind and in all objects",
        arguments: [
            (#"[{"id": "https://a.b"}]"#, "String", true), (#"[{"id": 1}]"#, "Int", true),
            (#"[{"id": 1}, {"id": "a"}]"#, "ShopJSON", false),
            (#"[{"id": 1}, {"x": 2}]"#, "Int?", false),
            (#"[{"id": 1}, {"id": null}]"#, "Field<Int>", false),
            (#"[{"id": 1.5}]"#, "Double", false), (#"[{"id": {}}]"#, "ShopJSON", false),
        ])
    func identifiers(sample: String, type: String, isNode: Bool) throws {
        let source = try Generated(samples: sample)
        #expect(source.has("let id: \(type)"), "\(source)")
        #expect(source.has("var modelIdentifier: String? { nil }") == !isNode)
    }

    @Test(
        "A member with a node that leads back to the object is a Field",
        arguments: [
            (
                #"{"threads":[{"id":1,"posts":[{"id":7,"thread":{"id":1}}]},{"id":2}]}"#,
                "Post", ["let id: Int", "let thread: Field<Thread>"]
            ),
            // Across two documents, and through an object without an identifier.
            (
                #"""
                {"users":[{"id":1,"info":{"friend":{"id":2}}},{"id":2,"info":{"friend":{"id":3}}},
                          {"id":3,"info":{"friend":{"id":1}}}]}
                """#,
                "Info", ["let friend: Field<Friend>"]
            ),
            (
                #"{"threads":[{"id":1,"posts":[{"id":7,"author":{"id":1}}]}]}"#,
                "Post", ["let id: Int", "let author: Author"]
            ),
        ])
    func backReferences(sample: String, type: String, members: [String]) throws {
        let source = try Generated(samples: sample) {
            $0.records = sample.contains("friend") ? ["friend": "User"] : [:]
        }
        #expect(source.members(of: type) == members, "\(source)")
    }

    @Test("Another member may be the identifier")
    func idKey() throws {
        let source = try Generated(samples: #"[{"id": 1, "id_str": "1"}]"#) {
            $0.idKey = "id_str"
        }
        #expect(
            source.members(of: "Shop")
                == [#"@Stored("id_str") let id: String"#, #"@Stored("id") let id2: Int"#])
    }

    // MARK: Documents

    @Test("A list has elements of the type that is named, or of the file's name in the singular")
    func lists() throws {
        #expect(
            try Generated(samples: #"[{"a": 1}]"#) { $0.rootType = "Events" }
                .has("// A document is [Events]."))
        let source = try Generator(GenerationOptions()).source(
            fromSamples: [("github_events.json", Data(#"[{"a": 1}]"#.utf8))])
        #expect(source.contains("struct GithubEvent {"))
    }

    @Test(
        "A document without an object is a problem",
        arguments: ["1", "[]", "[[1], [\"a\"]]", "null"])
    func noObject(sample: String) {
        #expect(throws: GenerationError.self) { try Generated(samples: sample) }
    }

    @Test("A type for a property that the sample does not have is a problem")
    func misspelledProperty() {
        let error = #expect(throws: GenerationError.self) {
            try Generated(samples: #"{"user": {"id": 1}}"#) { $0.records = ["usr": "User"] }
        }
        #expect(
            error?.description
                == "shop.json: a type is given for `usr`, under which no object stands")
    }

    @Test("A file that is no JSON is named, with the place")
    func noJSON() {
        let error = #expect(throws: GenerationError.self) { try Generated(samples: "{\"a\": }") }
        #expect(
            error?.description
                == "shop.json: this is no JSON: Invalid value around character 6.")
    }
}
