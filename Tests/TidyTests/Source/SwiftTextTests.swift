import Testing

@Suite("Swift source is taken apart into code, comments and literals")
struct SwiftTextTests {
    @Test(
        "Comments and the text of literals are no code",
        arguments: [
            (#"a("x { // ", b)"#, ["a", "(", ",", "b", ")"]),
            (#"a("\(b("}") + c)")d"#, ["a", "(", "(", "b", "(", ")", "+", "c", ")", ")", "d"]),
            (##"#"\"# + #"\("# + #"\#(x)"# "##, ["+", "+", "(", "x", ")"]),
            (#""\\" + a + "\"" + b"#, ["+", "a", "+", "+", "b"]),
            ("\"\"\"\n \" { \"\" \\(x)\n\"\"\" y", ["(", "x", ")", "y"]),
            ("a /* { /* } */ \" */ b // } \"\nc", ["a", "b", "c"]),
            (#"a "" b"#, ["a", "b"]),
        ])
    func code(text: String, tokens: [String]) {
        #expect(Token.tokens(of: SwiftText(text).code).map(\.text) == tokens)
    }

    @Test("Comments and code keep their line and column")
    func commentsKeepTheirPlace() {
        let file = SourceFile(path: "a.swift", text: "x // one\n\"// no\"\n/* two\n three */ y\n")
        #expect(
            file.commentLines.map { $0.trimmingPrefix { $0 == " " } } == [
                "// one", "", "/* two", "three */  ",
            ])
        #expect(file.codeLines.count == 4)
        #expect(file.tokens.map(\.line) == [1, 4])
        #expect(file.tokens.map(\.offset) == [0, 34])
    }

    @Test("Literals keep their text, with the interpolations, and their lines")
    func literals() {
        let text = "f(\n  \"a \\(g(\"b\")) c\")\n// \"no\"\nlet x = #\"\"\"\n d \"\n \"\"\"#"
        let literals = SwiftText(text).literals
        #expect(literals.map(\.text) == ["b", "a \\(g(\"b\")) c", "\n d \"\n "])
        #expect(literals.map(\.lines) == [2...2, 2...2, 4...6])
        #expect(literals.map(\.offset) == [12, 5, 38])
    }

    @Test("The files of the repository are found")
    func repositoryIsFound() {
        let paths = Repository.current.swiftFiles.map(\.path)
        #expect(paths.contains("Package.swift"))
        #expect(paths.contains("Tests/TidyTests/Source/SwiftTextTests.swift"))
        #expect(paths.contains { $0.hasPrefix("Sources/EspalierLMDB/") })
        #expect(paths.contains { $0.hasPrefix("Sources/EspalierStore/") })
    }
}
