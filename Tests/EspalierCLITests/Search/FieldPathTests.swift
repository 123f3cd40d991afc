#if CommandLine
import EspalierRecords
import Testing

@testable import EspalierCLI

@Suite("A path says where in a record a value stands")
struct FieldPathTests {
    @Test(
        "A path reads back as it was written",
        arguments: [
            ([.name("user")], "user"),
            (
                [.name("entities"), .name("media"), .index(0), .name("url")],
                "entities.media[0].url"
            ),
            ([.index(3)], "[3]"), ([.index(3), .name("by")], "[3].by"),
            ([.index(1), .index(-2)], "[1][-2]"),
            ([.name("a.b"), .name("c")], #"["a.b"].c"#), ([.name("a"), .name("")], #"a[""]"#),
            ([.name("a[0]")], #"["a[0]"]"#),
            ([.name("日本"), .name("مستخدم"), .name("😀")], "日本.مستخدم.😀"),
            ([.name("e\u{301}"), .name("\u{301}")], "e\u{301}.\u{301}"),
            ([.name("\"q\"")], "\"q\""), ([.name("\"q.\\")], #"["\"q.\\"]"#),
            ([.name("a\nb"), .name("c ]")], "a\nb.c ]"),
            ([.name(".\n"), .index(0)], #"[".\n"][0]"#),
        ] as [([FieldPath.Step], String)])
    func description(steps: [FieldPath.Step], text: String) throws {
        #expect(FieldPath(steps: steps).description == text)
        #expect(try FieldPath(parsing: text) == FieldPath(steps: steps))
    }

    @Test("The path of a whole value is empty") func empty() {
        #expect(FieldPath().description == "")
    }

    @Test("Names that differ in bytes are different steps") func bytes() {
        #expect(FieldPath(steps: [.name("é")]) != FieldPath(steps: [.name("e\u{301}")]))
    }

    @Test(
        "A malformed path is refused",
        arguments: [
            "", ".", "a.", ".a", "a..b", "a[", "a[]", "a[x]", "a[0", "a[0]b", #"["a]"#, #"["a"#,
            #"["a"b]"#, #"["a\"]"#,
            #"["\x"]"#,
            #"["a\"#, "[\"a\nb\"]",
        ])
    func malformed(text: String) {
        #expect(throws: ArgumentProblem.self) { try FieldPath(parsing: text) }
    }

    // MARK: Walking

    private static let value: RecordValue = .map([
        .init(
            key: .string("a"),
            value: .array([.integer(1), .map([.init(key: .string("b"), value: .child(0))])])),
        .init(key: .string("c.d"), value: .null),
        .init(key: .integer(7), value: .child(1)),
        .init(key: .child(2), value: .array([.array([.bool(true)])])),
    ])

    @Test("A walk visits every leaf once, with its path, and keys that are references")
    func leaves() {
        var path = FieldPath(steps: [.name("f")])
        var found: [String] = []
        let isWhole = Self.value.forEachLeaf(at: &path) { path, leaf in
            found.append("\(path) \(leaf)")
            return true
        }
        #expect(isWhole)
        #expect(path.description == "f")
        #expect(
            found == [
                "f.a[0] integer(1)", "f.a[1].b child(0)", #"f["c.d"] null"#, "f[7] child(1)",
                "f[3] child(2)",
                "f[3][0][0] bool(true)",
            ])
    }

    @Test("A walk ends when its body returns false") func stop() {
        var path = FieldPath()
        var visits = 0
        let isWhole = Self.value.forEachLeaf(at: &path) { _, _ in
            visits += 1
            return visits < 2
        }
        #expect(!isWhole && visits == 2)
    }

    @Test(
        "A selected path leads through arrays, or to one index",
        arguments: [
            ("a", ["a"]), ("a.b", ["a[1].b"]), ("a[1].b", ["a[1].b"]), ("a[0].b", []),
            ("a[0]", ["a[0]"]),
            ("[7]", ["[7]"]),
            (#"["c.d"]"#, [#"["c.d"]"#]), ("c.d", []), ("[3][0][0]", ["[3][0][0]"]), ("b", []),
            ("a.b.c", []),
        ])
    func selection(pattern: String, paths: [String]) throws {
        var path = FieldPath()
        var found: [String] = []
        _ = Self.value.forEach(at: try FieldPath(parsing: pattern).steps[...], path: &path) {
            path, _ in
            found.append(path.description)
            return true
        }
        #expect(found == paths)
    }

    @Test("The references of a value are those of its own children, in order") func references() {
        let placed = PlacedValue(
            path: FieldPath(steps: [.index(4)]), value: Self.value,
            children: [Handle(10), Handle(20)])
        #expect(
            placed.references.map { "\($0.path) \($0.target)" } == ["[4].a[1].b #10", "[4][7] #20"])
    }
}
#endif
