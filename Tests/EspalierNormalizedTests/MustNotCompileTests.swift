#if Macros
import Testing

/// What the syntax doesn't show, the compiler says, at the line that was generated for the member.
@Suite(
    "what types can't do is a compile error that names the member", .enabled(if: Compiler() != nil))
struct MustNotCompileTests {
    private func errors(in source: String) throws -> String {
        let (status, text) = try #require(Compiler()).output(of: source)
        #expect(status != 0, "it compiles")
        return text
    }

    @Test("a control compiles, without a warning")
    func control() throws {
        let source = """
            @Normalized struct Message { let id: String; let tone: Tone }
            struct Tone: Codable { let name: String }
            """
        let (status, text) = try #require(Compiler()).output(of: source)
        #expect(status == 0, "\(text)")
        #expect(text.isEmpty)
    }

    @Test("a member whose type nothing can store")
    func unstorable() throws {
        let text = try errors(
            in: """
                @Normalized struct Message { let id: String; let handler: Handler }
                struct Handler: Sendable {}
                """)
        #expect(text.contains("encoder.encode(self.handler, forKey: \"handler\")"), "\(text)")
        #expect(text.contains("requires that 'Handler' conform to 'FieldValue'"), "\(text)")
    }

    @Test("a payload whose type nothing can store")
    func unstorablePayload() throws {
        let text = try errors(
            in: """
                @Normalized enum Event { case failed(Failure) }
                struct Failure: Sendable {}
                """)
        #expect(text.contains("'Failure'"), "\(text)")
    }

    @Test("an id that has no text")
    func identifier() throws {
        let text = try errors(
            in: """
                @Normalized struct Message { let id: Key }
                struct Key: Codable { let a: Int }
                """)
        #expect(text.contains("ModelMembers.identifier(of: self.id)"), "\(text)")
    }

    @Test("an identifier that is no property")
    func path() throws {
        let text = try errors(
            in: #"@Normalized(identifier: \.nothing) struct Message { let urn: String }"#)
        #expect(text.contains("value of type 'Message' has no member 'nothing'"), "\(text)")
    }

    @Test("a problem of the syntax, at its place, without errors that come from it")
    func syntax() throws {
        let text = try errors(
            in: "@Normalized class Message { let id: String\ninit() { id = \"\" } }")
        #expect(
            text.contains("Snippet.swift:2:13: error: a class with @Normalized has to be final"),
            "\(text)")
        #expect(
            text.split(separator: "\n").filter { $0.contains(": error: ") }.count == 1, "\(text)")
    }
}
#endif
