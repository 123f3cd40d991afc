#if Macros
import Testing

@Suite("what is said about the arguments of @Normalized, and about id")
struct ArgumentProblemTests {
    @Test("an empty type")
    func emptyType() {
        expectProblem(
            """
            @Normalized(type: "") struct Person {
                let id: String
            }
            """,
            "an empty 'type:' would mix identifiers of different types; leave it out for 'Person'",
            line: 1,
            column: 19,
            fixIt: "replace by \"Person\"",
            fixed: """
                @Normalized(type: "Person") struct Person {
                    let id: String
                }
                """)
    }

    @Test("a type that is no literal")
    func typeLiteral() {
        let message = "'type:' takes a string literal without interpolations"
        expectProblem(
            "@Normalized(type: name) struct Person { let id: String }", message, line: 1, column: 19
        )
        expectProblem(
            #"@Normalized(type: "a\(name)") struct Person { let id: String }"#, message, line: 1,
            column: 19)
    }

    @Test("a type together with an identifier")
    func both() {
        expectProblem(
            #"@Normalized(type: "person", identifier: \.urn) struct Person { let urn: String }"#,
            """
            'type:' and 'identifier:' exclude each other: 'identifier:' takes the text of the property as the whole identifier
            """, line: 1, column: 19)
    }

    @Test("an argument beside a modelIdentifier of the type's own; the fix-it removes it")
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
                "'Person' has a 'modelIdentifier' of its own, which this would not change: remove one of them",
                line: 1, column: argument.hasPrefix("type") ? 19 : 25, fixIt: fixIt,
                fixed: """
                    @Normalized struct Person {
                        let id: String
                        var modelIdentifier: String? { id }
                    }
                    """)
        }
    }

    @Test(
        "a modelIdentifier of another type; the fix-it makes it a String?",
        arguments: ["String", "Int", "Name?"])
    func identifierType(type: String) {
        func person(_ type: String) -> String {
            "@Normalized struct Person {\n    var modelIdentifier: \(type) { name }\n}"
        }
        expectProblem(
            person(type),
            "a 'modelIdentifier' is a String?: one of another type is not what the cache asks for",
            line: 2,
            column: 26, fixIt: "replace by 'String?'", fixed: person("String?"))
        for right in ["String?", "Swift.String?", "Optional<String>"] {
            expectExpansion(of: person(right), has: "nonisolated func map")
        }
    }

    @Test("an id in a generic type, or in an extension that can be of no other")
    func genericContext() {
        let message = """
            'Row' stands in a generic type and has the same identifiers for whatever that is generic over: move it out, write \
            a 'modelIdentifier', or say with @Normalized(type: "...") that its records are the same, too
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

    @Test("in a generic type a chosen identifier is right, and none at all")
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

    @Test("a type without an id")
    func typeWithoutIdentifier() {
        expectProblem(
            #"@Normalized(type: "person") struct Person { let name: String }"#,
            """
            'type:' stands before an identifier, and 'Person' has no 'id': give it one, or name another property with \
            @Normalized(identifier:)
            """, line: 1, column: 19)
    }

    @Test("an identifier that is no path of properties")
    func identifierPath() {
        let message = "'identifier:' takes a key path of properties, such as \\.urn"
        expectProblem(
            #"@Normalized(identifier: \.names[0]) struct Person { let names: [String] }"#, message,
            line: 1, column: 25)
        expectProblem(
            #"@Normalized(identifier: path) struct Person { let urn: String }"#, message, line: 1,
            column: 25)
    }

    @Test(
        "an optional id; the fix-it removes the question mark",
        arguments: ["let id: String?", "var id: String? { nil }"])
    func optionalIdentifier(id: String) {
        expectProblem(
            """
            @Normalized struct Person {
                \(id)
            }
            """,
            """
            an 'id' that may be nil names no record; remove the '?', or write @Normalized(identifier: \\.id), which takes the \
            text of 'id' as the whole identifier and makes values without one parts of their parents
            """, line: 2, column: 13, fixIt: "remove '?'",
            fixed: """
                @Normalized struct Person {
                    \(id.replacing("?", with: ""))
                }
                """)
    }

    @Test("an optional id is right where it is the identifier, or where the type has its own")
    func optionalIdentifierElsewhere() {
        expectExpansion(
            of: #"@Normalized(identifier: \.id) struct Person { let id: String? }"#,
            has: "identifier(of: self.id)")
        expectExpansion(
            of:
                "@Normalized struct Person { let id: String?; var modelIdentifier: String? { id } }",
            has: "encode(self.id")
    }
}
#endif
