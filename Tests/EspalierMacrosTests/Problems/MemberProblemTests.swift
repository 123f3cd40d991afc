#if Macros
import Testing

@Suite("what is said about members")
struct MemberProblemTests {
    private func expect(
        _ member: String, _ message: String, column: Int = 5, fixIt: String? = nil,
        fixed: String? = nil,
        at line: UInt = #line
    ) {
        func model(_ member: String) -> String { "@Normalized struct Message {\n    \(member)\n}" }
        expectProblem(
            model(member), message, line: 2, column: column, fixIt: fixIt, fixed: fixed.map(model),
            at: line)
    }

    @Test("@NotStored without a default value; the fix-it gives it a place for one")
    func noDefault() {
        expect(
            "@NotStored var count: Int",
            "@NotStored, so a model read from the cache needs a default value for it",
            column: 20,
            fixIt: "insert ' = <#default#>'", fixed: "@NotStored var count: Int = <#default#>")
        expect(
            "@NotStored let count: Int?",
            "@NotStored, so a model read from the cache needs a default value for it",
            column: 20, fixIt: "replace 'let' by 'var'", fixed: "@NotStored var count: Int?")
        expect(
            "@NotStored let count: Int",
            "@NotStored, so a model read from the cache needs a default value for it",
            column: 20, fixIt: "replace 'let' by 'var' and insert ' = <#default#>'",
            fixed: "@NotStored var count: Int = <#default#>")
        expect(
            "@NotStored var count: Int // of it",
            "@NotStored, so a model read from the cache needs a default value for it",
            column: 20, fixIt: "insert ' = <#default#>'",
            fixed: "@NotStored var count: Int = <#default#> // of it")
        expect(
            "@NotStored var count: Int { didSet {} }",
            "@NotStored, so a model read from the cache needs a default value for it", column: 20,
            fixIt: "insert ' = <#default#>'",
            fixed: "@NotStored var count: Int = <#default#> { didSet {} }")
    }

    @Test("a member that CodingKeys leave out, without a default value")
    func leftOut() {
        expectProblem(
            """
            @Normalized struct Message {
                let text: String
                var count: Int
                enum CodingKeys: String, CodingKey { case text }
            }
            """,
            "CodingKeys leave 'count' out, so a model read from the cache needs a default value for it",
            line: 3,
            column: 9, fixIt: "insert ' = <#default#>'",
            fixed: """
                @Normalized struct Message {
                    let text: String
                    var count: Int = <#default#>
                    enum CodingKeys: String, CodingKey { case text }
                }
                """)
    }

    @Test("@Stored and @NotStored on one member")
    func both() {
        expect(
            "@NotStored @Stored(\"n\") var count = 0",
            "@Stored and @NotStored exclude each other: 'count' is either stored or not", column: 16
        )
    }

    @Test("an empty name; the fix-it writes the member's own")
    func emptyName() {
        expect(
            "@Stored(\"\") let text: String", "a field needs a name; without @Stored it is 'text'",
            column: 13,
            fixIt: "replace by \"text\"", fixed: "@Stored(\"text\") let text: String")
    }

    @Test("a name that is no literal")
    func nameLiteral() {
        expect(
            "@Stored(name) let text: String",
            "@Stored takes a string literal without interpolations", column: 13)
    }

    @Test("@Stored on what is not stored anyway")
    func notAMember() {
        expect(
            "@Stored(\"n\") var count: Int { 1 }",
            "'count' is computed and is not stored anyway: remove @Stored")
        expect(
            "@Stored(\"n\") static let count = 1",
            "'count' belongs to the type and is not stored anyway: remove @Stored")
        expect(
            "@Stored(\"n\") let count = 1",
            "'count' is a constant, the same in every value and is not stored anyway: remove @Stored"
        )
        expect(
            "@NotStored static let count = 1",
            "'count' belongs to the type and is not stored anyway: remove @NotStored"
        )
    }

    @Test("a member whose type is not written")
    func noType() {
        expect(
            "var made = Date()",
            "write the type of 'made': @Normalized sees the text of its value, not its type",
            column: 9)
    }

    @Test("several names at once")
    func pattern() {
        expect(
            "let (a, b): (Int, Int)",
            "@Normalized takes one name at a time: declare each property by itself", column: 5
        )
    }

    @Test("a property wrapper, unless it is not stored")
    func wrapper() {
        expect(
            "@Clamped var count: Int",
            """
            @Normalized can't make a property with a wrapper: store a plain 'count', or write @NotStored and give it a \
            default value
            """)
        expectExpansion(
            of:
                "@Normalized struct Message { let text: String; @NotStored @Clamped var count: Int = 0 }",
            has: "builder.text", without: ["builder.count", "a.count"])
    }

    @Test("lazy, weak and unowned, unless not stored")
    func modifiers() {
        expect(
            "lazy var count = 0",
            """
            a lazy property changes when it is read, and models don't change: compute 'count', or write @NotStored before it
            """)
        expect(
            "weak var parent: Message?",
            """
            a model holds its children itself, and weak references nothing that can be stored: compute 'parent', or write \
            @NotStored before it
            """)
        expect(
            "unowned let parent: Message",
            """
            a model holds its children itself, and unowned references nothing that can be stored: compute 'parent', or write \
            @NotStored before it
            """)
        expectExpansion(
            of:
                "@Normalized struct Message { @NotStored lazy var count = 0; @NotStored weak var parent: Other? }",
            has: "encode(to", without: ["self.count", "self.parent"])
    }

    @Test("members in #if, but not what is computed there")
    func conditional() {
        expectProblem(
            """
            @Normalized struct Message {
                #if DEBUG
                let trace: String
                #endif
            }
            """,
            """
            @Normalized doesn't know which of these members there are; declare them outside of #if, or the whole type in each \
            branch
            """, line: 2, column: 5)
        expectExpansion(
            of: """
                @Normalized struct Message {
                    #if DEBUG
                    var trace: String { "" }
                    static let count = 1
                    func show() {}
                    #endif
                }
                """, has: "encode(to")
    }

    @Test(
        "a type that nothing can store",
        arguments: [
            ("@Sendable (Int) -> Void", "a function"), ("[(Int, Int)]", "a tuple"),
            ("Int.Type?", "a type"),
            ("Any", "'Any'"), ("[String: AnyObject]", "'AnyObject'"),
        ])
    func unstorable(type: String, what: String) {
        expect(
            "let it: \(type)",
            "'it' can't be stored: \(what) is neither a FieldValue nor Codable. Use a type that is, or write @NotStored",
            column: 13)
    }

    @Test("two members of one stored name, said at the name that was chosen")
    func sameName() {
        let message = "'text' and 'body' are both stored as \"text\": give one another name"
        expect("let text: String; @Stored(\"text\") let body: String", message, column: 31)
        expect(
            "@Stored(\"n\") let text: String; @Stored(\"n\") let body: String",
            "'text' and 'body' are both stored as \"n\": give one another name", column: 44)
        expect(
            "@Stored(\"body\") let text: String; let body: String",
            "'text' and 'body' are both stored as \"body\": give one another name", column: 13)
    }
}
#endif
