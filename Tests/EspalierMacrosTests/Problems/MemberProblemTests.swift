#if Macros
import Testing

@Suite("Diagnostics about properties")
struct MemberProblemTests {
    private static let noDefault = """
        'count' needs a default value for models that are read from the cache, because it is \
        @NotStored
        """

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

    @Test("@NotStored without a default value gets a fix-it that inserts one")
    func noDefault() {
        expect(
            "@NotStored var count: Int",
            Self.noDefault,
            column: 20,
            fixIt: "insert ' = <#default#>'", fixed: "@NotStored var count: Int = <#default#>")
        expect(
            "@NotStored let count: Int?",
            Self.noDefault,
            column: 20, fixIt: "replace 'let' with 'var'", fixed: "@NotStored var count: Int?")
        expect(
            "@NotStored let count: Int",
            Self.noDefault,
            column: 20, fixIt: "replace 'let' with 'var' and insert ' = <#default#>'",
            fixed: "@NotStored var count: Int = <#default#>")
        expect(
            "@NotStored var count: Optional<Int>",
            Self.noDefault,
            column: 20, fixIt: "insert ' = <#default#>'",
            fixed: "@NotStored var count: Optional<Int> = <#default#>")
        expect(
            "@NotStored var count: Int // of it",
            Self.noDefault,
            column: 20, fixIt: "insert ' = <#default#>'",
            fixed: "@NotStored var count: Int = <#default#> // of it")
        expect(
            "@NotStored var count: Int { didSet {} }",
            Self.noDefault, column: 20,
            fixIt: "insert ' = <#default#>'",
            fixed: "@NotStored var count: Int = <#default#> { didSet {} }")
    }

    @Test("A constant that is another one in each model is a warning")
    func changingConstants() {
        expectWarnings(
            """
            @Normalized struct Message {
                let id: Int
                let createdAt = Date()
                let token = UUID().uuidString
                let now = Date.now
                let later: Date = .now
                let other: Foundation.UUID = .init()
                let third = Foundation.UUID()
                @NotStored let made = Date()
                static let start = Date()
                var changed: Date = Date()
                let formatter = DateFormatter()
                let version = 2
            }
            """,
            [
                "'createdAt' is not stored, and 'Date()' gives each model that is read another",
                "'token' is not stored, and 'UUID().uuidString' gives each model",
                "'now' is not stored, and 'Date.now' gives each model",
                "'later' is not stored, and '.now' gives each model",
                "'other' is not stored, and '.init()' gives each model",
                "'third' is not stored, and 'Foundation.UUID()' gives each model",
            ])
    }

    @Test("A property that CodingKeys omits needs a default value")
    func leftOut() {
        expectProblem(
            """
            @Normalized struct Message {
                let text: String
                var count: Int
                enum CodingKeys: String, CodingKey { case text }
            }
            """,
            """
            'count' needs a default value for models that are read from the cache, because \
            CodingKeys omits it
            """, line: 3, column: 9, fixIt: "insert ' = <#default#>'",
            fixed: """
                @Normalized struct Message {
                    let text: String
                    var count: Int = <#default#>
                    enum CodingKeys: String, CodingKey { case text }
                }
                """)
    }

    @Test("@Stored and @NotStored on one property are an error")
    func both() {
        expect(
            "@NotStored @Stored(\"n\") var count = 0",
            "'count' can't have both @Stored and @NotStored: remove one of them", column: 16
        )
    }

    @Test("An empty stored name gets a fix-it with the name of the property")
    func emptyName() {
        expect(
            "@Stored(\"\") let text: String",
            "a stored name must not be empty: without @Stored it is 'text'", column: 13,
            fixIt: "replace with \"text\"", fixed: "@Stored(\"text\") let text: String")
    }

    @Test("A stored name that is not a plain literal is an error")
    func nameLiteral() {
        expect(
            "@Stored(name) let text: String",
            "the name in @Stored must be a string literal without interpolations", column: 13)
    }

    @Test("@Stored on a computed, static or constant property is an error")
    func notAMember() {
        expect(
            "@Stored(\"n\") var count: Int { 1 }",
            "'count' is computed and is never stored: remove @Stored")
        expect(
            "@Stored(\"n\") static let count = 1",
            "'count' belongs to the type and is never stored: remove @Stored")
        expect(
            "@Stored(\"n\") let count = 1",
            """
            'count' is a constant with the same value everywhere and is never stored: remove \
            @Stored
            """
        )
        expect(
            "@NotStored static let count = 1",
            "'count' belongs to the type and is never stored: remove @NotStored"
        )
    }

    @Test("A property whose type is neither written nor a literal's is an error")
    func noType() {
        expect(
            "var made = Date()",
            "write the type of 'made': @Normalized can't infer it from the value",
            column: 9)
    }

    @Test("A pattern of several names is an error")
    func pattern() {
        expect(
            "let (a, b): (Int, Int)",
            "@Normalized can't read a pattern: declare each property by itself", column: 5
        )
    }

    @Test("A property wrapper is an error without @NotStored")
    func wrapper() {
        expect(
            "@Clamped var count: Int",
            """
            @Normalized can't set a property with a wrapper: remove the wrapper of 'count', or add \
            @NotStored and a default value
            """)
        expectExpansion(
            of: """
                @Normalized struct Message {
                    let text: String
                    @NotStored @Clamped var count: Int = 0
                }
                """,
            has: "builder.text", without: ["builder.count", "a.count"])
    }

    @Test("Lazy, weak and unowned properties are errors without @NotStored")
    func modifiers() {
        expect(
            "lazy var count = 0",
            """
            a lazy property changes when it is read, but models are immutable: make 'count' a \
            computed property, or add @NotStored
            """)
        expect(
            "weak var parent: Message?",
            """
            a model owns its children, but weak references don't own anything: make 'parent' a \
            computed property, or add @NotStored
            """)
        expect(
            "unowned let parent: Message",
            """
            a model owns its children, but unowned references don't own anything: make 'parent' a \
            computed property, or add @NotStored
            """)
        expectExpansion(
            of: """
                @Normalized struct Message {
                    @NotStored lazy var count = 0
                    @NotStored weak var parent: Other?
                }
                """,
            has: "encode(to", without: ["self.count", "self.parent"])
    }

    @Test("Stored properties in #if are errors, computed and static ones are not")
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
            @Normalized can't tell which of these members are compiled: declare them outside of \
            #if, or the whole type in each branch
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
        "A property of a type that can't be stored is an error",
        arguments: [
            ("@Sendable (Int) -> Void", "a function"), ("[(Int, Int)]", "a tuple"),
            ("Int.Type?", "a metatype"),
            ("Any", "'Any'"), ("[String: AnyObject]", "'AnyObject'"),
        ])
    func unstorable(type: String, what: String) {
        expect(
            "let it: \(type)",
            """
            'it' can't be stored, because \(what) is neither a FieldValue nor Codable: use another \
            type, or add @NotStored
            """, column: 13)
    }

    @Test("Two properties with one stored name are an error at the name that was chosen")
    func sameName() {
        let message = "'text' and 'body' are both stored as \"text\": give one of them another name"
        expect("let text: String; @Stored(\"text\") let body: String", message, column: 31)
        expect(
            "@Stored(\"n\") let text: String; @Stored(\"n\") let body: String",
            "'text' and 'body' are both stored as \"n\": give one of them another name", column: 44)
        expect(
            "@Stored(\"body\") let text: String; let body: String",
            "'text' and 'body' are both stored as \"body\": give one of them another name",
            column: 13)
    }
}
#endif
