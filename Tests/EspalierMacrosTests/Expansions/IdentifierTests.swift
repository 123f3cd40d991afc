#if Macros
import Testing

@Suite("identifiers")
struct IdentifierTests {
    private let ofID = "EspalierModels.ModelMembers.identifier(of: self.id)"

    @Test(
        "the type's name and its id, stored or computed",
        arguments: ["let id: Int", "var id: String { text }", "let a: Int, id: Int"])
    func named(id: String) {
        expectExpansion(of: "@Normalized struct Person { \(id) }", has: "\"Person:\" + \(ofID)")
    }

    @Test("a name that is chosen, with any characters")
    func chosen() {
        expectExpansion(
            of: #"@Normalized(type: "person") struct Person { let id: Int }"#,
            has: "\"person:\" + \(ofID)")
        expectExpansion(
            of: #"@Normalized(type: "a\"b\\c") struct Person { let id: Int }"#, has: #"self.id"#)
    }

    @Test("a chosen name stands for a generic type too; else the type's arguments are in it")
    func generic() {
        expectExpansion(
            of: "@Normalized struct Page<Item: Model> { let id: Int }",
            has: "EspalierModels.ModelMembers.typeName(of: Self.self) + \":\" + \(ofID)")
        expectExpansion(
            of: #"@Normalized(type: "page") struct Page<Item: Model> { let id: Int }"#,
            has: "\"page:\" + \(ofID)")
    }

    @Test("a property that is the whole identifier, at any depth")
    func whole() {
        expectExpansion(
            of: #"@Normalized(identifier: \.urn) struct Person { let urn: String? }"#,
            has:
                "var modelIdentifier: Swift.String? {\n        EspalierModels.ModelMembers.identifier(of: self.urn)"
        )
        expectExpansion(
            of:
                #"@Normalized(identifier: \Person.header.urn) struct Person { let header: Header; let id: Int }"#,
            has: "identifier(of: self.header.urn)")
    }

    @Test("no id, or one of the type: an inline node")
    func inline() {
        expectExpansion(
            of: "@Normalized struct Size { static let id = 1; let width: Int }",
            has: "var modelIdentifier: Swift.String? {\n        nil")
    }

    @Test("a nested type has its innermost name; backticks are not a part of it")
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
