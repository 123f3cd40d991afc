#if Macros
import Testing

@Suite("Members that the type defines itself")
struct OwnDeclarationsTests {
    @Test(
        "A member that the type defines is not generated",
        arguments: [
            ("var modelIdentifier: String? { nil }", "nonisolated var modelIdentifier"),
            ("var projectionIdentifier: String { \"P\" }", "nonisolated var projectionIdentifier"),
            (
                "func map(_ transform: (any Model) -> (any Model)?) -> Message? { self }",
                "nonisolated func map"
            ),
            ("func forEach(_ visit: (any Model) -> Void) {}", "nonisolated func forEach"),
            ("func hash(into hasher: inout Hasher) {}", "nonisolated func hash"),
            ("func merge(_ model: any Model) -> any Model { self }", "nonisolated func merge"),
            ("func storedValue(_ name: String) -> Any? { nil }", "nonisolated func storedValue"),
            ("func encode(to encoder: inout RecordEncoder) throws {}", "nonisolated func encode"),
            (
                "init(from decoder: inout RecordDecoder) throws {}",
                "init(from decoder: inout EspalierRecords"
            ),
            (
                "func copy(_ change: (inout Builder) -> Void) -> Message { self }",
                "nonisolated func copy"
            ),
            ("struct Builder {}", "struct Builder: Swift.Sendable"),
        ])
    func each(own: String, generated: String) {
        let source = "@Normalized struct Message { let id: Int; let sender: Person\n}"
        expectExpansion(of: source, has: generated)
        expectExpansion(
            of: source.replacing("\n", with: "\n\(own)\n"), has: "extension Message",
            without: [generated])
    }

    @Test("Overloads with the names of generated functions do not replace them")
    func otherFunctions() {
        expectExpansion(
            of: """
                @Normalized struct Message: Codable {
                    let id: Int
                    func map<T>(_ transform: (Int) -> T) -> T { transform(id) }
                    func encode(to encoder: any Encoder) throws {}
                    init(from decoder: any Decoder) throws {}
                    func copy(_ name: String) -> Message { self }
                    func hash(into digest: inout Digest) {}
                    func storedValue(_ place: Int) -> Any? { nil }
                }
                """, has: "nonisolated func map", "nonisolated func encode",
            "nonisolated func copy", "nonisolated func hash", "nonisolated func storedValue",
            "nonisolated init(from decoder: inout EspalierRecords.RecordDecoder)")
    }

    @Test("A class with an initializer gets no memberwise one")
    func initializer() {
        let source = "@Normalized final class Message { let id: Int\n}"
        expectExpansion(of: source, has: "init(id: Int)")
        expectExpansion(
            of: source.replacing("\n", with: "\ninit(number: Int) { id = number }\n"),
            has: "init(_ builder",
            without: ["nonisolated init(id: Int)"])
    }

    @Test("The builder has another name if Builder is taken")
    func ownBuilder() {
        expectExpansion(
            of: "@Normalized struct Message { let id: Int; struct Builder {} }",
            has: "struct NormalizedBuilder: Swift.Sendable",
            "copy(_ change: (inout NormalizedBuilder)")
        expectExpansion(
            of: "@Normalized struct Message { let builder: Builder }",
            has: "struct NormalizedBuilder",
            "var builder: Builder")
        expectExpansion(
            of: "@Normalized struct Builder { let id: Int }", has: "struct NormalizedBuilder")
    }

    @Test("The conformance to Equatable uses a == that the type defines")
    func equality() {
        let source = "@Normalized struct Message { let id: Int\n}"
        expectExpansion(of: source, has: "a.id == b.id", "@_implements(Swift.Equatable, ==(_:_:))")
        expectExpansion(
            of: source.replacing(
                "\n", with: "\nstatic func == (a: Message, b: Message) -> Bool { true }\n"),
            has: "@_implements(Swift.Equatable, ==(_:_:))", "return a == b",
            without: ["a.id == b.id"])
    }

    @Test(
        "A == of the type is found however the type is written",
        arguments: [
            "Page", "Self", "Page<Item>", "Feed.Page", "Feed.Page<Item>", "borrowing Page",
            "(Page)",
        ])
    func writtenEquality(type: String) {
        expectExpansion(
            of: Self.page(with: "static func == (a: \(type), b: \(type)) -> Swift.Bool { true }"),
            has: "return a == b",
            without: ["a.id == b.id"])
    }

    @Test(
        "A == of other types does not replace the generated one",
        arguments: [
            "static func == (a: Page, b: Int) -> Bool { true }",
            "static func == (a: Int, b: Page) -> Bool { true }",
            "static func == <T>(a: T, b: T) -> Bool { true }",
            "static func == (a: Page, b: Page) -> Filter { .init() }",
            "static func == (a: Page<Int>, b: Page<Int>) -> Bool { true }",
            "static func == (a: Other.Page, b: Other.Page) -> Bool { true }",
            "static func == (a: Page?, b: Page?) -> Bool { true }",
        ])
    func otherEquality(own: String) {
        expectExpansion(of: Self.page(with: own), has: "a.id == b.id", without: ["return a == b"])
    }

    private static func page(with own: String) -> String {
        "extension Feed { @Normalized struct Page<Item: Model> { let id: Int\n\(own)\n} }"
    }

    @Test("With a == of its own, a type hashes nothing, because equal values must hash alike")
    func ownEquality() {
        expectExpansion(
            of: """
                @Normalized struct Message {
                    let id: Int
                    static func == (a: Self, b: Self) -> Bool { true }
                }
                """,
            has: "nonisolated func hash(into hasher: inout Swift.Hasher)",
            without: ["hasher.combine"])
    }

    @Test("The extension declares only the conformances that the compiler asks for")
    func conformances() {
        expectExpansion(
            of: "@Normalized struct Message { let id: Int }",
            has: """
                nonisolated extension Message: EspalierModels.NormalizedModel, \
                EspalierModels.Model, EspalierModels.ProjectedModel, EspalierRecords.NodeModel, \
                Swift.Hashable {
                """)
        expectExpansion(
            of: "@Normalized enum Entry { case a }",
            has: """
                extension Entry: EspalierModels.NormalizedModel, EspalierModels.Model, \
                Swift.Hashable
                """,
            without: ["ProjectedModel"])
    }
}
#endif
