#if Macros
import Testing

@Suite("Identifiers in expansions")
struct IdentifierTests {
    private let ofID = "EspalierModels.ModelMembers.identifier(of: self.id)"

    @Test(
        "The identifier is the name of the type and the id, stored or computed",
        arguments: ["let id: Int", "var id: String { text }", "let a: Int, id: Int"])
    func named(id: String) {
        expectExpansion(of: "@Normalized struct Person { \(id) }", has: "\"Person:\" + \(ofID)")
    }

    @Test("The prefix of the identifier may be chosen, with any characters")
    func chosen() {
        expectExpansion(
            of: #"@Normalized(type: "person") struct Person { let id: Int }"#,
            has: "\"person:\" + \(ofID)")
        expectExpansion(
            of: #"@Normalized(type: "a\"b\\c") struct Person { let id: Int }"#, has: #"self.id"#)
    }

    @Test("The identifier of a generic type has its arguments unless a prefix is chosen")
    func generic() {
        expectExpansion(
            of: "@Normalized struct Page<Item: Model> { let id: Int }",
            has: "EspalierModels.ModelMembers.typeName(of: Self.self) + \":\" + \(ofID)")
        expectExpansion(
            of: #"@Normalized(type: "page") struct Page<Item: Model> { let id: Int }"#,
            has: "\"page:\" + \(ofID)")
    }

    @Test("A property at any depth may be the whole identifier")
    func whole() {
        expectExpansion(
            of: #"@Normalized(identifier: \.urn) struct Person { let urn: String? }"#,
            has: """
                var modelIdentifier: Swift.String? {
                        EspalierModels.ModelMembers.identifier(of: self.urn)
                """
        )
        expectExpansion(
            of: #"""
                @Normalized(identifier: \Person.header.urn) struct Person {
                    let header: Header
                    let id: Int
                }
                """#,
            has: "identifier(of: self.header.urn)")
    }

    @Test("A type without an id, or with a static one, has no identifier")
    func inline() {
        expectExpansion(
            of: "@Normalized struct Size { static let id = 1; let width: Int }",
            has: "var modelIdentifier: Swift.String? {\n        nil")
    }

    @Test("The identifier of a nested type has its innermost name without backticks")
    func nested() {
        expectExpansion(
            of: "enum Feed { @Normalized struct Message { let id: Int } }",
            has: "\"Message:\" + \(ofID)",
            "extension Feed.Message:")
        expectExpansion(
            of: "@Normalized struct `default` { let id: Int }", has: "\"default:\" + \(ofID)")
    }
}
#endif
