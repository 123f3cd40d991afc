#if Macros
import Testing

@Suite("Diagnostics about enum cases")
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

    @Test("@NotStored on a case is an error")
    func notStored() {
        expect(
            "@NotStored case link(String)",
            "every case of an enum is stored: remove @NotStored", column: 5)
    }

    @Test("@Stored with a default value on a case is an error")
    func caseDefault() {
        expect(
            "@Stored(\"l\", default: 0) case link(String)",
            "a case has no default value: give one to its associated value instead", column: 5)
    }

    @Test("A stored name of a case that is empty or not a plain literal is an error")
    func names() {
        expect(
            "@Stored(\"\") case link(String)",
            "a stored name must not be empty: without @Stored it is 'link'", column: 13,
            fixIt: "replace with \"link\"", fixed: "@Stored(\"link\") case link(String)")
        expect(
            "@Stored(name) case link(String)",
            "the name in @Stored must be a string literal without interpolations", column: 13)
    }

    @Test("Two cases with one stored name are an error")
    func sameName() {
        expect(
            "case link(String); @Stored(\"link\") case page(Int)",
            "'link' and 'page' are both stored as \"link\": give one of them another name",
            column: 32)
    }

    @Test("An associated value that can't be stored is an error")
    func unstorable() {
        expect(
            "case run(() -> Void)",
            """
            this value of 'run' can't be stored, because a function is neither a FieldValue nor \
            Codable: use another type
            """, column: 14)
    }

    @Test("A case or required associated value that CodingKeys omits is an error")
    func leftOut() {
        expect(
            "case a(Int), b(Int); enum CodingKeys: String, CodingKey { case a }",
            "the case 'b' can't be stored, because CodingKeys omits it: add it there", column: 18)
        expect(
            "case a(x: Int, y: Int); enum ACodingKeys: String, CodingKey { case x }",
            """
            this value of 'a' needs a default value, because the CodingKeys of the case omit it
            """, column: 23)
    }
}
#endif
