#if Macros
import Testing

/// The macro does not know types. The compiler reports what it can't see, in the generated line for
/// the member.
@Suite(
    "Types that cannot be stored", .enabled(if: Compiler() != nil))
struct MustNotCompileTests {
    private func errors(in source: String) throws -> String {
        let (status, text) = try #require(Compiler()).output(of: source)
        #expect(status != 0, "it compiles")
        return text
    }

    @Test("A correct model compiles without a warning")
    func control() throws {
        let source = """
            @Normalized struct Message { let id: String; let tone: Tone }
            struct Tone: Codable { let name: String }
            """
        let (status, text) = try #require(Compiler()).output(of: source)
        #expect(status == 0, "\(text)")
        #expect(text.isEmpty)
    }

    @Test("A function that combines models is a warning which says what to do")
    func combinedModels() throws {
        let source = """
            @Normalized struct Person { let id: Int }
            @Normalized struct Team {
                let id: Int
                @Merged(.combined { (old: Person, new: Person) in old }) let head: Person?
                @Merged(.combined { (old: [Person], new: [Person]) in old }) let all: [Person]
            }
            """
        let (status, text) = try #require(Compiler()).output(of: source)
        #expect(status == 0, "\(text)")
        #expect(text.contains("each is merged into the record of its identifier"), "\(text)")
        #expect(text.contains("use .union or .append for arrays of models"), "\(text)")
    }

    @Test("A rule that no overload fits is an error")
    func unfittingRules() throws {
        let source = """
            @Normalized struct Team {
                let id: Int
                @Merged(.combined { (old: Handler, new: Handler) in old }) let handler: Int
            }
            struct Handler: Sendable {}
            """
        #expect(try errors(in: source).contains("Handler"))
    }

    @Test("An identifier: of a property that does not exist is an error that names it")
    func path() throws {
        let text = try errors(
            in: #"@Normalized(identifier: \.nothing) struct Message { let urn: String }"#)
        #expect(text.contains("value of type 'Message' has no member 'nothing'"), "\(text)")
    }

    @Test("A diagnostic of the macro is the only error, at the place of the mistake")
    func syntax() throws {
        let text = try errors(
            in: "@Normalized class Message { let id: String\ninit() { id = \"\" } }")
        #expect(
            text.contains("Snippet.swift:2:13: error: a class with @Normalized must be final"),
            "\(text)")
        #expect(
            text.split(separator: "\n").filter { $0.contains(": error: ") }.count == 1, "\(text)")
    }
}
#endif
