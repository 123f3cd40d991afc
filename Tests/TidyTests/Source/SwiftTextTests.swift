import Testing

@Suite("Swift source is taken apart into code and comments")
struct SwiftTextTests {
    @Test(arguments: [
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

    @Test func commentsKeepTheirPlace() {
        let file = SourceFile(path: "a.swift", text: "x // one\n\"// no\"\n/* two\n three */ y\n")
        #expect(
            file.commentLines.map { $0.trimmingPrefix { $0 == " " } } == [
                "// one", "", "/* two", "three */  ",
            ])
        #expect(file.codeLines.count == 4)
        #expect(file.tokens.map(\.line) == [1, 4])
    }

    @Test func repositoryIsFound() {
        let paths = Repository.current.swiftFiles.map(\.path)
        #expect(paths.contains("Package.swift"))
        #expect(paths.contains("Tests/TidyTests/Source/SwiftTextTests.swift"))
        #expect(paths.contains { $0.hasPrefix("Sources/EspalierLMDB/") })
        #expect(paths.contains { $0.hasPrefix("Sources/EspalierStore/") })
    }
}
