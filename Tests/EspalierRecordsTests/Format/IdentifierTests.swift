import EspalierRecords
import Testing

@Suite("Identifiers are their bytes")
struct IdentifierTests {
    @Test("composed and decomposed text are one Swift string and two identifiers")
    func normalization() {
        let composed = Identifier("caf\u{E9}"), decomposed = Identifier("cafe\u{301}")
        #expect(composed.string == decomposed.string)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(composed == Identifier("caf\u{E9}"))
    }

    @Test(
        "every odd identifier is one of its own",
        arguments: ["0", ".", "a.b", "+", ":", "/", "(", "\"", "\0", "a\0", "🐈", " "])
    func odd(text: String) {
        #expect(Identifier(text) == Identifier(text))
        #expect(Identifier(text) != Identifier(text + "\0"))
        #expect(Identifier(text).description == text)
    }
}
