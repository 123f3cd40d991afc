#if Macros
import Testing

@Suite("Diagnostics about rules of merges")
struct MergedProblemTests {
    private func expect(
        _ member: String, _ message: String, column: Int = 5, at line: UInt = #line
    ) {
        expectProblem(
            "@Normalized struct Issue {\n    \(member)\n    let id: Int\n}", message, line: 2,
            column: column, at: line)
    }

    @Test("A property has one rule at most")
    func twice() {
        expect(
            "@Merged(.union) @Merged(.append) let tags: [String]",
            "'tags' can't have two rules: remove one of them", column: 21)
    }

    @Test("The identifier has no rule")
    func identifier() {
        expectProblem(
            "@Normalized struct Issue {\n    @Merged(.keepFirst) let id: Int\n}",
            "'id' identifies the model and is the same in all versions: remove @Merged", line: 2,
            column: 5)
        expectProblem(
            """
            @Normalized(identifier: \\.urn) struct Issue {
                @Merged(.keepFirst) let urn: String
            }
            """, "'urn' identifies the model and is the same in all versions: remove @Merged",
            line: 2, column: 5)
    }

    @Test("A property that is never stored has no rule")
    func unstored() {
        expect(
            "@Merged(.union) var tags: [Int] { [] }",
            "'tags' is computed and is never stored: remove @Merged")
        expect(
            "@Merged(.union) static let tags: [Int] = []",
            "'tags' belongs to the type and is never stored: remove @Merged")
        expect(
            "@Merged(.union) let tags: [Int] = []",
            "'tags' is a constant with the same value everywhere and is never stored: "
                + "remove @Merged")
        expect(
            "@Merged(.union) @NotStored var tags: [Int] = []",
            "'tags' is never stored: remove @Merged")
    }

    @Test("A type without an identifier has no record, and so no rules")
    func inline() {
        expectProblem(
            "@Normalized struct Label {\n    @Merged(.union) let tags: [Int]\n}",
            """
            @Merged has no effect, because 'Label' has no identifier and is stored as a part of \
            its parent: add an 'id', or remove @Merged
            """, line: 2, column: 5)
    }

    @Test("Without @Normalized there is nothing that reads the rule")
    func outside() {
        let message = """
            @Merged has no effect outside of a type with @Normalized: declare the rule in 'static \
            let mergeRules', or add @Normalized to the type
            """
        expectProblem(
            "struct Issue {\n    @Merged(.union) let tags: [Int]\n}", message, line: 2, column: 5)
        expectProblem("@Merged(.union) let tags: [Int] = []", message, line: 1, column: 1)
    }

    @Test("The property by which versions are compared must be stored in the same type")
    func stamp() {
        expect(
            #"@Merged(.newest(by: \.updatedAt)) let title: String"#,
            "'Issue' has no stored property 'updatedAt'", column: 25)
        expect(
            #"@Merged(.newest(by: \.id.date)) let title: String"#,
            "'by:' must be a property of the same type, such as \\.updatedAt", column: 25)
        expect(
            #"@Merged(.newest(by: "at")) let title: String"#,
            "'Issue' stores no property as \"at\"", column: 25)
    }

    @Test(
        "Only arrays and sets have a union, and only they are appended to",
        arguments: ["Int", "String?", "Field<Date>", "[String: Int]", "Dictionary<Int, Int>?"])
    func misfits(_ type: String) {
        for rule in ["union", "append"] {
            expect(
                "@Merged(.\(rule)) let tags: \(type)",
                "'.\(rule)' merges arrays and sets, but 'tags' is \(type): use another rule")
        }
    }

    @Test("A case of an enum has no rule")
    func enumCase() {
        expectProblem(
            "@Normalized enum Event {\n    @Merged(.union) case failed([Int])\n}",
            "an enum is merged as a whole: remove @Merged", line: 2, column: 5)
    }
}
#endif
