#if Macros
import Testing

@Suite("Rules of merges become the rules of the type")
struct MergedTests {
    @Test("Each rule stands under the stored name of its property")
    func rules() {
        expectExpansion(
            of: #"""
                @Normalized public struct Issue {
                    let id: Int
                    @Merged(.newest(by: \.updatedAt)) @Stored("t") let title: String?
                    @Stored("updated_at") let updatedAt: Date?
                    @Merged(.union) let labels: [Label]?
                    @Merged(.combined { (a: Int, b: Int) in max(a, b) }) let likes: Int?
                }
                """#,
            has: #"""
                    public nonisolated static let mergeRules: EspalierRecords.MergeRules = [
                        "t": .newest(by: "updated_at"),
                        "labels": .union,
                        "likes": .combined { (a: Int, b: Int) in
                """#, "max(a, b)")
    }

    @Test("CodingKeys name the field by which others are compared")
    func codingKeys() {
        expectExpansion(
            of: #"""
                @Normalized struct Issue {
                    let id: Int
                    @Merged(.newest(by: \.updatedAt)) let title: String
                    let updatedAt: Date
                    enum CodingKeys: String, CodingKey { case id, title, updatedAt = "u" }
                }
                """#, has: #""title": .newest(by: "u"),"#)
    }

    @Test("A stored name as a literal stays, and so does a rule that is written in full")
    func written() {
        expectExpansion(
            of: #"""
                @Normalized struct Issue {
                    let id: Int
                    @Merged(.newest(by: "u")) let title: String
                    @Merged(EspalierRecords.MergeRule.keepFirst) let first: Date
                    @Stored("u") let updatedAt: Date
                }
                """#, has: #""title": .newest(by: "u"),"#,
            #""first": EspalierRecords.MergeRule.keepFirst,"#)
    }

    @Test("A generic type, which can't store its rules, computes them")
    func generic() {
        expectExpansion(
            of: """
                @Normalized struct Page<Item: NormalizedModel & Model> {
                    let id: Int
                    @Merged(.append) let items: [Item]
                }
                """,
            has: """
                    nonisolated static var mergeRules: EspalierRecords.MergeRules {
                        [
                            "items": .append,
                        ]
                    }
                """)
    }

    @Test("A class may have rules, and a type without them has no table")
    func others() {
        expectExpansion(
            of: "@Normalized final class Page { let id: Int; @Merged(.append) let items: [Int] }",
            has: #""items": .append,"#)
        expectExpansion(
            of: "@Normalized struct Page { let id: Int; let items: [Int] }", has: "modelIdentifier",
            without: ["mergeRules"])
    }
}
#endif
