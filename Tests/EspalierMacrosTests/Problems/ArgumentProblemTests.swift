#if Macros
import Testing

@Suite("Diagnostics about the arguments of @Normalized and about id")
struct ArgumentProblemTests {
    @Test("@Normalized with an empty type: is an error")
    func emptyType() {
        expectProblem(
            """
            @Normalized(type: "") struct Person {
                let id: String
            }
            """,
            """
            'type:' must not be empty, because identifiers of different types would collide: \
            remove it to use 'Person'
            """, line: 1, column: 19, fixIt: "replace with \"Person\"",
            fixed: """
                @Normalized(type: "Person") struct Person {
                    let id: String
                }
                """)
    }

    @Test("@Normalized with a type: that is not a plain literal is an error")
    func typeLiteral() {
        let message = "'type:' must be a string literal without interpolations"
        expectProblem(
            "@Normalized(type: name) struct Person { let id: String }", message, line: 1, column: 19
        )
        expectProblem(
            #"@Normalized(type: "a\(name)") struct Person { let id: String }"#, message, line: 1,
            column: 19)
    }

    @Test("An id that is not stored, and is made anew by each read, is an error")
    func unstoredIdentifier() {
        let message = """
            this 'id' is not stored, and 'UUID()' makes another one at each read: declare it as a \
            stored property that initializers set, such as 'let id: UUID'
            """
        expectProblem(
            "@Normalized struct Item { let id = UUID(); let name: String }", message, line: 1,
            column: 31)
        expectProblem(
            "@Normalized struct Item { @NotStored var id: UUID = UUID(); let name: String }",
            message, line: 1, column: 42)
        expectProblem(
            "@Normalized struct Item { let id = UUID().uuidString; let name: String }",
            """
            this 'id' is not stored, and 'UUID().uuidString' makes another one at each read: \
            declare it as a stored property that initializers set
            """, line: 1, column: 31)
    }

    @Test("An id that is the same in every model is none")
    func constantIdentifier() {
        for id in [#"let id = "settings""#, "var id: UUID = UUID()", "let id: UUID"] {
            expectExpansion(
                of: "@Normalized struct Item { \(id); let name: String }",
                has: "extension Item")
        }
    }

    @Test("@Normalized with both type: and identifier: is an error")
    func both() {
        expectProblem(
            #"@Normalized(type: "person", identifier: \.urn) struct Person { let urn: String }"#,
            """
            'type:' and 'identifier:' exclude each other, because 'identifier:' gives the whole \
            identifier: remove one of them
            """, line: 1, column: 19)
    }

    @Test("An argument of @Normalized in a type with a modelIdentifier gets a fix-it to remove it")
    func unusedArgument() {
        for (argument, fixIt) in [
            ("type: \"person\"", "remove the argument"),
            ("identifier: \\.urn", "remove the argument"),
        ] {
            expectProblem(
                """
                @Normalized(\(argument)) struct Person {
                    let id: String
                    var modelIdentifier: String? { id }
                }
                """,
                """
                this argument has no effect, because 'Person' defines 'modelIdentifier': remove \
                one of them
                """, line: 1, column: argument.hasPrefix("type") ? 19 : 25, fixIt: fixIt,
                fixed: """
                    @Normalized struct Person {
                        let id: String
                        var modelIdentifier: String? { id }
                    }
                    """)
        }
    }

    @Test(
        "A modelIdentifier of another type gets a fix-it to make it a String?",
        arguments: ["String", "Int", "Name?"])
    func identifierType(type: String) {
        func person(_ type: String) -> String {
            "@Normalized struct Person {\n    var modelIdentifier: \(type) { name }\n}"
        }
        expectProblem(
            person(type),
            "'modelIdentifier' must be a String?: the cache ignores a property of another type",
            line: 2, column: 26, fixIt: "replace with 'String?'", fixed: person("String?"))
        for right in ["String?", "Swift.String?", "Optional<String>"] {
            expectExpansion(of: person(right), has: "nonisolated func map")
        }
    }

    @Test("An id in a generic type, or in an extension that requires one, is an error")
    func genericContext() {
        let message = """
            'Row' is nested in a generic type, whose arguments are not in its identifiers: move it \
            out, define 'modelIdentifier', or use @Normalized(type: "...") to share the records \
            between all arguments
            """
        expectProblem(
            "struct Page<T> { @Normalized struct Row { let id: Int } }", message, line: 1,
            column: 18)
        expectProblem(
            "struct Page<T> { enum Rows { @Normalized struct Row<U: Codable> { let id: Int } } }",
            message, line: 1,
            column: 30)
        expectProblem(
            "extension Page where T: P { @Normalized struct Row { let id: Int } }", message,
            line: 1, column: 29)
    }

    @Test("A model in a generic type may choose its identifier, or have none")
    func genericContextElsewhere() {
        for row in [
            "@Normalized struct Row { let text: String }",
            #"@Normalized(type: "row") struct Row { let id: Int }"#,
            #"@Normalized(identifier: \.urn) struct Row { let urn: String }"#,
            "@Normalized struct Row { let id: Int; var modelIdentifier: String? { nil } }",
        ] {
            expectExpansion(of: "struct Page<T> { \(row) }", has: "nonisolated func map")
        }
        expectExpansion(
            of: "extension Page where T == Int { @Normalized struct Row { let id: Int } }",
            has: "\"Row:\"")
    }

    @Test("@Normalized with type: on a type without an id is an error")
    func typeWithoutIdentifier() {
        expectProblem(
            #"@Normalized(type: "person") struct Person { let name: String }"#,
            """
            'type:' is the prefix of an identifier, and 'Person' has no 'id': add one, or name \
            another property with @Normalized(identifier:)
            """, line: 1, column: 19)
    }

    @Test("@Normalized with an identifier: that is no key path of properties is an error")
    func identifierPath() {
        let message = "'identifier:' must be a key path of properties, such as \\.urn"
        expectProblem(
            #"@Normalized(identifier: \.names[0]) struct Person { let names: [String] }"#, message,
            line: 1, column: 25)
        expectProblem(
            #"@Normalized(identifier: path) struct Person { let urn: String }"#, message, line: 1,
            column: 25)
    }

    @Test(
        "An optional id gets a fix-it to remove the question mark",
        arguments: ["let id: String?", "var id: String? { nil }"])
    func optionalIdentifier(id: String) {
        expectProblem(
            """
            @Normalized struct Person {
                \(id)
            }
            """,
            """
            an 'id' that is nil identifies no record: remove the '?', or use \
            @Normalized(identifier: \\.id), which makes the text of 'id' the whole identifier and \
            stores a value without one in its parent
            """, line: 2, column: 13, fixIt: "remove '?'",
            fixed: """
                @Normalized struct Person {
                    \(id.replacing("?", with: ""))
                }
                """)
    }

    @Test("An optional id is allowed if it is the whole identifier or the type defines its own")
    func optionalIdentifierElsewhere() {
        expectExpansion(
            of: #"@Normalized(identifier: \.id) struct Person { let id: String? }"#,
            has: "identifier(of: self.id)")
        expectExpansion(
            of: """
                @Normalized struct Person {
                    let id: String?
                    var modelIdentifier: String? { id }
                }
                """,
            has: "encode(self.id")
    }
}
#endif
