#if Macros
import Testing

/// A typical mistake in a model, and the compiler's words about it.
struct Mistake: CustomTestStringConvertible, Sendable {
    let source: String
    /// The line of the mistake, from 1.
    let line: Int
    /// What the first message in that line says, with the remedy.
    let words: String

    init(_ source: String, line: Int, _ words: String) {
        self.source = source
        self.line = line
        self.words = words
    }

    var testDescription: String { words }

    /// A node with an `id` and one more member.
    static func member(_ member: String, _ words: String, more: String = "") -> Mistake {
        Mistake(
            "@Normalized struct Message {\n    let id: Int\n    \(member)\n}\n\(more)", line: 3,
            words)
    }

    private static let state = "struct State: Hashable, Sendable { let a: Int }"
    private static let unstorable =
        "its type must conform to FieldValue or Codable, or be a model; or add @NotStored"

    static let all: [Mistake] = [
        Mistake(
            "@Normalized class Message { let id = 0 }", line: 1,
            "a class with @Normalized must be final"),
        Mistake(
            "@Normalized actor Message { let id = 1 }", line: 1,
            "apply @Normalized to a struct, a final class or an enum"),
        Mistake(
            "@Normalized struct Message {\n    let id: Int?\n}", line: 2,
            "remove the '?', or use @Normalized(identifier: \\.id)"),
        Mistake(
            "@Normalized struct Message {\n    let id: State\n}\n\(state)", line: 2,
            "an id must be a String, number, UUID or RawRepresentable; or compute the id"),
        member("var modelIdentifier: String { \"a\" }", "'modelIdentifier' must be a String?"),
        member("let state: State", unstorable, more: state),
        member("let states: [State]?", unstorable, more: state),
        member("let tone: Tone", unstorable, more: "enum Tone: String { case plain }"),
        member("let byState: [State: Int]", unstorable, more: state),
        Mistake(
            "@Normalized enum Event {\n    case failed(State)\n    case done\n}\n\(state)", line: 2,
            unstorable),
        member("let parent: Message?", "make 'Message' a final class, or use an array"),
        member("let action: () -> Void", "use another type, or add @NotStored"),
        member("let value: Any", "use another type, or add @NotStored"),
        member("let place: (Int, Int)", "use another type, or add @NotStored"),
        member(
            "var tags = makeTags()", "write the type of 'tags'",
            more: "func makeTags() -> [String] { [] }"),
        member("@NotStored var count: Int", "'count' needs a default value"),
        member("@Stored(\"id\") let a: String", "give one of them another name"),
        member(
            "@Stored(\"a\") @NotStored var b = \"\"", "can't have both @Stored and @NotStored"),
        member("@Stored(default: \"0\") let likes: Int", "to return type 'Int'"),
        member("@Stored(\"x\") var y: Int { 1 }", "is computed and is never stored"),
        member("lazy var size: Int = 1", "make 'size' a computed property, or add @NotStored"),
        member("@Merged(.union) let text: String", "use another rule"),
        Mistake(
            "@Normalized enum Tone: String {\n    case plain\n}", line: 1,
            "remove @Normalized and declare 'enum Tone: String, FieldValue'"),
        Mistake(
            "@Normalized struct Page<Item> {\n    let id: Int\n    let item: Item\n}", line: 3,
            "constrain 'Item' to NormalizedModel & Model"),
        Mistake(
            "@Normalized struct A: Codable {\n    let id: Int\n    @NotStored var a: String?\n}",
            line: 3, "use @Normalized(.codable)"),
    ]
}

@Suite("Typical mistakes", .enabled(if: Compiler() != nil))
struct MistakeTests {
    /// The compiler reads `import EspalierNormalized` in the first line.
    @Test("The compiler names the remedy on the line of the mistake", arguments: Mistake.all)
    func remedy(mistake: Mistake) throws {
        let (_, text) = try #require(Compiler()).output(of: mistake.source)
        let place = "Snippet.swift:\(mistake.line + 1):"
        let messages = text.split(separator: "\n").filter { $0.contains(place) }
        #expect(messages.contains { $0.contains(mistake.words) }, "\(text)")
        #expect(!text.contains("please submit a bug report"))
    }

    @Test("There are 25 of them")
    func count() { #expect(Mistake.all.count == 25) }
}
#endif
