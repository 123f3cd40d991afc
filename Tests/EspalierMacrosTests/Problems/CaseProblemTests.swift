#if Macros
import Testing

@Suite("what is said about cases")
struct CaseProblemTests {
    private func expect(
        _ text: String, _ message: String, column: Int, fixIt: String? = nil, fixed: String? = nil,
        at line: UInt = #line
    ) {
        func model(_ text: String) -> String { "@Normalized enum Entry {\n    \(text)\n}" }
        expectProblem(
            model(text), message, line: 2, column: column, fixIt: fixIt, fixed: fixed.map(model),
            at: line)
    }

    @Test("a case that is to be left out")
    func notStored() {
        expect(
            "@NotStored case link(String)",
            "a case can't be left out: a value that has it has to be stored", column: 5)
    }

    @Test("a default value for a case")
    func caseDefault() {
        expect(
            "@Stored(\"l\", default: 0) case link(String)",
            "a case has no default value: write it at the payload",
            column: 5)
    }

    @Test("an empty name, and one that is no literal")
    func names() {
        expect(
            "@Stored(\"\") case link(String)", "a case needs a name; without @Stored it is 'link'",
            column: 13,
            fixIt: "replace by \"link\"", fixed: "@Stored(\"link\") case link(String)")
        expect(
            "@Stored(name) case link(String)",
            "@Stored takes a string literal without interpolations", column: 13)
    }

    @Test("two cases of one stored name")
    func sameName() {
        expect(
            "case link(String); @Stored(\"link\") case page(Int)",
            "'link' and 'page' are both stored as \"link\": give one another name", column: 32)
    }

    @Test("a payload that nothing can store")
    func unstorable() {
        expect(
            "case run(() -> Void)",
            """
            this value of 'run' can't be stored: a function is neither a FieldValue nor Codable. Use a type that is, or write \
            @NotStored
            """, column: 14)
    }

    @Test("cases and payloads that CodingKeys leave out")
    func leftOut() {
        expect(
            "case a(Int), b(Int); enum CodingKeys: String, CodingKey { case a }",
            "CodingKeys leave the case 'b' out, so it can't be stored: add it to them", column: 18)
        expect(
            "case a(x: Int, y: Int); enum ACodingKeys: String, CodingKey { case x }",
            "CodingKeys leave this value of 'a' out, so it needs a default value", column: 23)
    }
}
#endif
